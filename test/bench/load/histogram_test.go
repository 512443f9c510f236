package load

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestBucketsHoldTheirValues(t *testing.T) {
	t.Parallel()
	last := -1
	for _, v := range []uint64{0, 1, 63, 64, 65, 66, 127, 128, 1000, 999_999, 1e9, 1e18, math.MaxInt64} {
		i := bucket(v)
		if i < last || i >= histogramSize {
			t.Errorf("%d is in bucket %d, after %d", v, i, last)
		}
		last = i
		if off := math.Abs(float64(middle(i)) - float64(v)); off > float64(v)/64+1 {
			t.Errorf("%d is taken for %d", v, middle(i))
		}
	}
	for i := range histogramSize - 1 {
		if m := uint64(middle(i)); bucket(m) != i {
			t.Fatalf("the middle of bucket %d, %d, is in bucket %d", i, m, bucket(m))
		}
	}
}

func TestQuantiles(t *testing.T) {
	t.Parallel()
	var h, other Histogram
	if h.Quantile(0.5) != 0 {
		t.Error("an empty histogram has a median")
	}
	random := rand.New(rand.NewPCG(3, 4))
	var all []time.Duration
	for n := range 10_000 {
		d := time.Duration(random.ExpFloat64() * float64(time.Millisecond))
		all = append(all, d)
		if n%2 == 0 {
			h.Add(d)
		} else {
			other.Add(d)
		}
	}
	h.Merge(&other)
	slices.Sort(all)
	for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.99, 0.999} {
		want := all[int(q*float64(len(all)))]
		if got := h.Quantile(q); math.Abs(float64(got-want)) > float64(want)/50+1 {
			t.Errorf("quantile %v is %v, not %v", q, got, want)
		}
	}
	if got := h.Quantile(1); got < all[len(all)-1]*98/100 {
		t.Errorf("the greatest is %v, not %v", got, all[len(all)-1])
	}
	if h.Count() != len(all) {
		t.Errorf("%d counted", h.Count())
	}
}

func TestNegativeCountsAsNothing(t *testing.T) {
	t.Parallel()
	var h Histogram
	h.Add(-time.Second)
	if h.Quantile(0.5) != 0 || h.Count() != 1 {
		t.Errorf("%v of %d", h.Quantile(0.5), h.Count())
	}
}
