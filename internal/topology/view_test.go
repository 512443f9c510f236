package topology

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"
)

func limiter(id string, s State) Member {
	return Member{
		ID: id, Role: Limiter, State: s, Incarnation: 1,
		Gossip: netip.MustParseAddrPort("10.0.0.1:7373"), Service: netip.MustParseAddrPort("10.0.0.1:5454"),
	}
}

func observer(id string, s State) Member {
	m := limiter(id, s)
	m.Role = Observer
	return m
}

func ids(members []Member) (ids []string) {
	for _, m := range members {
		ids = append(ids, m.ID)
	}
	return ids
}

func TestView(t *testing.T) {
	v := NewView(7, []Member{
		limiter("e", Serving), observer("o", Serving), limiter("c", Starting), limiter("b", Silent),
		limiter("a", Serving), limiter("d", Draining), observer("p", Silent), limiter("f", Silent),
	})
	if v.Revision() != 7 {
		t.Errorf("revision %d", v.Revision())
	}
	if got, want := ids(v.Members()), []string{"a", "b", "c", "d", "e", "f", "o", "p"}; !slices.Equal(got, want) {
		t.Errorf("members %v, want %v", got, want)
	}
	if got, want := ids(v.Serving()), []string{"a", "e"}; !slices.Equal(got, want) {
		t.Errorf("serving %v, want %v", got, want)
	}
	if v.Live() != 2 || v.Known() != 4 {
		t.Errorf("%d live, %d known, want 2 and 4", v.Live(), v.Known())
	}
	counts := map[string]int{}
	for _, r := range Roles {
		for _, s := range States {
			if n := v.Count(r, s); n > 0 {
				counts[fmt.Sprint(r, " ", s)] = n
			}
		}
	}
	want := map[string]int{
		"limiter serving": 2, "limiter starting": 1, "limiter draining": 1, "limiter silent": 2,
		"observer serving": 1, "observer silent": 1,
	}
	if fmt.Sprint(counts) != fmt.Sprint(want) {
		t.Errorf("counts %v, want %v", counts, want)
	}
}

func TestGroupSize(t *testing.T) {
	for _, c := range []struct{ live, wanted, want int }{
		{0, 1, 1}, {0, 3, 1}, {1, 3, 1}, {3, 1, 1}, {3, 3, 3}, {3, 4, 3}, {3, 0, 1}, {5, 2, 2},
	} {
		var m []Member
		for i := range c.live {
			m = append(m, limiter(fmt.Sprint("l", i), Serving))
		}
		m = append(m, limiter("s", Silent), limiter("d", Draining), observer("o", Serving))
		if got := NewView(1, m).GroupSize(c.wanted); got != c.want {
			t.Errorf("%d live, %d wanted: %d, want %d", c.live, c.wanted, got, c.want)
		}
	}
}

// The group is among those that serve, is the same for everybody, and changes by
// the member alone that stops to serve; stand-ins follow.
func TestAppendRank(t *testing.T) {
	m := []Member{limiter("a", Serving), limiter("b", Serving), limiter("c", Serving), limiter("d", Serving), observer("o", Serving)}
	v := NewView(1, slices.Clone(m))
	slices.Reverse(m)
	other := NewView(9, slices.Clone(m))
	m[1].State = Draining // d
	without := NewView(2, m)

	firsts := map[string]int{}
	for i := range 400 {
		resource := []byte(fmt.Sprint("resource ", i))
		names := func(v *View, n int) (names []string) {
			for _, at := range v.AppendRank(nil, resource, n) {
				names = append(names, v.Serving()[at].ID)
			}
			return names
		}
		all := names(v, 10)
		if len(all) != 4 || !slices.Equal(all, names(other, 4)) || !slices.Equal(all[:2], names(v, 2)) {
			t.Fatalf("%s: ranks %v, %v and %v", resource, all, names(other, 4), names(v, 2))
		}
		firsts[all[0]]++
		rest := slices.DeleteFunc(all, func(id string) bool { return id == "d" })
		if got := names(without, 4); !slices.Equal(got, rest) {
			t.Fatalf("%s: without d %v, want %v", resource, got, rest)
		}
	}
	for _, id := range []string{"a", "b", "c", "d"} {
		if firsts[id] < 50 {
			t.Errorf("%s is first for %d of 400", id, firsts[id])
		}
	}
	if got := NewView(1, nil).AppendRank(nil, []byte("x"), 3); got != nil {
		t.Errorf("nobody ranks %v", got)
	}
}

// A member of twice the weight has twice the resources.
func TestRankByWeight(t *testing.T) {
	heavy := limiter("a", Serving)
	heavy.Weight = 2
	v := NewView(1, []Member{heavy, limiter("b", Serving)})
	won := 0
	for i := range 3000 {
		if v.AppendRank(nil, fmt.Append(nil, i), 1)[0] == 0 {
			won++
		}
	}
	if won < 1900 || won > 2100 {
		t.Errorf("the heavy one is first for %d of 3000, want about 2000", won)
	}
}

func TestSame(t *testing.T) {
	base := func() []Member { return []Member{limiter("a", Serving), observer("o", Serving)} }
	v := NewView(1, base())
	later := base()
	later[0].Since = time.Unix(1, 0)
	if !v.Same(NewView(2, later)) {
		t.Error("Since makes a difference")
	}
	for what, change := range map[string]func(*Member){
		"ID":          func(m *Member) { m.ID = "b" },
		"Role":        func(m *Member) { m.Role = Observer },
		"Incarnation": func(m *Member) { m.Incarnation++ },
		"State":       func(m *Member) { m.State = Silent },
		"Gossip":      func(m *Member) { m.Gossip = m.Service },
		"Service":     func(m *Member) { m.Service = m.Gossip },
		"Version":     func(m *Member) { m.Version = "2" },
		"Weight":      func(m *Member) { m.Weight = 2 },
	} {
		m := base()
		change(&m[0])
		if v.Same(NewView(1, m)) {
			t.Errorf("%s makes no difference", what)
		}
	}
	if v.Same(NewView(1, base()[:1])) {
		t.Error("a member fewer makes no difference")
	}
}
