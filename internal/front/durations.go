package front

import (
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// durations is the histogram of the time that decisions take. A batch of
// attempts costs it two atomic additions, however many they are, which is why it
// is not the client library's.
//
// Its buckets are powers of two of 128 ns.
type durations struct {
	buckets [durationBuckets + 1]atomic.Uint64 // the last one is for what is longer
	nanos   atomic.Int64                       // sum
}

const (
	durationBuckets  = 22 // 128 ns to 268 ms
	shortestDuration = 128 * time.Nanosecond
)

var durationDesc = prometheus.NewDesc("levee_attempt_duration_seconds",
	"Time from the whole request to the decision. Attempts that are read together share theirs.", nil, nil)

// observe counts n attempts that took a time together.
func (d *durations) observe(n int, took time.Duration) {
	each := int64(took) / int64(n)
	i := bits.Len64(uint64(max(0, each-1)) / uint64(shortestDuration))
	d.buckets[min(i, durationBuckets)].Add(uint64(n))
	d.nanos.Add(int64(took))
}

// Describe implements [prometheus.Collector].
func (d *durations) Describe(ch chan<- *prometheus.Desc) { ch <- durationDesc }

// Collect implements [prometheus.Collector].
func (d *durations) Collect(ch chan<- prometheus.Metric) {
	buckets, total := make(map[float64]uint64, durationBuckets), uint64(0)
	bound := shortestDuration
	for i := range durationBuckets {
		total += d.buckets[i].Load()
		buckets[bound.Seconds()] = total
		bound *= 2
	}
	total += d.buckets[durationBuckets].Load()
	ch <- prometheus.MustNewConstHistogram(durationDesc, total,
		time.Duration(d.nanos.Load()).Seconds(), buckets)
}
