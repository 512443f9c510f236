package graphite

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Native buckets are folded to bounds of which each has exactly the
// observations up to it, whatever the resolution.
func TestNative(t *testing.T) {
	t.Parallel()
	for _, factor := range []float64{1.003, 1.1, 1.5, 2, 16, 60000} {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "h", Help: "x", NativeHistogramBucketFactor: factor, NativeHistogramZeroThreshold: 1.0 / 1024,
		})
		random := rand.New(rand.NewPCG(1, uint64(factor*1000)))
		values := []float64{0, 1, 2, 4, 0.5, -1, -2, -4, -0.75} // also on bounds
		for range 5000 {
			values = append(values, math.Exp(3*random.NormFloat64()), -math.Exp(random.NormFloat64()))
		}
		for _, v := range values {
			h.Observe(v)
		}
		var m dto.Metric
		if err := h.Write(&m); err != nil {
			t.Fatal(err)
		}
		buckets := nativeBuckets(m.GetHistogram())
		if len(buckets) < 3 || len(buckets) > 100 {
			t.Fatalf("factor %v: %d buckets", factor, len(buckets))
		}
		for i, b := range buckets {
			if i > 0 && b.bound <= buckets[i-1].bound {
				t.Errorf("factor %v: bound %v after %v", factor, b.bound, buckets[i-1].bound)
			}
			count, on := uint64(0), uint64(0)
			for _, v := range values {
				if v <= b.bound {
					count++
				}
				if v == b.bound {
					on++
				}
			}
			// A value on a bound below zero is in the bucket farther from zero's
			// neighbour: native buckets there do not have their upper bound.
			if b.bound < 0 {
				count -= on
			}
			if b.count != count {
				t.Errorf("factor %v: %d observations up to %v, want %d", factor, b.count, b.bound, count)
			}
		}
		if last := buckets[len(buckets)-1].count; last != uint64(len(values)) {
			t.Errorf("factor %v: %d observations in all, want %d", factor, last, len(values))
		}
	}
}

// What is not understood, or broken, gives no buckets.
func TestNativeStrange(t *testing.T) {
	t.Parallel()
	schema, offset, length := int32(-53), int32(0), uint32(3)
	if b := nativeBuckets(&dto.Histogram{Schema: &schema}); b != nil {
		t.Errorf("custom buckets give %v", b)
	}
	schema = 0
	b := nativeBuckets(&dto.Histogram{
		Schema: &schema, PositiveSpan: []*dto.BucketSpan{{Offset: &offset, Length: &length}}, PositiveDelta: []int64{1},
	})
	if len(b) != 1 || b[0] != (bucket{1, 1}) {
		t.Errorf("fewer counts than the span says give %v", b)
	}
}
