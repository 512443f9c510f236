package metrics

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"github.com/levee-project/levee/test/harness"
)

// jobOf is the daemon that a node of a cluster is.
func jobOf(n *harness.Node) string {
	switch {
	case strings.HasPrefix(n.Name, "observer"):
		return "levee-observer"
	case strings.HasPrefix(n.Name, "proxy"):
		return "levee-client-proxy"
	default:
		return "levee-limiter"
	}
}

// paths are the values of a scrape by the names that they have in Graphite: the
// prefix, the name, and the tags in order, which are the labels, job and instance.
func paths(m harness.Metrics, prefix, job, instance string) map[string]float64 {
	all := map[string]float64{}
	for name, family := range m {
		for _, series := range family.GetMetric() {
			put := func(suffix string, value float64, more ...string) {
				tags := append([]string{"instance=" + instance, "job=" + job}, more...)
				for _, l := range series.GetLabel() {
					if l.GetValue() != "" {
						tags = append(tags, l.GetName()+"="+tagValue(l.GetValue()))
					}
				}
				slices.Sort(tags)
				all[prefix+name+suffix+";"+strings.Join(tags, ";")] = value
			}
			values(series, put)
		}
	}
	return all
}

// tagValue is a label's value as a tag's: the words of the build have spaces.
func tagValue(s string) string { return strings.ReplaceAll(s, " ", "_") }

func values(series *dto.Metric, put func(suffix string, value float64, more ...string)) {
	switch {
	case series.Histogram != nil:
		h := series.GetHistogram()
		for _, b := range h.GetBucket() {
			put("_bucket", float64(b.GetCumulativeCount()), "le="+word(b.GetUpperBound()))
		}
		put("_sum", h.GetSampleSum())
		put("_count", float64(h.GetSampleCount()))
	case series.Summary != nil:
		s := series.GetSummary()
		for _, q := range s.GetQuantile() {
			put("", q.GetValue(), "quantile="+word(q.GetQuantile()))
		}
		put("_sum", s.GetSampleSum())
		put("_count", float64(s.GetSampleCount()))
	default:
		put("", series.GetCounter().GetValue()+series.GetGauge().GetValue()+series.GetUntyped().GetValue())
	}
}

func word(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

func TestPaths(t *testing.T) {
	t.Parallel()
	l := harness.StartLimiter(t, storage(t, plenty))
	got := paths(l.Scrape(t), "p.", "j", "i")
	for _, want := range []string{
		"p.levee_keys;instance=i;job=j",
		"p.levee_attempts_total;instance=i;job=j;quota=full;result=accepted;shadow=false",
		"p.levee_attempt_duration_seconds_bucket;instance=i;job=j;le=+Inf",
		"p.go_gc_duration_seconds;instance=i;job=j;quantile=0.25",
	} {
		if _, ok := got[want]; !ok {
			t.Errorf("%s is missing", want)
		}
	}
}
