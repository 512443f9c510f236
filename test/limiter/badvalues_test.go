package limiter

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

// logTime is how soon a line about a change has to be in the log.
const logTime = 5 * time.Second

// badQuotas are values that are no quotas.
var badQuotas = []string{
	`{"rate":-1}`, `not json`, `{"rate":"5"}`, `{"rat":5}`, `{"rate":1e300}`, `NaN`,
	`{"rate": 5}`, `{"burst": 5}`, `{"rate": 5, "burst": -1}`, `{"rate": 5, "burst": 1, "brst": 1}`,
	`{"rate": 1e10, "burst": 1}`, `{"rate": 1e-8, "burst": 1}`, `{"rate": 1, "burst": 1e10}`,
	`{"rate": 1, "burst": 1, "per": "1x"}`, `{"rate": 1, "burst": 1, "per": "367d"}`,
	`{"rate": 1, "burst": 1, "per": "1us"}`, `{"rate": 1, "burst": 1, "shadow": "yes"}`,
	`{"rate": NaN, "burst": 1}`, `[]`, `{}`, `5`, `true`,
}

func badKey(i int) string { return fmt.Sprintf("bad-%d", i) }

// wantInvalid wants the gauge to count so many invalid entries.
func wantInvalid(t *testing.T, r *rig, n int) {
	t.Helper()
	harness.Eventually(t, inForce, fmt.Sprintf("%d invalid entries", n), func() bool {
		return r.Scrape(t).Sum("levee_storage_invalid_entries") == float64(n)
	})
}

// A bad value never takes effect: the last good one stays in force.
func TestBadValueOverGoodOne(t *testing.T) {
	t.Parallel()
	good := entries{ownQuota("other"): fits(2)}
	for i := range badQuotas {
		good[ownQuota(badKey(i))] = fits(3)
	}
	eachStore(t, good, func(t *testing.T, r *rig) {
		c := r.Client(t, harness.HTTP1)
		wantInvalid(t, r, 0)
		bad := entries{ownQuota("other"): fits(4)}
		for i, value := range badQuotas {
			wantAccepted(t, c, 1, 1, badKey(i))
			bad[ownQuota(badKey(i))] = value
		}
		r.change(t, bad)

		wantInvalid(t, r, len(badQuotas))
		wantAccepted(t, c, 10, 4, "other") // other keys go on
		for i, value := range badQuotas {
			wantFit(t, c, 3, badKey(i))
			r.WaitLog(t, logTime, value, func(l harness.Line) bool { return l.Mentions(ownQuota(badKey(i))) })
		}

		mended := entries{}
		for i := range badQuotas {
			mended[ownQuota(badKey(i))] = fits(5)
		}
		r.change(t, mended)
		wantInvalid(t, r, 0)
		for i := range badQuotas {
			wantFit(t, c, 5, badKey(i))
		}
	})
}

// At the start there is no last good value: the entry counts as absent. It can
// also be its key that is wrong.
func TestBadEntryAtTheStart(t *testing.T) {
	t.Parallel()
	tree := entries{
		keyDefault:                 fits(2),
		ownQuota("good"):           fits(3),
		ownQuota("x%zz"):           fits(5),
		"limit/key/a/quotas":       "5",
		"limit/key/quota/quota":    fits(5), // the word must be encoded
		"limits/key/typo/quota":    "5",
		"factor/default":           "0",
		"factor/key/r":             "1.5",
		ownSublimit("good", "GET"): `{"rate": 1}`,
	}
	const bad = 7 // of them
	for i, value := range badQuotas {
		tree[ownQuota(badKey(i))] = value
	}
	eachStore(t, tree, func(t *testing.T, r *rig) {
		c := r.Client(t, harness.H2C)
		wantInvalid(t, r, bad+len(badQuotas))
		wantFit(t, c, 3, "good", "", "GET") // as if the sublimit were not there
		for i := range badQuotas {
			wantFit(t, c, 2, badKey(i))
		}
		for _, key := range []string{"x%zz", "limit/key/a/quotas", "limits/key/typo/quota", "factor/default", "factor/key/r"} {
			r.WaitLog(t, logTime, key, func(l harness.Line) bool { return l.Mentions(key) })
		}
		r.change(t, nil, "limits/key/typo/quota", "factor/default", ownQuota("x%zz"))
		wantInvalid(t, r, bad-3+len(badQuotas))
	})
}

// An entry that can be read in two ways is an error, not a guess.
func TestAmbiguousEntry(t *testing.T) {
	t.Parallel()
	tree := entries{keyDefault: fits(2), ownSublimit("a", "b/sublimit/c"): fits(5), ownQuota("plain/slash"): fits(4)}
	eachStore(t, tree, func(t *testing.T, r *rig) {
		c := r.Client(t, harness.HTTP1)
		wantInvalid(t, r, 1)
		r.WaitLog(t, logTime, "the ambiguous entry", func(l harness.Line) bool {
			return l.Mentions("limit/key/a/sublimit/b/sublimit/c")
		})
		wantFit(t, c, 2, "a", "b/sublimit", "c")
		wantFit(t, c, 2, "a/sublimit/b", "", "c")
		wantFit(t, c, 4, "plain/slash")
		r.change(t, entries{ownSublimit("a", "b%2Fsublimit%2Fc"): fits(6)}, ownSublimit("a", "b/sublimit/c"))
		wantInvalid(t, r, 0)
		wantFit(t, c, 6, "a", "b/sublimit", "c")
	})
}

// A rate of nothing is a quota: it rejects for ever, and says so by silence.
func TestRateNothing(t *testing.T) {
	t.Parallel()
	eachStore(t, entries{ownQuota("closed"): nothing, ownQuota("burst"): `{"rate": 0, "burst": 100}`}, func(t *testing.T, r *rig) {
		for _, p := range harness.Protocols {
			c := r.Client(t, p)
			for _, key := range []string{"closed", "burst"} {
				for range 3 {
					wantNever(t, c.Attempt(t, key))
				}
				wantNever(t, c.Hits(t, 0, key))
			}
			want(t, c.Attempt(t, "open"), http.StatusOK)
		}
	})
}
