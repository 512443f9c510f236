package front

import (
	"bufio"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/encoding/protodelim"
)

// A batch counts as many attempts as it has, each with its part of the time; a
// time that is a bucket's bound belongs to it.
func TestDurations(t *testing.T) {
	d := new(durations)
	d.observe(1, 0)
	d.observe(1, 119*time.Nanosecond)
	d.observe(10, 1200*time.Nanosecond) // 120 ns each
	d.observe(2, 2*time.Second/512)     // 1/512 s each
	d.observe(1, time.Second/512+1)
	d.observe(1, 8*time.Second)
	d.observe(1, 8*time.Second+1)
	d.observe(1, 100*time.Hour)
	of512 := (shortest * -perOctave) - 9*perOctave
	counts := map[int]uint64{0: 2, 1: 10, of512: 2, of512 + 1: 1, durationBuckets - 1: 1, durationBuckets: 2}
	for i := range d.buckets {
		if got := d.buckets[i].Load(); got != counts[i] {
			t.Errorf("bucket %d holds %d, want %d", i, got, counts[i])
		}
	}
	if got, want := time.Duration(d.nanos.Load()), 100*time.Hour+16*time.Second+3*time.Second/512+1321; got != want {
		t.Errorf("the sum is %v, want %v", got, want)
	}
}

// In a scrape over the protobuf format the histogram is native and classic at
// once, and both are what the client library makes of the same times.
func TestDurationsAreNativeAndClassic(t *testing.T) {
	d, random := new(durations), rand.New(rand.NewPCG(1, 2))
	oracle := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "oracle", Help: "Oracle.",
		Buckets:                      prometheus.ExponentialBuckets(math.Ldexp(1, shortest), 2, longestClassic-shortest+1),
		NativeHistogramBucketFactor:  1.1, // schema 3
		NativeHistogramZeroThreshold: math.Ldexp(1, shortest),
	})
	empty := scrapeDurations(t, d)
	if empty.GetSchema() != schema || empty.GetZeroThreshold() != math.Ldexp(1, shortest) || len(empty.GetBucket()) != 24 {
		t.Errorf("without any attempt it is %v", empty)
	}
	for range 100_000 {
		took := time.Duration(math.Exp(random.Float64() * math.Log(float64(8*time.Second))))
		d.observe(1, took)
		oracle.Observe(took.Seconds())
	}
	got, want := scrapeDurations(t, d), write(t, oracle)
	if got.GetSchema() != want.GetSchema() || got.GetZeroCount() != want.GetZeroCount() ||
		got.GetSampleCount() != want.GetSampleCount() || math.Abs(got.GetSampleSum()-want.GetSampleSum()) > 1e-3 {
		t.Errorf("schema %d, %d near zero, %d in all, sum %v; want %d, %d, %d, %v",
			got.GetSchema(), got.GetZeroCount(), got.GetSampleCount(), got.GetSampleSum(),
			want.GetSchema(), want.GetZeroCount(), want.GetSampleCount(), want.GetSampleSum())
	}
	if g, w := native(got), native(want); !maps.Equal(g, w) {
		t.Errorf("native buckets\n%v, want\n%v", g, w)
	}
	for i, b := range want.GetBucket() {
		if g := got.GetBucket()[i]; g.GetUpperBound() != b.GetUpperBound() || g.GetCumulativeCount() != b.GetCumulativeCount() {
			t.Errorf("%d up to %v, want %d up to %v", g.GetCumulativeCount(), g.GetUpperBound(), b.GetCumulativeCount(), b.GetUpperBound())
		}
	}
}

// native lists the positive buckets of a native histogram that hold something.
func native(h *dto.Histogram) map[int32]int64 {
	buckets, at, i, n := map[int32]int64{}, int32(0), 0, int64(0)
	for _, span := range h.GetPositiveSpan() {
		at += span.GetOffset()
		for range span.GetLength() {
			if n += h.GetPositiveDelta()[i]; n != 0 {
				buckets[at] = n
			}
			i++
			at++
		}
	}
	return buckets
}

func write(t *testing.T, m prometheus.Metric) *dto.Histogram {
	t.Helper()
	var out dto.Metric
	if err := m.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.GetHistogram()
}

// scrapeDurations is a scrape as Prometheus makes it when it takes native
// histograms.
func scrapeDurations(t *testing.T, d *durations) *dto.Histogram {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(d)
	s := httptest.NewServer(promhttp.HandlerFor(r, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	defer s.Close()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Accept", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,"+
		"application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5")
	res, err := s.Client().Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var family dto.MetricFamily
	if err := protodelim.UnmarshalFrom(bufio.NewReader(res.Body), &family); err != nil {
		t.Fatal(err)
	}
	if family.GetName() != "levee_attempt_duration_seconds" || family.GetType() != dto.MetricType_HISTOGRAM {
		t.Errorf("%s is a %s", family.GetName(), family.GetType())
	}
	return family.GetMetric()[0].GetHistogram()
}

func BenchmarkDurations(b *testing.B) {
	d := new(durations)
	b.RunParallel(func(p *testing.PB) {
		for took := time.Duration(1000); p.Next(); took = took*3%100_003 + 1000 {
			d.observe(1, took)
		}
	})
}
