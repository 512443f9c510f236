package load

import (
	"math"
	"testing"
	"time"
)

func TestHistogram(t *testing.T) {
	var h Histogram
	for i := range 1000 {
		h.add(time.Duration(i+1) * time.Millisecond)
	}
	for q, want := range map[float64]time.Duration{.5: 501 * time.Millisecond, .99: 991 * time.Millisecond, 1: time.Second} {
		if got := h.Quantile(q); got < want || got > want+want/fine {
			t.Errorf("quantile %v is %v, want about %v", q, got, want)
		}
	}
	octaves, sum := h.Octaves(), int64(0)
	for i, o := range octaves {
		if sum += o.Count; i > 0 && o.Below != 2*octaves[i-1].Below {
			t.Errorf("%v comes after %v", o.Below, octaves[i-1].Below)
		}
	}
	if first, last := octaves[0].Below, octaves[len(octaves)-1].Below; sum != 1000 || first < time.Millisecond || last < time.Second || last > 2*time.Second {
		t.Errorf("%d of them: %v", sum, octaves)
	}
	if none := new(Histogram); none.Quantile(.5) != 0 || none.Octaves() != nil {
		t.Errorf("of nothing: %v", none.Octaves())
	}
}

// Each duration is below the upper bound of its bucket, and not by much.
func TestHistogramBuckets(t *testing.T) {
	for i := range 62 {
		for _, d := range []time.Duration{1 << i, 1<<i + 1<<i/3, 1<<(i+1) - 1, 0} {
			up := upper(bucketOf(d))
			if up <= d || up > d+d/fine+1 {
				t.Errorf("%d is in a bucket up to %d", d, up)
			}
		}
	}
	if bucketOf(math.MaxInt64) >= len(Histogram{}.counts) {
		t.Error("the longest duration has no bucket")
	}
}
