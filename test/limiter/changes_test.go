package limiter

import (
	"net/http"
	"testing"

	"github.com/levee-project/levee/test/harness"
)

// Ten, or twenty, an hour.
const (
	tenAnHour    = `{"rate": 10, "burst": 9, "per": "1h"}`
	twentyAnHour = `{"rate": 20, "burst": 19, "per": "1h"}`
)

// A higher quota passes what it has more, and no more.
func TestRaise(t *testing.T) {
	t.Parallel()
	eachStore(t, entries{ownQuota("r"): `{"rate": 0.002777777777777778, "burst": 9}`}, func(t *testing.T, r *rig) {
		c := r.Client(t, harness.HTTP1)
		wantAccepted(t, c, 50, 10, "r")
		r.change(t, entries{ownQuota("r"): `{"rate": 0.005555555555555556, "burst": 19}`})
		wantAccepted(t, c, 50, 10, "r")
	})
}

// Raising a rate never causes a rejection.
func TestRaiseNeverRejects(t *testing.T) {
	t.Parallel()
	eachStore(t, entries{ownQuota("r"): `{"rate": 0.5, "burst": 15}`}, func(t *testing.T, r *rig) {
		c := r.Client(t, harness.H2C)
		wantAccepted(t, c, 4, 4, "r")
		r.change(t, entries{ownQuota("r"): `{"rate": 50, "burst": 15}`})
		want(t, c.Attempt(t, "r"), http.StatusOK)
		r.change(t, entries{ownQuota("r"): `{"rate": 5000, "burst": 15}`})
		want(t, c.Attempt(t, "r"), http.StatusOK)
	})
}

// A lower quota keeps the debt, counted in hits.
func TestLower(t *testing.T) {
	t.Parallel()
	eachStore(t, entries{ownQuota("r"): twentyAnHour, ownQuota("s"): twentyAnHour}, func(t *testing.T, r *rig) {
		c := r.Client(t, harness.HTTP1)
		wantAccepted(t, c, 10, 10, "r")
		wantAccepted(t, c, 4, 4, "s")
		r.change(t, entries{ownQuota("r"): tenAnHour, ownQuota("s"): tenAnHour})
		wantRetry(t, c.Attempt(t, "r"), 360)
		wantAccepted(t, c, 20, 6, "s")
	})
}

// The debt outlives a rate of nothing, which rejects for ever.
func TestThroughNothing(t *testing.T) {
	t.Parallel()
	eachStore(t, entries{ownQuota("r"): tenAnHour}, func(t *testing.T, r *rig) {
		c := r.Client(t, harness.HTTP1)
		wantAccepted(t, c, 4, 4, "r")
		r.change(t, entries{ownQuota("r"): nothing})
		for range 5 {
			wantNever(t, c.Attempt(t, "r"))
			wantNever(t, c.Hits(t, 0, "r"))
		}
		r.change(t, entries{ownQuota("r"): tenAnHour})
		wantAccepted(t, c, 20, 6, "r")
	})
}

// An entry of one's own that comes or goes, before a default of the same level,
// is the same bucket.
func TestOwnAndDefaultShareTheDebt(t *testing.T) {
	t.Parallel()
	tree := entries{
		ownQuota("r"): fits(5), keyDefault: fits(10),
		ownSublimit("r", "GET"): fits(5), subkeyDefault("GET"): fits(10),
	}
	eachStore(t, tree, func(t *testing.T, r *rig) {
		c := r.Client(t, harness.HTTP1)
		wantAccepted(t, c, 3, 3, "r")
		wantAccepted(t, c, 3, 3, "r", "", "GET")
		r.change(t, nil, ownQuota("r"), ownSublimit("r", "GET"))
		wantAccepted(t, c, 20, 7, "r")
		wantAccepted(t, c, 20, 7, "r", "", "GET")
		r.change(t, entries{ownQuota("r"): fits(12), ownSublimit("r", "GET"): fits(12)})
		wantAccepted(t, c, 20, 2, "r")
		wantAccepted(t, c, 20, 2, "r", "", "GET")
	})
}

// Deleting an entry falls back to the next level, whose bucket is another.
func TestDelete(t *testing.T) {
	t.Parallel()
	eachStore(t, entries{ownSublimit("r", "p/GET"): fits(2), ownQuota("r"): fits(3)}, func(t *testing.T, r *rig) {
		c := r.Client(t, harness.H2C)
		wantAccepted(t, c, 5, 2, "r", "p", "GET")
		r.change(t, nil, ownSublimit("r", "p/GET"))
		wantAccepted(t, c, 5, 3, "r", "p", "GET")
		r.change(t, nil, ownQuota("r"))
		wantAccepted(t, c, 50, 50, "r", "p", "GET")
	})
}

// Defaults change as own entries do.
func TestDefaults(t *testing.T) {
	t.Parallel()
	eachStore(t, entries{keyDefault: fits(3)}, func(t *testing.T, r *rig) {
		c := r.Client(t, harness.HTTP1)
		wantAccepted(t, c, 5, 3, "r")
		wantAccepted(t, c, 1, 1, "s")
		r.change(t, entries{keyDefault: fits(5), subkeyDefault("GET"): fits(1)})
		wantAccepted(t, c, 5, 2, "r")
		wantAccepted(t, c, 5, 4, "s")
		wantAccepted(t, c, 5, 1, "s", "", "GET")
		r.change(t, nil, keyDefault, subkeyDefault("GET"))
		wantAccepted(t, c, 50, 50, "s", "", "GET")
	})
}

// Writing the same value again, however it is spelled, changes nothing.
func TestSameValue(t *testing.T) {
	t.Parallel()
	eachStore(t, entries{ownQuota("r"): tenAnHour}, func(t *testing.T, r *rig) {
		c := r.Client(t, harness.HTTP1)
		wantAccepted(t, c, 4, 4, "r")
		for _, same := range []string{
			tenAnHour, `{"burst": 9.0, "per": "60m", "rate": 1e1}`, `{"rate":240,"burst":9,"per":"1d"}`, tenAnHour,
		} {
			r.change(t, entries{ownQuota("r"): same})
			wantFit(t, c, 10, "r") // ten fit, but not now
		}
		wantAccepted(t, c, 20, 6, "r")
	})
}

// A standalone limiter has a quota to itself, whatever the group size says.
func TestFactorIsIgnored(t *testing.T) {
	t.Parallel()
	eachStore(t, entries{"factor/default": "2", ownQuota("r"): tenAnHour}, func(t *testing.T, r *rig) {
		c := r.Client(t, harness.HTTP1)
		wantAccepted(t, c, 4, 4, "r")
		r.change(t, entries{"factor/default": "5", "factor/key/r": "3"})
		wantFit(t, c, 10, "r")
		wantAccepted(t, c, 20, 6, "r")
		r.change(t, nil, "factor/default", "factor/key/r")
		wantRetry(t, c.Attempt(t, "r"), 360)
	})
}

// The revision in force goes up with each change.
func TestRevision(t *testing.T) {
	t.Parallel()
	eachStore(t, entries{keyDefault: plenty}, func(t *testing.T, r *rig) {
		revision := func() float64 { return r.Scrape(t).Sum("levee_storage_revision") }
		for range 3 {
			last := revision()
			r.change(t, entries{ownQuota("r"): fits(1)})
			harness.Eventually(t, inForce, "the revision is higher", func() bool { return revision() > last })
		}
		if connected := r.Scrape(t).Sum("levee_storage_connected"); connected != 1 {
			t.Errorf("levee_storage_connected is %v", connected)
		}
	})
}
