package ctl

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/explain"
	"github.com/levee-project/levee/internal/keytable"
	"github.com/levee-project/levee/internal/limiter"
	"github.com/levee-project/levee/internal/quota"
	"github.com/levee-project/levee/internal/topology"
	"github.com/levee-project/levee/internal/tree"
)

// parts are few and alike, so that tuples meet.
var parts = []string{"a", "b", "a/b", "b/c", "c", "quota", "%2F", "ä b"}

func pick(rng *rand.Rand) string { return parts[rng.IntN(len(parts))] }

// randomTree has entries of all kinds, some invalid, some in odd spellings.
func randomTree(rng *rand.Rand) *tree.Tree {
	t := &tree.Tree{Entries: map[string]string{}}
	for range 1 + rng.IntN(12) {
		key := []string{
			quota.KeyDefault, quota.SubkeyDefault(pick(rng)), quota.SubkeyDefault(pick(rng) + "/" + pick(rng)),
			quota.ForKey(pick(rng)), quota.ForSubkey(pick(rng), "", pick(rng)), quota.ForSubkey(pick(rng), pick(rng), pick(rng)),
			quota.FactorDefault, quota.FactorFor(pick(rng)),
		}[rng.IntN(8)]
		if rng.IntN(8) == 0 {
			key = strings.ReplaceAll(key, "%2F", "%2f")
		}
		value := fmt.Sprintf(`{"rate": %d, "burst": %d}`, rng.IntN(50), rng.IntN(20))
		switch kind := rng.IntN(10); {
		case strings.HasPrefix(key, "factor"):
			value = fmt.Sprint(1 + rng.IntN(4))
		case kind == 0:
			value = "junk"
		case kind == 1:
			value = fmt.Sprintf(`{"rate": %d, "burst": 1, "per": "1m", "shadow": true}`, rng.IntN(50))
		}
		t.Entries[key] = value
	}
	return t
}

// newDecider is a limiter's.
func newDecider() *limiter.Decider {
	return limiter.NewDecider(keytable.New(keytable.Key{}, 0), &config.Limiter{
		Serving: config.Serving{ResponseHeaders: config.HeadersRateLimit}, NoQuota: config.NoQuotaAccept,
	})
}

func viewOf(limiters int) *topology.View {
	var members []topology.Member
	for i := range limiters {
		members = append(members, topology.Member{ID: fmt.Sprint("l", i), Role: topology.Limiter, State: topology.Serving})
	}
	return topology.NewView(1, members)
}

// TestExplainAgreesWithTheLimiter makes random attempts on random trees, and holds
// against each answer of the limiter what explain says: the level, what the quota
// of one limiter comes to, and, by how much is left, the bucket.
func TestExplainAgreesWithTheLimiter(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const trees, attempts = 10_000, 5
	const idle = int64(24 * time.Hour) // after which no bucket owes anything
	levels := map[string]int{}
	d := newDecider()
	var now int64
	for range trees {
		now += idle
		tr := randomTree(rng)
		limiters := 1 + rng.IntN(4)
		snapshot, _ := quota.NewCompiler().Compile(tr)
		d.SetQuotas(snapshot)
		d.SetView(viewOf(limiters))
		taken := map[explain.Bucket]int64{}
		for range attempts {
			a := &attempt.Attempt{Resource: []byte(pick(rng)), Hits: 1}
			if rng.IntN(2) == 0 {
				a.Prefix = []byte(pick(rng))
			}
			if rng.IntN(2) == 0 {
				a.Method = []byte(pick(rng))
			}
			var e *explanation
			if rng.IntN(2) == 0 {
				e = explained(tr, a, viewOf(limiters), 0)
			} else {
				e = explained(tr, a, nil, limiters)
			}
			o, _ := d.Attempt(now, a, nil)
			levels[e.Level]++
			if err := agree(e, &o, taken); err != nil {
				t.Fatalf("%s / %s / %s with %d limiters on %v: %v\n%+v\n%+v", a.Resource, a.Prefix, a.Method, limiters, tr.Entries, err, e, o)
			}
		}
	}
	for _, l := range attempt.Levels {
		if levels[l.String()] < trees/20 {
			t.Errorf("the level %s came %d times only", l, levels[l.String()])
		}
	}
}

// agree compares an explanation with an answer, given what each bucket has passed
// at this same moment.
func agree(e *explanation, o *attempt.Outcome, taken map[explain.Bucket]int64) error {
	switch {
	case e.Level != o.Level.String():
		return fmt.Errorf("level %s, the limiter says %s", e.Level, o.Level)
	case e.Bucket == nil:
		if o.Result != attempt.Accepted || o.Policy != (attempt.Policy{}) {
			return fmt.Errorf("no quota is explained")
		}
		return nil
	case e.Limiter.AtOnce != o.Policy.Limit:
		return fmt.Errorf("%d at once, the limiter says %d", e.Limiter.AtOnce, o.Policy.Limit)
	case e.Limiter.AtOnce > 0 && explain.Milliseconds(int64(o.Policy.Window)) != explain.Milliseconds(int64(e.Limiter.Interval*1e6+.5)+int64(e.Limiter.Tolerance*1e6+.5)):
		return fmt.Errorf("interval and tolerance are %v and %v, the limiter's window is %v", e.Limiter.Interval, e.Limiter.Tolerance, o.Policy.Window)
	case (taken[*e.Bucket] < e.Limiter.AtOnce) == o.Over:
		return fmt.Errorf("%d of %d were taken from the bucket, the limiter says over: %v", taken[*e.Bucket], e.Limiter.AtOnce, o.Over)
	}
	if !o.Over {
		taken[*e.Bucket]++
	}
	if left := e.Limiter.AtOnce - taken[*e.Bucket]; left != o.Policy.Remaining {
		return fmt.Errorf("%d are left, the limiter says %d", left, o.Policy.Remaining)
	}
	return nil
}

func TestExplainRanksTheGroup(t *testing.T) {
	tr := &tree.Tree{Entries: map[string]string{quota.FactorDefault: "2"}}
	v := viewOf(3)
	e := explained(tr, &attempt.Attempt{Resource: []byte("r")}, v, 0)
	if len(e.Group.Members) != 2 || len(e.Group.StandIns) != 1 || e.Group.InForce != 2 {
		t.Fatalf("%+v", e.Group)
	}
	for i, at := range v.AppendRank(nil, []byte("r"), 3) {
		name := append(append([]string{}, e.Group.Members...), e.Group.StandIns...)[i]
		if !strings.HasPrefix(name, v.Serving()[at].ID+" ") {
			t.Errorf("place %d has %s, want %s", i, name, v.Serving()[at].ID)
		}
	}
}
