package topology

import (
	"fmt"
	"slices"
	"time"
)

// maxRemembered bounds how many silent members, and how many ended runs, a
// tracker remembers. Of more the oldest are dropped.
const maxRemembered = 1024

// togetherFor is how long two runs of one instance-id, at two addresses, must be
// alive together to be called a mistake. A crashed process counts as alive until
// its silence is noticed, while its next run is there already; in the largest
// clusters that can take this long.
const togetherFor = 20 * time.Second

// Tracker turns what the overlay says of its nodes into views.
//
// A node is one run of a process, under a name of its own; so there can be many
// nodes with one instance-id, of which a view shows one: one that is alive before
// one that is silent, and of those alive the one with the highest incarnation.
// Silent members are remembered for a while, since they may be behind a
// partition. What a run's end is known to be, it left or it was forgotten, is
// remembered too, lest others bring it back who have not heard.
//
// The states of a run go one way: starting, serving, draining. Times are
// arguments and never go back. A Tracker is for one goroutine at a time.
type Tracker struct {
	forget time.Duration
	alive  map[string]sighting // by name
	silent map[string]Member   // by ID; Since is when it fell silent
	ended  map[string]end      // by ID
	view   *View
	stale  bool // view may lag behind
}

// sighting is a node that is alive.
type sighting struct {
	member Member
	first  time.Time // when it was first seen, in any state
}

// end says that all runs up to an incarnation are over.
type end struct {
	incarnation int64
	left        bool // the run itself said so: it does not come back
	at          time.Time
}

// NewTracker returns a tracker that has seen nobody. It remembers a silent
// member for forget.
func NewTracker(forget time.Duration) *Tracker {
	return &Tracker{
		forget: forget,
		alive:  map[string]sighting{}, silent: map[string]Member{}, ended: map[string]end{},
		stale: true,
	}
}

// Alive says that the node called name is alive and has announced m, whether it
// is new or has changed. m.Since is not looked at.
func (t *Tracker) Alive(now time.Time, name string, m Member) {
	switch e, ok := t.ended[m.ID]; {
	case !ok || e.incarnation < m.Incarnation:
	case e.left && e.incarnation == m.Incarnation:
		if m.State != Draining {
			return // old news, from somebody who has not heard that it left
		}
	default:
		delete(t.ended, m.ID) // forgotten too early
	}
	s, known := t.alive[name]
	if !known {
		s.first = now
	}
	if m.Since = s.member.Since; !known || s.member.State != m.State {
		m.Since = now
	}
	s.member = m
	t.alive[name] = s
	delete(t.silent, m.ID)
	t.stale = true
}

// Gone says that the node called name is alive no more. It left if it had
// announced that it was draining, or has never served; else it is silent.
func (t *Tracker) Gone(now time.Time, name string) {
	s, ok := t.alive[name]
	if !ok {
		return
	}
	delete(t.alive, name)
	t.stale = true
	m := s.member
	switch {
	case m.State == Draining, m.State == Starting:
		t.end(m.ID, end{m.Incarnation, m.State == Draining, now})
	case !t.anyAlive(m.ID):
		m.State, m.Since = Silent, now
		if t.ended[m.ID].incarnation >= m.Incarnation {
			delete(t.ended, m.ID) // of another process with the same ID
		}
		makeRoom(t.silent, func(m Member) time.Time { return m.Since })
		t.silent[m.ID] = m
	}
}

// Forget removes the silent member id from the views, and returns what others
// must merge so that they do so too. Only silent members can be forgotten.
func (t *Tracker) Forget(now time.Time, id string) (Memory, error) {
	m, ok := t.silent[id]
	switch {
	case ok:
		t.end(id, end{m.Incarnation, false, now})
		return Memory{Ended: []Ended{{ID: id, Incarnation: m.Incarnation}}}, nil
	case t.anyAlive(id):
		return Memory{}, fmt.Errorf("member %q is alive; only a silent member can be forgotten", id)
	}
	return Memory{}, fmt.Errorf("no member %q is known", id)
}

// Duplicates returns, sorted, the IDs that several processes use at once: they
// have been alive together for longer than a restart explains. The view shows
// the one that was started last.
func (t *Tracker) Duplicates(now time.Time) (ids []string) {
	settled := map[string]Member{}
	for _, s := range t.alive {
		m := s.member
		if now.Sub(s.first) < togetherFor {
			continue
		}
		if other, ok := settled[m.ID]; ok && other.Gossip != m.Gossip {
			ids = append(ids, m.ID)
		}
		settled[m.ID] = m
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// View returns everybody as known now. It is the same view, with the same
// revision, for as long as nobody joins, leaves or changes.
func (t *Tracker) View(now time.Time) *View {
	t.expire(now)
	if !t.stale {
		return t.view
	}
	t.stale = false
	shown := map[string]Member{}
	for _, s := range t.alive {
		if m := s.member; m.Incarnation >= shown[m.ID].Incarnation {
			shown[m.ID] = m
		}
	}
	members := make([]Member, 0, len(shown)+len(t.silent))
	for _, m := range shown {
		members = append(members, m)
	}
	for _, m := range t.silent {
		members = append(members, m) // nobody alive has its ID
	}
	if t.view == nil {
		t.view = NewView(1, members)
	} else if v := NewView(t.view.revision+1, members); !v.Same(t.view) {
		t.view = v
	}
	return t.view
}

// expire forgets who has been silent for long, and, later, that runs are over:
// nobody can remember them as silent any more.
func (t *Tracker) expire(now time.Time) {
	for id, m := range t.silent {
		if now.Sub(m.Since) >= t.forget {
			delete(t.silent, id)
			t.stale = true
		}
	}
	for id, e := range t.ended {
		if now.Sub(e.at) >= 2*t.forget {
			delete(t.ended, id)
		}
	}
}

// end records that runs of id are over. It returns whether that was news.
func (t *Tracker) end(id string, e end) bool {
	old, ok := t.ended[id]
	if ok && (old.incarnation > e.incarnation || old.incarnation == e.incarnation && (old.left || !e.left)) {
		return false
	}
	if !ok {
		makeRoom(t.ended, func(e end) time.Time { return e.at })
	}
	t.ended[id] = e
	if m, ok := t.silent[id]; ok && m.Incarnation <= e.incarnation {
		delete(t.silent, id)
		t.stale = true
	}
	return true
}

func (t *Tracker) anyAlive(id string) bool {
	for _, s := range t.alive {
		if s.member.ID == id {
			return true
		}
	}
	return false
}

// makeRoom drops the oldest entry of a map that is full.
func makeRoom[V any](m map[string]V, at func(V) time.Time) {
	if len(m) < maxRemembered {
		return
	}
	var oldest string
	var when time.Time
	for key, v := range m {
		if t := at(v); oldest == "" || t.Before(when) {
			oldest, when = key, t
		}
	}
	delete(m, oldest)
}
