package topology

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const forget = 600 * time.Second

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// overlay plays transcripts to trackers, each named by a letter. A line is a time
// in seconds, which tracker, what happens, and, after a bar, whom the tracker sees
// then: "a@2=serving:7" is the second incarnation of a, which it has first seen
// serving at 7 seconds. What happens is one of
//
//	alive a@2 serving [port]    join and update
//	gone a@2                    leave or failure
//	forget a                    by the operator; forget! is refused
//	merge B                     takes over what tracker B remembers; merge! is no news
//	look                        nothing
type overlay struct {
	t        *testing.T
	trackers map[string]*Tracker
	seen     map[string]*View
}

func play(t *testing.T, transcript string) {
	t.Helper()
	o := &overlay{t, map[string]*Tracker{}, map[string]*View{}}
	for line := range strings.Lines(transcript) {
		did, want, ok := strings.Cut(strings.TrimSpace(line), "|")
		if !ok {
			continue
		}
		if got := o.step(strings.Fields(did)); got != strings.TrimSpace(want) {
			t.Fatalf("after %q:\n got %s\nwant %s", did, got, strings.TrimSpace(want))
		}
	}
}

func (o *overlay) step(words []string) string {
	o.t.Helper()
	seconds, err := strconv.ParseFloat(words[0], 64)
	if err != nil {
		o.t.Fatal(err)
	}
	now := epoch.Add(time.Duration(seconds * float64(time.Second)))
	who, what, args := words[1], words[2], words[3:]
	tr := o.tracker(who)
	switch what {
	case "alive":
		m := parseRun(args[0])
		m.State = State(args[1])
		if len(args) > 2 {
			m.Gossip = netip.MustParseAddrPort("10.0.0.1:" + args[2])
		}
		tr.Alive(now, args[0], m)
	case "gone":
		tr.Gone(now, args[0])
	case "forget", "forget!":
		if _, err := tr.Forget(now, args[0]); (err != nil) != (what == "forget!") {
			o.t.Fatalf("%v: %v", words, err)
		}
	case "merge", "merge!":
		if news := tr.Merge(now, o.tracker(args[0]).Memory(now)); news != (what == "merge") {
			o.t.Fatalf("%v: news %v", words, news)
		}
	case "look":
	default:
		o.t.Fatalf("%v", words)
	}
	return o.look(now, who, tr)
}

func (o *overlay) tracker(who string) *Tracker {
	if o.trackers[who] == nil {
		o.trackers[who] = NewTracker(forget)
	}
	return o.trackers[who]
}

// look returns whom a tracker sees, and checks that the revision goes up when and
// only when that has changed.
func (o *overlay) look(now time.Time, who string, tr *Tracker) string {
	o.t.Helper()
	v := tr.View(now)
	if before := o.seen[who]; before != nil {
		if v != before && (v.Same(before) || v.Revision() != before.Revision()+1) {
			o.t.Fatalf("revision %d follows %d, same members: %v", v.Revision(), before.Revision(), v.Same(before))
		}
	} else if v.Revision() != 1 {
		o.t.Fatalf("the first revision is %d", v.Revision())
	}
	o.seen[who] = v
	if tr.View(now) != v {
		o.t.Fatal("another view without a change")
	}
	var words []string
	for _, m := range v.Members() {
		words = append(words, fmt.Sprintf("%s@%d=%s:%g", m.ID, m.Incarnation, m.State, m.Since.Sub(epoch).Seconds()))
	}
	return strings.Join(words, " ")
}

func parseRun(name string) Member {
	id, incarnation, _ := strings.Cut(name, "@")
	m := limiter(id, Serving)
	var err error
	if m.Incarnation, err = strconv.ParseInt(incarnation, 10, 64); err != nil {
		panic(err)
	}
	return m
}

func TestTracker(t *testing.T) {
	for name, transcript := range map[string]string{
		"a life": `
			0 A look               |
			1 A alive a@1 starting | a@1=starting:1
			2 A alive a@1 starting | a@1=starting:1
			3 A alive a@1 serving  | a@1=serving:3
			4 A alive b@1 serving  | a@1=serving:3 b@1=serving:4
			5 A alive a@1 serving  | a@1=serving:3 b@1=serving:4
			6 A alive a@1 draining | a@1=draining:6 b@1=serving:4
			7 A gone a@1           | b@1=serving:4
			8 A gone a@1           | b@1=serving:4
			9 A gone x@1           | b@1=serving:4`,
		"who crashes is silent until it is forgotten": `
			0 A alive a@1 serving  | a@1=serving:0
			1 A gone a@1           | a@1=silent:1
			600 A look             | a@1=silent:1
			601 A look             |
			602 A alive a@1 serving | a@1=serving:602`,
		"who is back is silent no more": `
			0 A alive a@1 serving  | a@1=serving:0
			1 A gone a@1           | a@1=silent:1
			2 A alive a@1 serving  | a@1=serving:2
			3 A gone a@1           | a@1=silent:3
			602 A look             | a@1=silent:3
			603 A look             |`,
		"who has never served leaves no gap": `
			0 A alive a@1 starting | a@1=starting:0
			1 A gone a@1           |`,
		"restarted after a crash": `
			0 A alive a@1 serving  | a@1=serving:0
			1 A gone a@1           | a@1=silent:1
			2 A alive a@2 starting | a@2=starting:2
			3 A alive a@2 serving  | a@2=serving:3`,
		"restarted before the crash was noticed": `
			0 A alive a@1 serving  | a@1=serving:0
			1 A alive a@2 starting | a@2=starting:1
			2 A alive a@2 serving  | a@2=serving:2
			3 A gone a@1           | a@2=serving:2
			4 A gone a@2           | a@2=silent:4`,
		"restarted, and heard of in the wrong order": `
			0 A alive a@2 serving  | a@2=serving:0
			1 A alive a@1 serving  | a@2=serving:0
			2 A gone a@1           | a@2=serving:0
			3 A alive a@2 draining | a@2=draining:3
			4 A gone a@2           |`,
		"a crash in the course of a restart": `
			0 A alive a@1 serving  | a@1=serving:0
			1 A gone a@1           | a@1=silent:1
			2 A alive a@2 starting | a@2=starting:2
			3 A gone a@2           |`,
		"a clock that was set back": `
			0 A alive a@9 serving  | a@9=serving:0
			1 A alive a@9 draining | a@9=draining:1
			2 A gone a@9           |
			3 A alive a@5 serving  | a@5=serving:3
			4 A gone a@5           | a@5=silent:4`,
		"two at once": `
			0 A alive a@1 serving  | a@1=serving:0
			1 A alive a@2 serving  | a@2=serving:1
			2 A gone a@2           | a@1=serving:0
			3 A alive a@2 serving  | a@2=serving:3
			4 A gone a@1           | a@2=serving:3`,
		"two at once, and the later leaves": `
			0 A alive a@1 serving  | a@1=serving:0
			1 A alive a@2 draining | a@2=draining:1
			2 A gone a@2           | a@1=serving:0
			3 A gone a@1           | a@1=silent:3
			4 B merge A            | a@1=silent:3`,
		"old news of who left": `
			0 A alive a@1 serving  | a@1=serving:0
			1 A alive a@1 draining | a@1=draining:1
			2 A gone a@1           |
			3 A alive a@1 serving  |
			4 A gone a@1           |
			5 A alive a@1 draining | a@1=draining:5
			6 A gone a@1           |
			1202 A look              |
			1203 A alive a@1 serving | a@1=serving:1203`,
		"forgotten by the operator": `
			0 A alive a@1 serving  | a@1=serving:0
			1 A forget! a          | a@1=serving:0
			2 A gone a@1           | a@1=silent:2
			3 A forget! b          | a@1=silent:2
			4 A forget a           |
			5 A forget! a          |
			6 A alive a@1 serving  | a@1=serving:6
			7 A gone a@1           | a@1=silent:7`,
		"a newcomer learns who is silent, and forgets in time": `
			0 A alive a@1 serving  | a@1=serving:0
			100 A gone a@1         | a@1=silent:100
			300 B merge A          | a@1=silent:100
			301 B merge! A         | a@1=silent:100
			302 A merge! B         | a@1=silent:100
			699 B look             | a@1=silent:100
			700 B look             |`,
		"what is about to be forgotten is not learned": `
			0 A alive a@1 serving  | a@1=serving:0
			0 B alive a@1 serving  | a@1=serving:0
			1 A gone a@1           | a@1=silent:1
			5 B gone a@1           | a@1=silent:5
			600 C merge! B         |
			601 A merge! B         |
			604 A merge! B         |`,
		"who is alive here is not silent": `
			0 A alive a@1 serving  | a@1=serving:0
			1 A gone a@1           | a@1=silent:1
			2 B alive a@2 starting | a@2=starting:2
			3 B merge! A           | a@2=starting:2`,
		"the later of two silent runs counts": `
			0 A alive a@1 serving  | a@1=serving:0
			1 A gone a@1           | a@1=silent:1
			2 B alive a@2 serving  | a@2=serving:2
			3 B gone a@2           | a@2=silent:3
			4 B merge! A           | a@2=silent:3
			5 A merge B            | a@2=silent:3`,
		"who left here is not silent, nor there any more": `
			0 A alive a@1 serving  | a@1=serving:0
			0 B alive a@1 serving  | a@1=serving:0
			1 A alive a@1 draining | a@1=draining:1
			2 A gone a@1           |
			3 B gone a@1           | a@1=silent:3
			4 A merge! B           |
			5 B merge A            |
			6 B merge! A           |
			7 C merge A            |
			8 B alive a@1 serving  |`,
		"who left after a restart that others have not seen": `
			0 A alive a@1 serving  | a@1=serving:0
			1 A gone a@1           | a@1=silent:1
			2 B alive a@2 serving  | a@2=serving:2
			3 B alive a@2 draining | a@2=draining:3
			4 B gone a@2           |
			5 B merge! A           |
			6 A merge B            |`,
		"forgotten everywhere, and not brought back": `
			0 A alive a@1 serving  | a@1=serving:0
			1 A gone a@1           | a@1=silent:1
			2 B merge A            | a@1=silent:1
			3 C merge A            | a@1=silent:1
			4 A forget a           |
			5 B merge A            |
			6 B merge! C           |
			7 D merge C            | a@1=silent:1
			8 D merge B            |
			9 C alive a@1 serving  | a@1=serving:9
			10 C merge! A          | a@1=serving:9
			11 A alive a@1 serving | a@1=serving:11
			12 A gone a@1          | a@1=silent:12`,
		"forgotten, back, and silent once more": `
			0 A alive a@1 serving  | a@1=serving:0
			1 A gone a@1           | a@1=silent:1
			2 A forget a           |
			3 A alive a@1 serving  | a@1=serving:3
			3 B alive a@1 serving  | a@1=serving:3
			4 B gone a@1           | a@1=silent:4
			5 B merge! A           | a@1=silent:4`,
		"forgotten here, and known there to have left": `
			0 A alive a@1 serving  | a@1=serving:0
			1 A gone a@1           | a@1=silent:1
			2 A forget a           |
			2 B alive a@1 draining | a@1=draining:2
			3 B gone a@1           |
			4 A merge B            |
			5 A alive a@1 serving  |`,
		"forgotten there, alive and then silent here": `
			0 A alive a@1 serving  | a@1=serving:0
			1 A gone a@1           | a@1=silent:1
			2 A forget a           |
			3 B alive a@2 serving  | a@2=serving:3
			4 B gone a@2           | a@2=silent:4
			5 B merge A            | a@2=silent:4
			6 A merge B            | a@2=silent:4`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(t, transcript)
		})
	}
}

// Two processes with one ID are told of when they have been alive together for
// longer than a restart explains, and at two addresses.
func TestDuplicates(t *testing.T) {
	o := &overlay{t, map[string]*Tracker{}, map[string]*View{}}
	duplicates := func(at int) string {
		return fmt.Sprint(o.tracker("A").Duplicates(epoch.Add(time.Duration(at) * time.Second)))
	}
	for _, s := range []struct {
		do   string
		at   int
		want string
	}{
		{"0 A alive a@1 serving 1", 100, "[]"},
		{"100 A alive a@2 serving 2", 119, "[]"},
		{"119 A alive b@1 serving 3", 120, "[a]"},
		{"121 A alive b@2 serving 3", 200, "[a]"}, // at one address there is one process
		{"200 A alive c@1 serving 4", 200, "[a]"},
		{"200 A alive c@2 serving 5", 220, "[a c]"},
		{"220 A alive c@3 serving 6", 240, "[a c]"},
		{"240 A gone a@1", 241, "[c]"},
		{"241 A gone c@3", 242, "[c]"},
		{"242 A gone c@1", 243, "[]"},
	} {
		o.step(strings.Fields(s.do))
		if got := duplicates(s.at); got != s.want {
			t.Errorf("after %q, at %d: %s, want %s", s.do, s.at, got, s.want)
		}
	}
}

func TestForgetErrors(t *testing.T) {
	tr := NewTracker(forget)
	tr.Alive(epoch, "a@1", limiter("a", Serving))
	for id, want := range map[string]string{
		"a": `member "a" is alive; only a silent member can be forgotten`,
		"b": `no member "b" is known`,
	} {
		if _, err := tr.Forget(epoch, id); err == nil || err.Error() != want {
			t.Errorf("Forget(%s) = %v", id, err)
		}
	}
	tr.Gone(epoch, "a@1")
	m, err := tr.Forget(epoch, "a")
	if want := (Ended{ID: "a", Incarnation: 1}); err != nil || len(m.Silent) != 0 || !slices.Equal(m.Ended, []Ended{want}) {
		t.Errorf("Forget returns %+v, %v", m, err)
	}
}

// Of more than can be remembered the oldest go first; from others nothing more
// is learned.
func TestTrackerIsBounded(t *testing.T) {
	tr, other := NewTracker(forget), NewTracker(forget)
	at := func(i int) time.Time { return epoch.Add(time.Duration(i) * time.Millisecond) }
	for i := range maxRemembered + 10 {
		id := fmt.Sprintf("s%04d", i)
		tr.Alive(at(i), id+"@1", limiter(id, Serving))
		tr.Gone(at(i), id+"@1")
		id = fmt.Sprintf("e%04d", i)
		tr.Alive(at(i), id+"@1", limiter(id, Draining))
		tr.Gone(at(i), id+"@1")
	}
	m := tr.Memory(at(maxRemembered + 10))
	if len(m.Silent) != maxRemembered || m.Silent[0].Member.ID != "s0010" {
		t.Errorf("%d silent members are remembered, the oldest %s", len(m.Silent), m.Silent[0].Member.ID)
	}
	if len(m.Ended) != maxRemembered || m.Ended[0].ID != "e0010" {
		t.Errorf("%d ended runs are remembered, the oldest %s", len(m.Ended), m.Ended[0].ID)
	}
	other.Alive(epoch, "x@1", limiter("x", Serving))
	other.Gone(epoch, "x@1")
	other.Alive(epoch, "y@1", limiter("y", Draining))
	other.Gone(epoch, "y@1")
	if tr.Merge(at(maxRemembered+10), other.Memory(epoch)) {
		t.Error("more is learned than can be remembered")
	}
	if !other.Merge(at(maxRemembered+10), m) {
		t.Error("nothing is learned")
	}
	if m := other.Memory(at(maxRemembered + 10)); len(m.Silent) != maxRemembered || len(m.Ended) != maxRemembered {
		t.Errorf("%d silent members and %d ended runs are remembered after learning", len(m.Silent), len(m.Ended))
	}
}
