package load

import (
	"math/bits"
	"time"
)

// Histogram counts durations by magnitude, to within a sixty-fourth of each. The
// zero value is empty.
type Histogram struct {
	buckets [histogramSize]uint64
	count   uint64
}

// Each power of two is cut into so many parts.
const (
	partBits      = 5
	histogramSize = (64 - partBits) << partBits
)

// Add counts a duration; a negative one counts as 0.
func (h *Histogram) Add(d time.Duration) {
	h.buckets[bucket(uint64(max(d, 0)))]++
	h.count++
}

// Merge counts what another has counted.
func (h *Histogram) Merge(other *Histogram) {
	for i, n := range other.buckets {
		h.buckets[i] += n
	}
	h.count += other.count
}

// Count is how many durations it holds.
func (h *Histogram) Count() int { return int(h.count) }

// Quantile returns the duration that a share q of all, 0 to 1, do not exceed; 0
// when there are none.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank := uint64(q * float64(h.count))
	seen := uint64(0)
	for i, n := range h.buckets {
		seen += n
		if n > 0 && seen > rank || n > 0 && seen == h.count {
			return middle(i)
		}
	}
	return 0
}

// bucket is the place of a value: the first 64 have one each, and from there on
// a power of two has 32.
func bucket(v uint64) int {
	shift := max(0, bits.Len64(v)-partBits-1)
	return shift<<partBits + int(v>>shift)
}

// middle is the value in the middle of a bucket.
func middle(i int) time.Duration {
	shift := max(0, i>>partBits-1)
	low := uint64(i-shift<<partBits) << shift
	return time.Duration(low + 1<<shift/2)
}
