package gcra

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// oracle is section "virtual scheduling" of I.371 word for word, in exact
// arithmetic.
type oracle struct {
	interval, tolerance *big.Rat // nanoseconds
	tat                 *big.Rat // nil before the first attempt
}

func newOracle(rate, burst *big.Rat, d int) *oracle {
	t := new(big.Rat).Quo(new(big.Rat).SetInt64(int64(d)*second), rate)
	tau := new(big.Rat).Quo(burst, rate)
	return &oracle{interval: t, tolerance: tau.Mul(tau, new(big.Rat).SetInt64(second))}
}

func (o *oracle) take(now, n int64) bool {
	t := new(big.Rat).SetInt64(now)
	start := t
	if o.tat != nil && o.tat.Cmp(t) > 0 {
		start = o.tat
	}
	early := new(big.Rat).Mul(o.interval, new(big.Rat).SetInt64(n-1))
	early.Add(early, start).Sub(early, t)
	if early.Cmp(o.tolerance) > 0 {
		return false
	}
	after := new(big.Rat).Mul(o.interval, new(big.Rat).SetInt64(n))
	o.tat = after.Add(after, start)
	return true
}

// randomBurst is a number of hits from 0 to 100, in 1/7ths.
func randomBurst(random *rand.Rand) *big.Rat { return big.NewRat(random.Int64N(701), 7) }

// randomPause is mostly near the interval, now and then none or a long one.
func randomPause(random *rand.Rand, interval int64) int64 {
	switch random.IntN(10) {
	case 0:
		return 0
	case 1:
		return random.Int64N(50*interval + 1)
	default:
		return random.Int64N(2*interval + 1)
	}
}

// Where the emission interval is one that a limit can hold, every single
// decision is the exact one.
func TestConformsEqualsOracle(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 400 {
		d := 1 + random.IntN(7)
		interval := stamped(Stamp(1 + random.Int64N(1e15)>>random.IntN(50)))
		rate := new(big.Rat).SetFrac64(int64(d)*second, interval)
		burst := randomBurst(random)
		l, exact := NewLimit(rate, burst, d), newOracle(rate, burst, d)
		if l.Interval != interval {
			t.Fatalf("rate %v, D = %d: interval %d, want %d", rate, d, l.Interval, interval)
		}
		var tat, now int64
		for range 200 {
			now += randomPause(random, interval)
			n := 1 + random.Int64N(1+random.Int64N(l.Fit+1))
			next, ok := l.Conforms(tat, now, n)
			if want := exact.take(now, n); ok != want {
				t.Fatalf("T = %d, burst %v, D = %d, %d hits at %d, TAT %d: %v, want %v", interval, burst, d, n, now, tat, ok, want)
			}
			tat = next
		}
	}
}

// Over any interval of length Δ at most Δ/T + burst/D + 1 hits pass, with the
// exact T of the quota, whatever the rounding.
func TestBound(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	type event struct{ now, n int64 }
	for range 200 {
		d := 1 + random.IntN(7)
		rate := new(big.Rat).SetFrac64(1+random.Int64N(1e9), 1+random.Int64N(1e4))
		burst := randomBurst(random)
		l := NewLimit(rate, burst, d)
		share := new(big.Rat).Quo(burst, big.NewRat(int64(d), 1))
		perNano := new(big.Rat).Quo(rate, big.NewRat(int64(d)*second, 1)) // 1/T
		var b bucket
		var passed []event
		now := int64(0)
		for tries := 0; len(passed) < 60; tries++ {
			if tries == 2000 {
				t.Fatalf("rate %v, burst %v, D = %d: only %d of %d attempts passed", rate, burst, d, len(passed), tries)
			}
			now += randomPause(random, l.Interval)
			n := 1 + random.Int64N(1+random.Int64N(l.Fit))
			if b.take(l, now, n) {
				passed = append(passed, event{now, n})
			}
		}
		for i := range passed {
			hits := int64(0)
			for _, e := range passed[i:] {
				hits += e.n
				most := new(big.Rat).Mul(perNano, new(big.Rat).SetInt64(e.now-passed[i].now))
				most.Add(most, share).Add(most, big.NewRat(1, 1))
				if most.Cmp(new(big.Rat).SetInt64(hits)) < 0 {
					t.Fatalf("rate %v, burst %v, D = %d: %d hits passed in %d ns", rate, burst, d, hits, e.now-passed[i].now)
				}
			}
		}
	}
}

// Whatever passes under a rate also passes under a higher one, with the debt
// that the bucket has.
func TestRaisingNeverRejects(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range 30000 {
		burst := randomBurst(random)
		d := 1 + random.IntN(7)
		low := new(big.Rat).SetFrac64(1+random.Int64N(1e15)>>random.IntN(50), 1e7)
		high := new(big.Rat).Set(low)
		switch random.IntN(3) {
		case 0: // by much
			high.Mul(high, big.NewRat(2+random.Int64N(1000), 1))
		case 1: // by a little
			high.Mul(high, big.NewRat(1001, 1000))
		default: // by less than any stamp shows
			high.Mul(high, big.NewRat(1e9+1+random.Int64N(100), 1e9))
		}
		before, after := NewLimit(low, burst, d), NewLimit(high, burst, d)
		n := 1 + random.Int64N(before.Fit)
		now := random.Int64N(1e18)
		owed := max(0, before.Tolerance-(n-1)*before.Interval-random.Int64N(3))
		if _, ok := before.Conforms(now+owed, now, n); !ok {
			t.Fatalf("rate %v, burst %v, D = %d: %d hits owing %d ns do not even pass before", low, burst, d, n, owed)
		}
		if _, ok := after.Conforms(after.Rescale(now+owed, now, before.Stamp), now, n); !ok {
			t.Fatalf("burst %v, D = %d: %d hits owing %d ns pass at rate %v and not at %v", burst, d, n, owed, low, high)
		}
	}
}

// There and back again, a debt is at most a nanosecond of the longer interval's
// worth smaller, and never larger.
func TestRescaleThereAndBack(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for range 20000 {
		a := NewLimit(big.NewRat(1+random.Int64N(1e6), 1000), big.NewRat(10, 1), 1)
		b := NewLimit(big.NewRat(1+random.Int64N(1e6), 1000), big.NewRat(10, 1), 1)
		owed := random.Int64N(20 * a.Interval)
		back := a.Rescale(b.Rescale(owed, 0, a.Stamp), 0, b.Stamp)
		if lost := owed - back; lost < 0 || lost > a.Interval/b.Interval+1 {
			t.Fatalf("owing %d ns, from T = %d to %d and back: %d", owed, a.Interval, b.Interval, back)
		}
	}
}
