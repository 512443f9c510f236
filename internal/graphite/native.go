package graphite

import (
	"math"

	dto "github.com/prometheus/client_model/go"
)

// bucket is a cumulative bucket of a histogram.
type bucket struct {
	bound float64
	count uint64
}

// coarsest is the schema to which native buckets are folded: powers of two.
const coarsest = 0

// nativeBuckets returns the buckets of a native histogram, cumulative and
// without the last, which is infinite. Bounds are powers of two, or of what the
// histogram has if that is coarser; every bound between the smallest and the
// largest that is in use is there.
func nativeBuckets(h *dto.Histogram) []bucket {
	schema := h.GetSchema()
	if schema < -4 || schema > 8 {
		return nil // no exponential buckets
	}
	shift := max(0, schema-coarsest)
	base := math.Exp2(math.Exp2(float64(-min(schema, coarsest))))
	positive := fold(h.GetPositiveSpan(), h.GetPositiveDelta(), shift)
	negative := fold(h.GetNegativeSpan(), h.GetNegativeDelta(), shift)
	var (
		all   []bucket
		total uint64
	)
	for i := len(negative.counts) - 1; i >= 0; i-- {
		total += negative.counts[i]
		// The bound of a bucket is the one farther from zero; below zero the other
		// one is the upper.
		all = append(all, bucket{-math.Pow(base, float64(negative.first+i-1)), total})
	}
	if h.GetZeroCount() > 0 {
		total += h.GetZeroCount()
		all = append(all, bucket{h.GetZeroThreshold(), total})
	}
	for i, n := range positive.counts {
		total += n
		all = append(all, bucket{math.Pow(base, float64(positive.first+i)), total})
	}
	return all
}

// folded is one side of a native histogram: counts of buckets that follow each
// other, of which the first has the index first.
type folded struct {
	first  int
	counts []uint64
}

// fold reads the buckets of one side, and puts 2^shift of them into one. An index
// i is of the bucket that ends at base^i, so what it becomes is rounded up.
func fold(spans []*dto.BucketSpan, deltas []int64, shift int32) folded {
	var (
		f     folded
		index int32
		count int64
		next  int
	)
	for i, span := range spans {
		index += span.GetOffset()
		for range span.GetLength() {
			if next == len(deltas) {
				return f // fewer than the spans say
			}
			count += deltas[next]
			next++
			into := int((index + 1<<shift - 1) >> shift)
			index++
			if i == 0 && len(f.counts) == 0 {
				f.first = into
			}
			for into >= f.first+len(f.counts) {
				f.counts = append(f.counts, 0)
			}
			f.counts[into-f.first] += uint64(count)
		}
	}
	return f
}
