package metrics

import (
	"net/http"
	"testing"

	"github.com/levee-project/levee/test/harness"
)

// counts are the counters of some daemons together.
type counts []harness.Metrics

func scrapeAll(t *testing.T, nodes ...*harness.Node) (c counts) {
	t.Helper()
	for _, n := range nodes {
		c = append(c, n.Scrape(t))
	}
	return c
}

// want fails the test unless the counters with these labels add up to n.
func (c counts) want(t *testing.T, n float64, name string, labels ...string) {
	t.Helper()
	sum := 0.0
	for _, m := range c {
		sum += m.Sum(name, labels...)
	}
	if sum != n {
		t.Errorf("%s%q is %v, want %v", name, labels, sum, n)
	}
}

const attempts = "levee_attempts_total"

// questions are the resources that are questions.
var questions = resources[:len(resources)-1]

// wantProxy compares the proxy's counters with what its clients were told.
func wantProxy(t *testing.T, c *harness.Cluster, told *tally) {
	t.Helper()
	proxy := scrapeAll(t, c.Proxies...)
	proxy.want(t, told.sum(http.StatusOK, questions...), attempts, "result", "accepted")
	proxy.want(t, told.sum(http.StatusTooManyRequests, questions...), attempts, "result", "rejected")
	proxy.want(t, 0, attempts, "result", "failed")
	proxy.want(t, told.sum(http.StatusOK, "none"), attempts, "result", "accepted", "quota", "none")
	proxy.want(t, told.sum(http.StatusBadRequest, "nothing"), "levee_bad_requests_total")
	proxy.want(t, 0, "levee_proxy_retries_total")
	asked := told.sum(http.StatusOK, questions...) + told.sum(http.StatusTooManyRequests, questions...)
	proxy.want(t, asked, "levee_proxy_limiter_attempts_total")
	proxy.want(t, asked, "levee_attempt_duration_seconds")
}

// wantLimiters compares the limiters' counters with what all clients were told. A
// quota that is a shadow counts as rejected what it accepts.
func wantLimiters(t *testing.T, c *harness.Cluster, direct, through *tally) {
	t.Helper()
	limiters := scrapeAll(t, c.Limiters...)
	sum := func(status int, resources ...string) float64 {
		return direct.sum(status, resources...) + through.sum(status, resources...)
	}
	limiters.want(t, sum(http.StatusOK, "open", "tight", "none"), attempts, "result", "accepted")
	limiters.want(t, sum(http.StatusTooManyRequests, questions...), attempts, "result", "rejected", "shadow", "false")
	limiters.want(t, sum(http.StatusOK, "shadow"), attempts, "result", "rejected", "shadow", "true")
	limiters.want(t, sum(http.StatusOK, "none"), attempts, "quota", "none")
	limiters.want(t, 0, attempts, "result", "failed")
	limiters.want(t, direct.sum(http.StatusBadRequest, "nothing"), "levee_bad_requests_total")
	limiters.want(t, sum(http.StatusOK, questions...)+sum(http.StatusTooManyRequests, questions...), "levee_attempt_duration_seconds")
}
