package ctl

import (
	"fmt"
	"io"
	"math/bits"
	"strings"
	"time"
)

// histogram counts durations in buckets that are at most 1/16 of themselves wide.
// The zero value is empty.
type histogram struct {
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

func (h *histogram) add(d time.Duration) {
	h.counts[bucketOf(d)]++
	h.n++
	h.max = max(h.max, d)
}

func (h *histogram) merge(o *histogram) {
	for i, n := range o.counts {
		h.counts[i] += n
	}
	h.n += o.n
	h.max = max(h.max, o.max)
}

// quantile is a duration that a part q of all is not longer than, 0 if there are
// none.
func (h *histogram) quantile(q float64) time.Duration {
	rank, seen := int64(q*float64(h.n)), int64(0)
	for i, n := range h.counts {
		if seen += n; n > 0 && seen > min(rank, h.n-1) {
			return min(upper(i), h.max)
		}
	}
	return 0
}

// chartWidth is the length of the longest bar, in characters.
const chartWidth = 50

// chart draws how often which durations came, one bar for each factor of two.
func (h *histogram) chart(w io.Writer) {
	var sums [64]int64
	first, last, most := -1, 0, int64(1)
	for i, n := range h.counts {
		if n == 0 {
			continue
		}
		power := bits.Len64(uint64(upper(i) - 1))
		sums[power] += n
		most = max(most, sums[power])
		if first < 0 {
			first = power
		}
		last = power
	}
	for power := max(0, first); power <= last && first >= 0; power++ {
		bar := strings.Repeat("#", int((sums[power]*chartWidth+most-1)/most))
		_, _ = fmt.Fprintf(w, "%9s  %9d  %s\n", "< "+shortTime(time.Duration(1)<<power), sums[power], bar) // a buffer takes everything
	}
}

// shortTime is a duration with three digits.
func shortTime(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.3gs", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.3gms", float64(d)/1e6)
	default:
		return fmt.Sprintf("%.3gus", float64(d)/1e3)
	}
}
