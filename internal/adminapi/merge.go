package adminapi

import (
	"cmp"
	"math"
	"slices"
)

// Merge is the hottest keys of several daemons together, such as those of all
// limiters of a cluster. What is listed by one and not by another may have up to
// what is unlisted there, which adds to its error.
func Merge(tops ...*Top) *Top {
	m := &Top{Attempts: []Key{}, Rejections: []Key{}}
	perSecond := 0.0
	attempts, rejections := merging{}, merging{}
	for _, t := range tops {
		m.HalfLife = max(m.HalfLife, t.HalfLife)
		m.Seconds = max(m.Seconds, t.Seconds)
		m.Lost += t.Lost
		m.AttemptsTotal += t.AttemptsTotal
		m.RejectionsTotal += t.RejectionsTotal
		perSecond += t.AttemptsTotal / max(1, t.Seconds)
		attempts.add(t.Attempts, t.AttemptsUnlisted)
		rejections.add(t.Rejections, t.RejectionsUnlisted)
	}
	if perSecond > 0 {
		// Those that began a moment ago count less than they will.
		m.Seconds = m.AttemptsTotal / perSecond
	}
	m.Attempts, m.AttemptsUnlisted = attempts.sorted(), attempts.unlisted
	m.Rejections, m.RejectionsUnlisted = rejections.sorted(), rejections.unlisted
	return m
}

// First leaves n keys of each list. The others are unlisted then.
func (t *Top) First(n int) {
	cut := func(list *[]Key, unlisted *float64) {
		for _, k := range (*list)[min(n, len(*list)):] {
			*unlisted = max(*unlisted, k.Count+k.Error)
		}
		*list = (*list)[:min(n, len(*list))]
	}
	cut(&t.Attempts, &t.AttemptsUnlisted)
	cut(&t.Rejections, &t.RejectionsUnlisted)
}

// merging is a list that comes together.
type merging struct {
	keys     map[Key]*merged // by name: nothing else is set
	unlisted float64         // of those so far together
}

type merged struct {
	Key
	most    float64 // that one daemon counted
	listing float64 // what is unlisted at those that list it, together
}

func (m *merging) add(list []Key, unlisted float64) {
	if m.keys == nil {
		m.keys = map[Key]*merged{}
	}
	for _, k := range list {
		name := Key{Resource: k.Resource, Prefix: k.Prefix, Method: k.Method, Digest: k.Digest}
		sum := m.keys[name]
		if sum == nil {
			sum = &merged{Key: name}
			m.keys[name] = sum
		}
		if k.Count >= sum.most { // levels may differ while a quota changes
			sum.most, sum.Level = k.Count, k.Level
		}
		sum.Count += k.Count
		sum.Error += k.Error
		sum.listing += unlisted
	}
	m.unlisted += unlisted
}

func (m *merging) sorted() []Key {
	list := make([]Key, 0, len(m.keys)) // [] in JSON
	for _, sum := range m.keys {
		k := sum.Key
		if rest := m.unlisted - sum.listing; rest > 1e-9*math.Max(1, m.unlisted) { // else it is of rounding
			k.Error += rest
		}
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b Key) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Prefix, b.Prefix),
			cmp.Compare(a.Method, b.Method), cmp.Compare(a.Digest, b.Digest))
	})
	return list
}
