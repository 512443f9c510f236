package limiter

import (
	"net/http"
	"testing"

	"github.com/levee-project/levee/test/harness"
)

// Health is asked on the serving port, so that a hung process loses its address,
// with GET or HEAD.
func TestHealth(t *testing.T) {
	t.Parallel()
	r := onFile(t, nil)
	each(t, r.Limiter, func(t *testing.T, c *harness.Client) {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			want(t, c.Send(t, harness.Request{Method: method, Path: "/healthz"}), http.StatusOK)
			want(t, c.Send(t, harness.Request{Method: method, Path: "/healthz?verbose"}), http.StatusOK)
		}
	})
	if n := r.Scrape(t).Sum("levee_attempts_total"); n != 0 {
		t.Errorf("%v attempts were counted", n)
	}
}

// Many attempts at once over one HTTP/2 connection are each decided once.
func TestStreamsOfOneConnection(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: fits(50)})
	c := r.Client(t, harness.H2C)
	want(t, c.Get(t, "/healthz"), http.StatusOK)
	answers, errs := make(chan harness.Answer, 200), make(chan error, 200)
	for range 200 {
		go func() {
			a, err := c.Do(harness.Request{Fields: http.Header{"X-Resource": {"r"}}})
			answers <- a
			errs <- err
		}()
	}
	count := map[int]int{}
	for range 200 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
		count[(<-answers).Status]++
	}
	if count[http.StatusOK] != 50 || count[http.StatusTooManyRequests] != 150 {
		t.Errorf("answers %v, want 50 accepted and 150 rejected", count)
	}
}
