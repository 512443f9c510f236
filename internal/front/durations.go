package front

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"
)

// durations is the histogram of the time that decisions take. A batch of
// attempts costs it two atomic additions, however many they are, which is why it
// is not the client library's.
//
// Its buckets are those of a native histogram of schema 3: eight for each
// doubling, so that no time is further than 4.4 % from the middle of its bucket.
// A scrape that can take it shows them as that; the doublings alone are shown as
// a classic histogram, too.
type durations struct {
	buckets [durationBuckets + 1]atomic.Uint64 // the last one is for what is longer
	nanos   atomic.Int64                       // sum
}

const (
	schema    = 3 // of the native histogram
	perOctave = 1 << schema
	// Exponents of bounds: powers of two of a second. What is not above shortest
	// is in one bucket, the native histogram's zero bucket.
	shortest        = -23 // 119 ns
	longest         = 3   // 8 s
	longestClassic  = 0   // 1 s
	durationBuckets = (longest-shortest)*perOctave + 1

	mantissa = 1<<52 - 1 // those bits of a float
)

// bounds are the mantissas of the upper bounds in each octave.
var bounds = func() (bounds [perOctave]uint64) {
	for i := range bounds {
		bounds[i] = math.Float64bits(math.Exp2(float64(i)/perOctave)) & mantissa
	}
	return bounds
}()

// bucketOf returns the bucket of a time.
func bucketOf(d time.Duration) int {
	seconds := math.Float64bits(float64(max(0, d)) / 1e9)
	i := (int(seconds>>52) - 1023 - shortest) * perOctave
	for _, bound := range bounds {
		if seconds&mantissa <= bound {
			break
		}
		i++
	}
	return min(max(0, i), durationBuckets)
}

// observe counts n attempts that took a time together.
func (d *durations) observe(n int, took time.Duration) {
	d.buckets[bucketOf(took/time.Duration(n))].Add(uint64(n))
	d.nanos.Add(int64(took))
}

var durationDesc = prometheus.NewDesc("levee_attempt_duration_seconds",
	"Time from the whole request to the decision. Attempts that are read together share theirs.", nil, nil)

// Describe implements [prometheus.Collector].
func (d *durations) Describe(ch chan<- *prometheus.Desc) { ch <- durationDesc }

// Collect implements [prometheus.Collector].
func (d *durations) Collect(ch chan<- prometheus.Metric) {
	t := &durationTotals{seconds: time.Duration(d.nanos.Load()).Seconds()}
	for i := range d.buckets {
		t.buckets[i] = d.buckets[i].Load()
	}
	ch <- t
}

// durationTotals are the durations as they were at a scrape, as a
// [prometheus.Metric]. The client library has constant histograms that are either
// classic or native; this one is both.
type durationTotals struct {
	buckets [durationBuckets + 1]uint64
	seconds float64
}

// Desc implements [prometheus.Metric].
func (*durationTotals) Desc() *prometheus.Desc { return durationDesc }

// Write implements [prometheus.Metric].
func (t *durationTotals) Write(m *dto.Metric) error {
	h := &dto.Histogram{
		SampleSum: proto.Float64(t.seconds),
		Schema:    proto.Int32(schema), ZeroThreshold: proto.Float64(math.Ldexp(1, shortest)),
		ZeroCount: proto.Uint64(t.buckets[0]),
	}
	total, first, before := uint64(0), 0, uint64(0)
	for i, n := range t.buckets {
		total += n
		if exponent := shortest + i/perOctave; i%perOctave == 0 && exponent <= longestClassic {
			h.Bucket = append(h.Bucket, &dto.Bucket{
				UpperBound: proto.Float64(math.Ldexp(1, exponent)), CumulativeCount: proto.Uint64(total),
			})
		}
		if i == 0 || n == 0 && first == 0 {
			continue
		}
		if first == 0 {
			first = i
		}
		h.PositiveDelta = append(h.PositiveDelta, int64(n-before))
		before = n
	}
	h.SampleCount = proto.Uint64(total)
	if first > 0 {
		// One span: an empty bucket inside it is a byte.
		h.PositiveSpan = []*dto.BucketSpan{{
			Offset: proto.Int32(int32(shortest*perOctave + first)), Length: proto.Uint32(uint32(len(h.PositiveDelta))),
		}}
	}
	m.Histogram = h
	return nil
}
