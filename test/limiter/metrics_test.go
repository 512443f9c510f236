package limiter

import (
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/levee-project/levee/test/harness"
)

// Every metric is there from the start, at zero, so that a rate over it is right
// from the first event on.
func TestMetricsFromTheStart(t *testing.T) {
	t.Parallel()
	m := onFile(t, entries{keyDefault: fits(1)}).Scrape(t)
	zero := [][]string{
		{"levee_attempt_duration_seconds"},
		{"levee_keys"},
		{"levee_keys_max"},
		{"levee_keys_collected_total"},
		{"levee_keys_evicted_total"},
		{"levee_storage_invalid_entries"},
		{"levee_log_dropped_total", "kind", "attempt"},
		{"levee_log_dropped_total", "kind", "line"},
		{"levee_attempts_total", "result", "failed"},
		{"levee_attempts_total", "result", "accepted", "quota", "none", "shadow", "false"},
	}
	for _, result := range []string{"accepted", "rejected"} {
		for _, level := range []string{"full", "method", "resource"} {
			for _, shadow := range []string{"false", "true"} {
				zero = append(zero, []string{"levee_attempts_total", "result", result, "quota", level, "shadow", shadow})
			}
		}
	}
	for _, b := range badRequests() {
		zero = append(zero, []string{badTotal, "reason", b.reason})
	}
	for _, series := range zero {
		if n, found := m.Find(series[0], series[1:]...); !found || n != 0 {
			t.Errorf("%q is %v, present: %v; want 0", series, n, found)
		}
	}
	for _, name := range []string{
		"levee_storage_revision", "levee_storage_connected", "levee_build_info",
		"go_goroutines", "go_memstats_heap_alloc_bytes", "process_start_time_seconds", "process_resident_memory_bytes", "process_open_fds",
	} {
		if n, found := m.Find(name); !found || n < 1 {
			t.Errorf("%s is %v, present: %v", name, n, found)
		}
	}
}

// The names and help texts follow the rules of Prometheus.
func TestMetricsLint(t *testing.T) {
	t.Parallel()
	text := onFile(t, nil).ScrapeText(t)
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "levee_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

// Attempts count by result and by the level at which their quota was found; no
// key is a label.
func TestAttemptsAreCounted(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{
		ownSublimit("secret-r", "p/GET"): fits(1), ownSublimit("secret-r", "GET"): fits(2), ownQuota("secret-r"): fits(3),
	})
	each(t, r.Limiter, func(t *testing.T, c *harness.Client) {
		before := r.Scrape(t)
		for range 4 {
			c.Attempt(t, "secret-r", "p", "GET")
			c.Attempt(t, "secret-r", "other", "GET")
			c.Attempt(t, "secret-r")
			c.Attempt(t, "secret-s")
		}
		c.Hits(t, 0, "secret-r") // a peek is an attempt
		after := r.Scrape(t)
		accepted := map[string]float64{"full": 1, "method": 2, "resource": 3}
		for level, fit := range accepted {
			if c.Protocol != harness.Protocols[0] {
				fit = 0 // used up
			}
			asked := 4.0
			if level == "resource" {
				asked = 5
			}
			wantCount(t, before, after, fit, "result", "accepted", "quota", level)
			wantCount(t, before, after, asked-fit, "result", "rejected", "quota", level)
		}
		wantCount(t, before, after, 4, "result", "accepted", "quota", "none")
		wantCount(t, before, after, 17)
		if n := after.Sum("levee_attempt_duration_seconds") - before.Sum("levee_attempt_duration_seconds"); n != 17 {
			t.Errorf("%v attempts were timed, want 17", n)
		}
	})
	if strings.Contains(r.ScrapeText(t), "secret") {
		t.Error("a key is in the metrics")
	}
}

func wantCount(t *testing.T, before, after harness.Metrics, n float64, labels ...string) {
	t.Helper()
	if got := after.Sum("levee_attempts_total", labels...) - before.Sum("levee_attempts_total", labels...); got != n {
		t.Errorf("levee_attempts_total%q went up by %v, want %v", labels, got, n)
	}
}

// The keys in memory are counted.
func TestKeysAreCounted(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: fits(2)})
	c := r.Client(t, harness.HTTP1)
	for _, key := range []string{"a", "b", "c", "a"} {
		want(t, c.Attempt(t, key), http.StatusOK)
	}
	want(t, c.Hits(t, 0, "d"), http.StatusOK) // asking leaves nothing behind
	if n := r.Scrape(t).Sum("levee_keys"); n != 3 {
		t.Errorf("levee_keys is %v, want 3", n)
	}
}

// The build says what it is made from.
func TestBuildInfo(t *testing.T) {
	t.Parallel()
	family := onFile(t, nil).Scrape(t)["levee_build_info"]
	have := map[string]string{}
	for _, l := range family.GetMetric()[0].GetLabel() {
		have[l.GetName()] = l.GetValue()
	}
	if have["version"] == "" || !strings.HasPrefix(have["goversion"], "go1.") {
		t.Errorf("labels %v", have)
	}
}
