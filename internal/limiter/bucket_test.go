package limiter

import (
	"testing"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/topology"
)

func TestBucketTellsTheDebt(t *testing.T) {
	d := newTestDecider(t, map[string]string{
		"limit/key/r/quota": `{"rate": 20, "burst": 18}`, "factor/key/r": "2",
		"limit/key/closed/quota": `{"rate": 0, "burst": 0}`,
	})
	d.SetView(viewOf(topology.Serving, topology.Serving))
	check := func(now int64, resource string, want adminapi.Bucket) {
		t.Helper()
		if got := d.Bucket(now, question(resource, "p", "m", 1)); got != want {
			t.Errorf("at %d: %+v, want %+v", now, got, want)
		}
	}
	idle := adminapi.Bucket{Level: "resource", AtOnce: 10, Remaining: 10}
	check(0, "r", idle)
	ask(d, 0, question("r", "", "", 4))
	owing := adminapi.Bucket{Level: "resource", Debt: 4, AtOnce: 10, Remaining: 6}
	check(0, "r", owing)
	check(0, "r", owing) // asking is free
	check(second/4, "r", adminapi.Bucket{Level: "resource", Debt: 1.5, AtOnce: 10, Remaining: 8})
	check(second, "r", idle)
	check(0, "closed", adminapi.Bucket{Level: "resource"})
	check(0, "other", adminapi.Bucket{Level: "none"})
}

func TestBucketBeforeTheFirstTree(t *testing.T) {
	d := &Decider{}
	if got := d.Bucket(0, question("r", "", "", 1)); got != (adminapi.Bucket{Level: "none"}) {
		t.Errorf("%+v", got)
	}
}
