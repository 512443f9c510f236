package gcra

// A stamp holds an emission interval in 32 bits, as a decimal floating-point
// number of nanoseconds: 28 bits of mantissa above 4 bits of exponent. Decimal,
// because so are the intervals that people ask for: a minute, ten hours and a
// day are held exactly.
const (
	exponentBits = 4
	maxMantissa  = 1<<(32-exponentBits) - 1
)

// powers of ten that a stamp's exponent stands for. The rest is zero: no stamp of
// an interval up to Horizon has them.
var powers = [1 << exponentBits]int64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10}

// Stamp returns the stamp of an emission interval, rounded up to one that a
// stamp can hold: every whole number of nanoseconds up to 268 ms, then eight
// significant digits at least. The interval is 1 to [Horizon]; no stamp is 0.
//
// A bucket carries the stamp under which its TAT was written, so that its debt
// can be rescaled when it next meets another interval, without a table of
// intervals that would have to be kept. Every [Limit] has an interval that its
// stamp holds exactly, so two limits with one stamp have one interval.
func Stamp(interval int64) uint32 {
	exponent := uint32(0)
	for interval > maxMantissa {
		interval = (interval + 9) / 10
		exponent++
	}
	return uint32(interval)<<exponentBits | exponent
}

// stamped returns the interval that a stamp holds.
func stamped(stamp uint32) int64 {
	return int64(stamp>>exponentBits) * powers[stamp&(1<<exponentBits-1)]
}
