package front

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A batch counts as many attempts as it has, each with its part of the time; a
// time that is a bucket's bound belongs to it.
func TestDurations(t *testing.T) {
	d := new(durations)
	d.observe(1, 0)
	d.observe(1, 128*time.Nanosecond)
	d.observe(10, 1290*time.Nanosecond) // 129 ns each
	d.observe(2, 512*time.Nanosecond)   // 256 ns each
	d.observe(1, time.Second)
	counts := map[int]uint64{0: 2, 1: 12, durationBuckets: 1}
	for i := range d.buckets {
		if got := d.buckets[i].Load(); got != counts[i] {
			t.Errorf("bucket %d holds %d, want %d", i, got, counts[i])
		}
	}
	if got := time.Duration(d.nanos.Load()); got != time.Second+1930*time.Nanosecond {
		t.Errorf("the sum is %v", got)
	}
	r := prometheus.NewRegistry()
	r.MustRegister(d)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	shown := families[0].GetMetric()[0].GetHistogram()
	if n := shown.GetSampleCount(); n != 15 {
		t.Errorf("%d attempts are shown, want 15", n)
	}
	for i, want := range []uint64{2, 14, 14} { // cumulative
		b := shown.GetBucket()[i]
		if bound := float64(int(128)<<i) / 1e9; b.GetUpperBound() != bound || b.GetCumulativeCount() != want {
			t.Errorf("bucket %d is %d up to %v s, want %d up to %v s", i, b.GetCumulativeCount(), b.GetUpperBound(), want, bound)
		}
	}
}
