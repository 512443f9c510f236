package limiter

import (
	"net/http"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

// clock waits for instants of a schedule. The schedule is real time: that is
// what these tests are about.
type clock struct{ zero time.Time }

// at waits until so many seconds after zero.
func (c clock) at(seconds float64) {
	time.Sleep(time.Until(c.zero.Add(time.Duration(seconds * float64(time.Second)))))
}

// A quota of 1 a second with a burst of 4. Six at once find a debt of 0 to 5 s,
// and the tolerance is 4 s.
func TestOneASecondBurstFour(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: `{"rate": 1, "burst": 4}`})
	for _, p := range harness.Protocols {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			c := r.Client(t, p)
			key := string(p)
			now := clock{time.Now()}
			wantAccepted(t, c, 5, 5, key)
			rejected := c.Attempt(t, key)
			want(t, rejected, http.StatusTooManyRequests)
			if wait, ok := rejected.RetryAfter(t); !ok || wait != 1 {
				t.Errorf("Retry-After is %d, want 1: %v", wait, rejected)
			}
			for _, second := range []float64{3.0, 3.1, 4.0, 8.0, 9.5} {
				now.at(second)
				if got := c.Attempt(t, key); got.Status != http.StatusOK {
					t.Errorf("at %.1f s: %v", second, got)
				}
			}
			wantAccepted(t, c, 8, 4, key)
		})
	}
}

// A rejected attempt says how long to wait, and that is enough.
func TestRetryAfterIsKept(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: `{"rate": 0.5, "burst": 1}`})
	c := r.Client(t, harness.HTTP1)
	wantAccepted(t, c, 2, 2, "r")
	rejected := c.Attempt(t, "r")
	now := clock{time.Now()}
	wait, ok := rejected.RetryAfter(t)
	if rejected.Status != http.StatusTooManyRequests || !ok || wait != 2 {
		t.Fatalf("got %v, want 429 and Retry-After 2", rejected)
	}
	now.at(float64(wait) + 0.01)
	want(t, c.Attempt(t, "r"), http.StatusOK)
	want(t, c.Attempt(t, "r"), http.StatusTooManyRequests)
}

// One a minute, and nothing beyond.
func TestOneAMinute(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{
		ownQuota("seconds"): `{"rate": 0.016666666666666666, "burst": 0}`,
		ownQuota("per"):     `{"rate": 1, "burst": 0, "per": "1m"}`,
	})
	for i, key := range []string{"seconds", "per"} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			c := r.Client(t, harness.Protocols[i])
			sent := clock{time.Now()}
			want(t, c.Attempt(t, key), http.StatusOK)
			answered := clock{time.Now()}
			sent.at(59.5)
			rejected := c.Attempt(t, key)
			want(t, rejected, http.StatusTooManyRequests)
			if wait, ok := rejected.RetryAfter(t); !ok || wait != 1 {
				t.Errorf("Retry-After is %d, want 1: %v", wait, rejected)
			}
			answered.at(60.1)
			want(t, c.Attempt(t, key), http.StatusOK)
		})
	}
}
