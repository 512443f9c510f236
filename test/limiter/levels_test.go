package limiter

import (
	"fmt"
	"testing"

	"github.com/levee-project/levee/test/harness"
)

// places are the six places of a quota for the attempt photos, albums, GET, in
// the order in which they are looked at. The i-th passes i+1 hits at once.
var places = []string{
	ownSublimit("photos", "albums/GET"),
	subkeyDefault("albums/GET"),
	ownSublimit("photos", "GET"),
	subkeyDefault("GET"),
	ownQuota("photos"),
	keyDefault,
}

// The quota in force is the first found; removed one by one, each gives way to
// the next.
func TestLevelsInOrder(t *testing.T) {
	t.Parallel()
	tree := entries{}
	for i, place := range places {
		tree[place] = fits(i + 1)
	}
	r := onFile(t, tree)
	c := r.Client(t, harness.HTTP1)
	for i, place := range places {
		wantFit(t, c, i+1, "photos", "albums", "GET")
		wantFit(t, c, max(i, 2)+1, "photos", "", "GET")       // level 1 has no say
		wantFit(t, c, max(i, 4)+1, "photos", "albums", "PUT") // nor has any sublimit
		wantFit(t, c, max(i, 4)+1, "photos")
		if i < 5 { // the defaults go for other resources, too
			wantFit(t, c, []int{2, 2, 4, 4, 6}[i], "videos", "albums", "GET")
		}
		r.change(t, nil, place)
	}
	wantAccepted(t, c, 100, 100, "photos", "albums", "GET")
	if n := r.Scrape(t).Sum("levee_attempts_total", "quota", "none", "result", "accepted"); n < 100 {
		t.Errorf("%v attempts count as without a quota, want 100", n)
	}
}

// An entry for a prefix alone serves attempts without a method.
func TestFullKeyWithoutMethod(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{
		ownSublimit("photos", "albums"): fits(1),
		subkeyDefault("albums"):         fits(2),
		ownQuota("photos"):              fits(3),
		keyDefault:                      fits(4),
	})
	c := r.Client(t, harness.H2C)
	wantFit(t, c, 1, "photos", "albums")
	wantFit(t, c, 2, "videos", "albums")
	wantFit(t, c, 3, "photos", "albums", "GET") // the entry is for R/P, not for R/P/M
	wantFit(t, c, 3, "photos", "other")
	wantFit(t, c, 4, "videos", "other")
	for level, n := range map[string]float64{"full": 2 * 2, "resource": 3 * 2} {
		if got := r.Scrape(t).Sum("levee_attempts_total", "quota", level); got != n {
			t.Errorf("%v attempts count at level %s, want %v", got, level, n)
		}
	}
}

// The bucket is the level at which the quota was found.
func TestBuckets(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{
		ownQuota("shared"):                 fits(50),
		ownSublimit("shared", "own"):       fits(3),
		ownSublimit("methods", "GET"):      fits(5),
		ownQuota("methods"):                fits(2),
		ownSublimit("full", "albums/GET"):  fits(1),
		ownSublimit("full", "albums/PUT"):  fits(1),
		ownSublimit("full", "singles/GET"): fits(1),
		keyDefault:                         fits(2),
	})
	each(t, r.Limiter, func(t *testing.T, c *harness.Client) {
		if c.Protocol == harness.HTTP1 { // a hundred prefixes without a quota of their own share their resource's
			accepted := 0
			for i := range 100 {
				accepted += c.Accepted(t, 1, "shared", fmt.Sprintf("p%d", i), fmt.Sprintf("m%d", i%7))
			}
			if accepted != 50 {
				t.Errorf("100 prefixes had %d attempts accepted, want the 50 of their resource", accepted)
			}
			wantAccepted(t, c, 5, 3, "shared", "own")

			accepted = c.Accepted(t, 1, "methods", "", "GET")
			for i := range 9 { // all prefixes of a method share its bucket
				accepted += c.Accepted(t, 1, "methods", fmt.Sprintf("p%d", i), "GET")
			}
			if accepted != 5 {
				t.Errorf("GET had %d attempts accepted, want 5", accepted)
			}
			wantAccepted(t, c, 5, 2, "methods", "p0", "PUT")
			wantAccepted(t, c, 5, 0, "methods")

			wantAccepted(t, c, 3, 1, "full", "albums", "GET")
			wantAccepted(t, c, 3, 1, "full", "albums", "PUT")
			wantAccepted(t, c, 3, 1, "full", "singles", "GET")
		}
		for i := range 20 { // a default gives each resource its own bucket
			key := fmt.Sprintf("%s-%d", c.Protocol, i)
			wantAccepted(t, c, 1, 1, key, "a", "GET")
			wantAccepted(t, c, 3, 1, key, "b")
		}
	})
}

// A default of a sublimit gives each resource a bucket of that level.
func TestDefaultSublimitBuckets(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{subkeyDefault("GET"): fits(2), subkeyDefault("albums/PUT"): fits(1), keyDefault: plenty})
	c := r.Client(t, harness.HTTP1)
	for _, resource := range []string{"photos", "videos"} {
		wantAccepted(t, c, 1, 1, resource, "a", "GET")
		wantAccepted(t, c, 1, 1, resource, "b", "GET")
		wantAccepted(t, c, 2, 0, resource, "c", "GET")
		wantAccepted(t, c, 2, 1, resource, "albums", "PUT")
		wantAccepted(t, c, 20, 20, resource, "other", "PUT")
	}
	for level, n := range map[string]float64{"full": 4, "method": 8, "resource": 40} {
		if got := r.Scrape(t).Sum("levee_attempts_total", "quota", level); got != n {
			t.Errorf("%v attempts count at level %s, want %v", got, level, n)
		}
	}
}
