package limiter

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/levee-project/levee/test/harness"
)

// An attempt of n hits passes whole or not at all; 0 asks and changes nothing.
func TestHits(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: fits(10)})
	each(t, r.Limiter, func(t *testing.T, c *harness.Client) {
		key := string(c.Protocol)
		wantNever(t, c.Hits(t, 11, key))
		wantNever(t, c.Hits(t, 1_000_000, key))
		for range 20 {
			want(t, c.Hits(t, 0, key), http.StatusOK)
		}
		want(t, c.Hits(t, 4, key), http.StatusOK)
		wantRetry(t, c.Hits(t, 7, key), 3600)    // 6 fit now, so one hour for the seventh
		wantRetry(t, c.Hits(t, 10, key), 4*3600) // all of them, once the bucket is idle
		want(t, c.Hits(t, 6, key), http.StatusOK)
		wantRetry(t, c.Hits(t, 0, key), 3600)
		wantRetry(t, c.Hits(t, 1, key), 3600)
		wantRetry(t, c.Attempt(t, key), 3600)
		wantNever(t, c.Hits(t, 11, key))
	})
}

// All hits at once on an idle bucket, and one more never.
func TestHitsThatJustFit(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: fits(10)})
	each(t, r.Limiter, func(t *testing.T, c *harness.Client) {
		want(t, c.Hits(t, 10, string(c.Protocol)), http.StatusOK)
		wantRetry(t, c.Hits(t, 10, string(c.Protocol)), 10*3600)
	})
}

// A shadow quota rejects nothing, and counts what it would have.
func TestShadow(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: `{"rate": 1, "burst": 1, "per": "1h", "shadow": true}`})
	each(t, r.Limiter, func(t *testing.T, c *harness.Client) {
		before := r.Scrape(t)
		for range 5 {
			a := c.Attempt(t, string(c.Protocol))
			want(t, a, http.StatusOK)
			if wait, ok := a.RetryAfter(t); ok {
				t.Errorf("accepted, with Retry-After %d", wait)
			}
		}
		want(t, c.Hits(t, 1000, string(c.Protocol)), http.StatusOK)
		after := r.Scrape(t)
		for result, n := range map[string]float64{"accepted": 2, "rejected": 4} {
			labels := []string{"result", result, "quota", "resource", "shadow", "true"}
			if got := after.Sum("levee_attempts_total", labels...) - before.Sum("levee_attempts_total", labels...); got != n {
				t.Errorf("%v attempts count as %s in shadow, want %v", got, result, n)
			}
		}
		if got := after.Sum("levee_attempts_total", "shadow", "false"); got != 0 {
			t.Errorf("%v attempts count as not in shadow", got)
		}
	})
}

// per makes the rate a count for that long.
func TestPer(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{
		ownQuota("hour"):  `{"rate": 3, "burst": 2, "per": "1h"}`,
		ownQuota("day"):   `{"rate": 1, "burst": 0, "per": "1d"}`,
		ownQuota("mixed"): `{"rate": 0.5, "burst": 0, "per": "1d12h"}`,
	})
	each(t, r.Limiter, func(t *testing.T, c *harness.Client) {
		// Both protocols ask the same buckets: the second finds them used up.
		fresh := c.Protocol == harness.Protocols[0]
		for _, of := range []struct {
			key       string
			fit, wait int
		}{{"hour", 3, 1200}, {"day", 1, 86400}, {"mixed", 1, 259200}} {
			if fresh {
				wantAccepted(t, c, of.fit, of.fit, of.key)
			}
			wantRetry(t, c.Attempt(t, of.key), of.wait)
		}
	})
}

var (
	rateLimit       = regexp.MustCompile(`^"(\w+)";r=(\d+);t=(\d+)$`)
	rateLimitPolicy = regexp.MustCompile(`^"(\w+)";q=(\d+);w=(\d+)$`)
)

// response-headers says which fields about the quota go with an answer.
func TestResponseHeaders(t *testing.T) {
	t.Parallel()
	tree := entries{keyDefault: fits(2)}
	t.Run("ratelimit", func(t *testing.T) {
		t.Parallel()
		r := onFile(t, tree, "--response-headers=ratelimit")
		each(t, r.Limiter, func(t *testing.T, c *harness.Client) {
			for i, status := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
				a := c.Attempt(t, string(c.Protocol))
				want(t, a, status)
				left := []string{"1", "0", "0"}[i]
				if m := rateLimit.FindStringSubmatch(a.Header.Get("RateLimit")); m == nil || m[2] != left {
					t.Errorf("answer %d has RateLimit %q, want r=%s", i, a.Header.Get("RateLimit"), left)
				}
				if m := rateLimitPolicy.FindStringSubmatch(a.Header.Get("RateLimit-Policy")); m == nil || m[2] != "2" {
					t.Errorf("answer %d has RateLimit-Policy %q, want q=2", i, a.Header.Get("RateLimit-Policy"))
				}
			}
			wantRetry(t, c.Attempt(t, string(c.Protocol)), 3600)
		})
	})
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		r := onFile(t, tree, "--response-headers=none")
		each(t, r.Limiter, func(t *testing.T, c *harness.Client) {
			wantAccepted(t, c, 2, 2, string(c.Protocol))
			wantNever(t, c.Attempt(t, string(c.Protocol)))
		})
	})
	t.Run("default", func(t *testing.T) {
		t.Parallel()
		r := onFile(t, tree)
		each(t, r.Limiter, func(t *testing.T, c *harness.Client) {
			for range 3 {
				a := c.Attempt(t, string(c.Protocol))
				if a.Header.Get("RateLimit")+a.Header.Get("RateLimit-Policy") != "" {
					t.Errorf("fields nobody asked for: %v", a)
				}
			}
		})
	})
}

// no-quota says what happens where no quota applies.
func TestNoQuota(t *testing.T) {
	t.Parallel()
	for word, status := range map[string]int{
		"accept": http.StatusOK, "reject": http.StatusTooManyRequests, "fail": http.StatusInternalServerError,
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			r := onFile(t, entries{ownQuota("limited"): fits(1)}, "--no-quota="+word)
			each(t, r.Limiter, func(t *testing.T, c *harness.Client) {
				before := r.Scrape(t).Sum("levee_attempts_total", "quota", "none")
				for range 3 {
					a := c.Attempt(t, "other")
					want(t, a, status)
					if wait, ok := a.RetryAfter(t); ok {
						t.Errorf("Retry-After %d, but it will never be otherwise", wait)
					}
					if (status == http.StatusInternalServerError) != isLine(a.Body) {
						t.Errorf("body %q", a.Body)
					}
				}
				if got := r.Scrape(t).Sum("levee_attempts_total", "quota", "none") - before; got != 3 {
					t.Errorf("%v attempts count as without a quota, want 3", got)
				}
			})
		})
	}
}
