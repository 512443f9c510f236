package load

import (
	"math/bits"
	"time"
)

// Histogram counts durations in buckets that are at most 1/16 of themselves wide.
// The zero value is empty.
type Histogram struct {
	counts [64 * fine]int64
	n      int64
	max    time.Duration
}

// fine is how many buckets there are from one power of two to the next.
const fine = 16

func bucketOf(d time.Duration) int {
	v := uint64(max(0, d))
	if v < fine {
		return int(v)
	}
	power := bits.Len64(v) - 5 // log2(fine) + 1 digits are kept
	return power*fine + int(v>>power)
}

// upper is the least duration that is beyond a bucket.
func upper(bucket int) time.Duration {
	if bucket < 2*fine {
		return time.Duration(bucket + 1)
	}
	power := bucket/fine - 1
	return time.Duration(bucket%fine+fine+1) << power
}

func (h *Histogram) add(d time.Duration) {
	h.counts[bucketOf(d)]++
	h.n++
	h.max = max(h.max, d)
}

// Quantile is a duration that a part q of all is not longer than, 0 if there are
// none.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank, seen := int64(q*float64(h.n)), int64(0)
	for i, n := range h.counts {
		if seen += n; n > 0 && seen > min(rank, h.n-1) {
			return min(upper(i), h.max)
		}
	}
	return 0
}

// Octave is how many durations there were from the half of Below up to it.
type Octave struct {
	Below time.Duration
	Count int64
}

// Octaves are those from the shortest duration to the longest.
func (h *Histogram) Octaves() (list []Octave) {
	for i, n := range h.counts {
		if n == 0 {
			continue
		}
		below := time.Duration(1) << bits.Len64(uint64(upper(i)-1))
		if len(list) == 0 {
			list = append(list, Octave{Below: below})
		}
		for last := list[len(list)-1].Below; last < below; {
			last *= 2
			list = append(list, Octave{Below: last})
		}
		list[len(list)-1].Count += n
	}
	return list
}
