package proxy

import "slices"

// turn is whose turn an attempt is, and who could have it instead.
type turn struct {
	routes *routes
	rank   []uint16 // all limiters, the best first
	room   [few]uint16
	size   int    // of the group: the first of rank
	key    uint64 // of the resource, as ranks are made from it
	number uint32 // of the bucket's turn

	tried []*upstream // those that are not to be asked, because they were
	kept  int         // so many of them are never to be asked again
}

// never has a limiter that was tried not be asked again, also when it is tried
// anew with all others. It may have decided the attempt already.
func (t *turn) never(u *upstream) {
	if i := slices.Index(t.tried[t.kept:], u); i >= 0 {
		t.tried[t.kept], t.tried[t.kept+i] = t.tried[t.kept+i], t.tried[t.kept]
		t.kept++
	}
}

// anew has those who were tried be asked again, if they may.
func (t *turn) anew() {
	clear(t.tried[t.kept:])
	t.tried = t.tried[:t.kept]
}

// at returns the limiter of a place in the rank.
func (t *turn) at(place int) *upstream { return t.routes.upstreams[t.rank[place]] }

// place is the one that the turn is dealt to.
func (t *turn) place() int { return int(t.number % uint32(t.size)) }

// pick returns who is asked next, or nil if nobody can be. It is the limiter that
// the turn is dealt to, if that gets its turns. If not, a stand-in has them until
// it does: the first one after the group for the first limiter of the group that
// is missing, the next for the next, so that none has to serve two shares.
//
// When no stand-in is left, one that came back a moment ago has its turn after all,
// and those of limiters that are away go to the rest of the group, one after the
// other.
func (t *turn) pick(now int64) *upstream {
	eased := func(u *upstream) bool { return u.usable(now, t.key) && !slices.Contains(t.tried, u) }
	if u := t.at(t.place()); eased(u) {
		return u
	}
	if u := t.standIn(eased); u != nil {
		return u
	}
	up := func(u *upstream) bool { return u.Up() && !slices.Contains(t.tried, u) }
	if u := t.at(t.place()); up(u) {
		return u
	}
	if u := t.standIn(up); u != nil {
		return u
	}
	return t.rest(up)
}

// standIn returns the limiter outside the group that has the turn instead of the
// one it is dealt to, or nil if those who can are fewer than those who are missing.
func (t *turn) standIn(can func(*upstream) bool) *upstream {
	before, _ := t.missing(can)
	for place := t.size; place < len(t.rank); place++ {
		if u := t.at(place); can(u) {
			if before == 0 {
				return u
			}
			before--
		}
	}
	return nil
}

// missing returns how many of the group can not, in all and before the place that
// the turn is dealt to.
func (t *turn) missing(can func(*upstream) bool) (before, all int) {
	for place := range t.size {
		if can(t.at(place)) {
			continue
		}
		if all++; place < t.place() {
			before++
		}
	}
	return before, all
}

// rest returns the limiter of the group that has the turn of another, or whoever
// can when there is none: a stand-in with two shares is better than no answer.
func (t *turn) rest(can func(*upstream) bool) *upstream {
	standIns := 0
	for place := t.size; place < len(t.rank); place++ {
		if can(t.at(place)) {
			standIns++
		}
	}
	before, all := t.missing(can)
	if left := t.size - all; left > 0 {
		// The turns that nobody stands in for are counted through.
		round := int(t.number / uint32(t.size))
		return t.nth((round*max(1, all-standIns)+max(0, before-standIns))%left, can)
	}
	return t.nth(0, can)
}

// nth returns the limiter of that place in the rank of those who can, or nil.
func (t *turn) nth(n int, can func(*upstream) bool) *upstream {
	for place := range t.rank {
		if u := t.at(place); can(u) {
			if n == 0 {
				return u
			}
			n--
		}
	}
	return nil
}

// other returns the next limiter of the group that can be asked besides the one
// that the turn is dealt to, or nil.
func (t *turn) other(now int64) *upstream {
	for step := 1; step < t.size; step++ {
		u := t.at((t.place() + step) % t.size)
		if u.usable(now, t.key) && !slices.Contains(t.tried, u) {
			return u
		}
	}
	return nil
}
