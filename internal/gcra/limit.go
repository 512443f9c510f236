package gcra

import "math/big"

// Horizon bounds every interval and tolerance: 72.9 years in nanoseconds, a
// quarter of what an int64 holds. With both below it, and a clock that started
// less than 73 years ago, no sum in this package can overflow, so none is
// checked.
const Horizon = int64(2_300_000_000_000_000_000)

var (
	nanos    = big.NewRat(1e9, 1)
	farthest = new(big.Rat).SetInt64(Horizon)
)

// Limit is a quota as one limiter enforces it. The zero value passes nothing.
type Limit struct {
	// Interval is the emission interval T in nanoseconds, 1 or more; 0 means
	// that the rate is zero and nothing passes.
	Interval int64
	// Tolerance is τ in nanoseconds.
	Tolerance int64
	// Fit is the most hits an idle bucket passes at once: ⌊burst/D⌋ + 1, or 0
	// when nothing passes.
	Fit int64
	// Stamp is the interval in 32 bits; see [Stamp].
	Stamp uint32
}

// NewLimit returns the share of one limiter out of d in a quota of rate hits a
// second and burst hits of tolerance. rate and burst are not negative, d is 1
// or more.
//
// The interval is rounded up to one that its stamp can hold, so the rate is
// never exceeded. Below 268 ms that is a whole nanosecond: the rate is missed by
// at most 1 ns / T, 0.1 % at 1,000,000 hits a second for one limiter. Above, it
// is missed by at most 4e-8 of itself, and by nothing if the interval has no
// more than eight significant digits. The tolerance is taken from the rounded
// interval, so that Fit is exact. Intervals and tolerances beyond [Horizon] are
// cut to it.
func NewLimit(rate, burst *big.Rat, d int) Limit {
	if rate.Sign() <= 0 {
		return Limit{}
	}
	size := new(big.Rat).SetInt64(int64(d))
	t := new(big.Rat).Quo(size, rate)
	stamp := Stamp(ceil(t.Mul(t, nanos)))
	interval := stamped(stamp)

	share := new(big.Rat).Quo(burst, size)
	tau := share.Mul(share, new(big.Rat).SetInt64(interval))
	tolerance := floor(tau)
	return Limit{
		Interval:  interval,
		Tolerance: tolerance,
		Fit:       tolerance/interval + 1,
		Stamp:     stamp,
	}
}

// ceil rounds a positive number up, into 1..Horizon.
func ceil(r *big.Rat) int64 {
	if r.Cmp(farthest) >= 0 {
		return Horizon
	}
	q, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		return q.Int64() + 1
	}
	return q.Int64()
}

// floor rounds a number that is not negative down, into 0..Horizon.
func floor(r *big.Rat) int64 {
	if r.Cmp(farthest) >= 0 {
		return Horizon
	}
	return new(big.Int).Quo(r.Num(), r.Denom()).Int64()
}
