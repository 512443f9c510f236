package ctl

import (
	"maps"
	"math/big"
	"slices"

	"github.com/levee-project/levee/internal/explain"
	"github.com/levee-project/levee/internal/quota"
	"github.com/levee-project/levee/internal/tree"
)

// uneven reports whether a quota tolerates less than one request more at once on
// each of d limiters, and what that is.
func uneven(q *quota.Quota, d int) (part *big.Rat, yes bool) {
	part = new(big.Rat).Quo(q.Burst(), big.NewRat(int64(d), 1))
	return part, d > 1 && q.Rate().Sign() > 0 && part.Cmp(big.NewRat(1, 1)) < 0
}

// defaults are the quotas of resources that have none of their own, by the canonical
// key of their entry.
type defaults map[string]struct {
	path  quota.Path
	quota *quota.Quota
}

// tooSmall warns of defaults that apply to a resource with a group of its own, and
// are enough for the groups of the others only.
func tooSmall(t *tree.Tree, snapshot *quota.Snapshot, faults map[string]string, warn func(key, format string, args ...any)) {
	list, own := defaults{}, map[string]bool{} // own has canonical keys
	for key, value := range t.Entries {
		l, ok := limitOf(key, value)
		q, err := quota.ParseQuota(value)
		if !ok || err != nil || faults[key] != "" {
			continue
		}
		if l.path.Kind != quota.KindKeyDefault && l.path.Kind != quota.KindSubkeyDefault {
			own[l.path.String()] = true
		} else if _, yes := uneven(q, snapshot.MaxFactor()); yes {
			at := list[l.path.String()]
			at.path, at.quota = l.path, q
			list[l.path.String()] = at
		}
	}
	common := snapshot.Factor(nil)
	for _, key := range slices.Sorted(maps.Keys(t.Entries)) {
		f, ok := factorOf(key, t.Entries[key])
		if !ok || faults[key] != "" || f.Resource == "" || f.Factor <= common {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(list)) {
			d := list[name]
			if _, already := uneven(d.quota, common); already || own[ownKey(f.Resource, d.path)] {
				continue
			}
			if part, yes := uneven(d.quota, f.Factor); yes {
				warn(key, "%s applies to it, and its burst %s is %s for each limiter in this group of %d: with less than 1, "+
					"requests that come unevenly are rejected; give it a quota of its own, or make the group smaller",
					name, d.quota.Value().Burst, explain.Decimal(part), f.Factor)
			}
		}
	}
}

// ownKey is the canonical key of the entry with which a resource would do without a
// default.
func ownKey(resource string, d quota.Path) string {
	if d.Kind == quota.KindKeyDefault {
		return quota.ForKey(resource)
	}
	return quota.Path{Kind: quota.KindKeySublimit, Key: resource, Subkey: d.Subkey}.String()
}
