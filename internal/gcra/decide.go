package gcra

import (
	"math/bits"
	"time"
)

// Conforms says whether n hits, 1 or more, pass at the time now on a bucket
// whose theoretical arrival time is tat, and returns the TAT after them. When
// they do not pass, the TAT is returned unchanged.
func (l Limit) Conforms(tat, now int64, n int64) (next int64, ok bool) {
	if n > l.Fit {
		return tat, false
	}
	start := max(tat, now)
	if start-now > l.Tolerance-(n-1)*l.Interval {
		return tat, false
	}
	return start + n*l.Interval, true
}

// Wait returns how long after now the same n hits would pass, if nothing else
// came. ok is false when they never would: the rate is zero, or they do not
// fit.
func (l Limit) Wait(tat, now int64, n int64) (wait time.Duration, ok bool) {
	if n > l.Fit {
		return 0, false
	}
	return time.Duration(max(0, max(tat, now)-now-(l.Tolerance-(n-1)*l.Interval))), true
}

// Remaining returns how many hits would pass at the time now.
func (l Limit) Remaining(tat, now int64) int64 {
	room := l.Tolerance - (max(tat, now) - now)
	if l.Interval == 0 || room < 0 {
		return 0
	}
	return room/l.Interval + 1
}

// Rescale carries the debt of a bucket, counted in hits, over to this limit:
// TAT − now is multiplied by the ratio of the emission intervals, where stamp is
// the one under which tat was written. An idle bucket stays idle. It rounds down,
// so a higher rate never causes a rejection. l passes something.
func (l Limit) Rescale(tat, now int64, stamp uint32) int64 {
	if tat <= now || stamp == l.Stamp {
		return tat
	}
	from := uint64(stamped(stamp))
	hi, lo := bits.Mul64(uint64(tat-now), uint64(l.Interval))
	if hi >= from { // the quotient needs more than 64 bits
		return now + Horizon
	}
	debt, _ := bits.Div64(hi, lo, from)
	return now + int64(min(debt, uint64(Horizon)))
}
