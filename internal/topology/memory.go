package topology

import (
	"cmp"
	"slices"
	"time"
)

// Memory is what a tracker knows of members that are not alive: what somebody
// who joins later cannot see for itself. Times in it are ages, so that the clocks
// of two hosts need not agree.
type Memory struct {
	Silent []Remembered
	Ended  []Ended
}

// Remembered is a silent member.
type Remembered struct {
	Member Member // its State and Since are not looked at
	// Age is how long ago it fell silent.
	Age time.Duration
}

// Ended says that all runs of an instance up to an incarnation are over.
type Ended struct {
	ID          string
	Incarnation int64
	// Left says that the run announced it; else it was forgotten, or never
	// served.
	Left bool
	// Age is how long ago that was.
	Age time.Duration
}

// Memory returns what t knows of members that are not alive, in the order of
// their IDs.
func (t *Tracker) Memory(now time.Time) (m Memory) {
	t.expire(now)
	for _, s := range t.silent {
		m.Silent = append(m.Silent, Remembered{s, now.Sub(s.Since)})
	}
	for id, e := range t.ended {
		m.Ended = append(m.Ended, Ended{id, e.incarnation, e.left, now.Sub(e.at)})
	}
	slices.SortFunc(m.Silent, func(a, b Remembered) int { return cmp.Compare(a.Member.ID, b.Member.ID) })
	slices.SortFunc(m.Ended, func(a, b Ended) int { return cmp.Compare(a.ID, b.ID) })
	return m
}

// Merge takes over what another tracker remembers, and returns whether any of it
// was news. What is alive here is alive, whatever others remember.
func (t *Tracker) Merge(now time.Time, m Memory) (news bool) {
	for _, e := range m.Ended {
		if e.Age = max(0, e.Age); e.Age >= 2*t.forget || t.anyAlive(e.ID) {
			continue
		}
		if _, known := t.ended[e.ID]; !known && len(t.ended) >= maxRemembered {
			continue
		}
		news = t.end(e.ID, end{e.Incarnation, e.Left, now.Add(-e.Age)}) || news
	}
	for _, r := range m.Silent {
		news = t.remember(now, r) || news
	}
	return news
}

// remember takes over a silent member. One that is about to be forgotten is not
// worth it: it has just been here, perhaps, where its silence was noticed a little
// earlier.
func (t *Tracker) remember(now time.Time, r Remembered) bool {
	m, age := r.Member, max(0, r.Age)
	e, over := t.ended[m.ID]
	old, known := t.silent[m.ID]
	switch {
	case age >= t.forget-t.forget/10,
		t.anyAlive(m.ID),
		over && e.incarnation >= m.Incarnation,
		known && old.Incarnation >= m.Incarnation,
		!known && len(t.silent) >= maxRemembered:
		return false
	}
	m.State, m.Since = Silent, now.Add(-age)
	t.silent[m.ID] = m
	t.stale = true
	return true
}
