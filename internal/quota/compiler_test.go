package quota

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/tree"
)

// house is a tree under change with its compiler.
type house struct {
	t        *testing.T
	entries  map[string]string
	compiler *Compiler
	revision int64
}

func newHouse(t *testing.T, entries map[string]string) *house {
	return &house{t: t, entries: maps.Clone(entries), compiler: NewCompiler()}
}

// compile returns the snapshot and the faulty keys.
func (h *house) compile() (*Snapshot, []string) {
	h.t.Helper()
	h.revision++
	s, faults := h.compiler.Compile(&tree.Tree{Revision: h.revision, Entries: maps.Clone(h.entries)})
	if s.Revision != h.revision {
		h.t.Errorf("the snapshot's revision is %d, want %d", s.Revision, h.revision)
	}
	var keys []string
	for _, f := range faults {
		if f.Err == nil || !strings.HasPrefix(f.Error(), f.Key+": ") {
			h.t.Errorf("the fault %v names no key or no error", f)
		}
		keys = append(keys, f.Key)
	}
	if !slices.IsSorted(keys) {
		h.t.Errorf("the faults are not sorted: %q", keys)
	}
	return s, keys
}

// expect compiles and compares the faulty keys.
func (h *house) expect(faulty ...string) *Snapshot {
	h.t.Helper()
	s, keys := h.compile()
	if !slices.Equal(keys, faulty) {
		h.t.Errorf("at fault are %q, want %q", keys, faulty)
	}
	return s
}

func expectRate(t *testing.T, s *Snapshot, r, m string, want int) {
	t.Helper()
	if got, level := resolve(s, r, "", m); got != want {
		t.Errorf("(%s, -, %s): rate %d at level %v, want %d", r, m, got, level, want)
	}
}

// Every bad value over a good one: the good one stays, and other keys go on.
func TestBadValueKeepsTheGoodOne(t *testing.T) {
	for _, key := range []string{"limit/key_default", "limit/key/R/quota", "limit/key/R/sublimit/M", "limit/subkey_default/M"} {
		h := newHouse(t, map[string]string{key: numbered(5), "limit/key/other/quota": numbered(1)})
		h.expect()
		for i, bad := range badValues {
			h.entries[key] = bad.text
			h.entries["limit/key/other/quota"] = numbered(i + 2)
			s := h.expect(key)
			expectRate(t, s, "R", "M", 5)
			expectRate(t, s, "other", "", i+2)
			if got := h.compiler.InForce()[key]; got != numbered(5) {
				t.Errorf("%s: in force is %q", key, got)
			}
		}
		h.entries[key] = numbered(6)
		expectRate(t, h.expect(), "R", "M", 6)
	}
}

func TestBadFactorKeepsTheGoodOne(t *testing.T) {
	h := newHouse(t, map[string]string{"factor/default": "2", "factor/key/R": "3"})
	h.expect()
	h.entries["factor/default"], h.entries["factor/key/R"] = "0", "many"
	s := h.expect("factor/default", "factor/key/R")
	if s.Factor([]byte("R")) != 3 || s.Factor([]byte("other")) != 2 {
		t.Errorf("factors %d and %d, want 3 and 2", s.Factor([]byte("R")), s.Factor([]byte("other")))
	}
}

func TestBadValueWithoutAGoodOneIsAbsent(t *testing.T) {
	h := newHouse(t, map[string]string{"limit/key/R/quota": "not json", "limit/key_default": numbered(1), "factor/key/R": "-1", "factor/default": "2"})
	s := h.expect("factor/key/R", "limit/key/R/quota")
	expectRate(t, s, "R", "", 1) // falls to the next place
	if got := s.Factor([]byte("R")); got != 2 {
		t.Errorf("factor %d, want 2", got)
	}
	if got := h.compiler.InForce(); len(got) != 2 {
		t.Errorf("in force are %q", got)
	}
}

func TestFaultsAreListedAgainUntilMended(t *testing.T) {
	h := newHouse(t, map[string]string{"limit/key/R/quota": numbered(1)})
	h.expect()
	h.entries["limit/key/R/quota"] = "bad"
	h.entries["limt/key_default"] = numbered(1)
	for range 3 {
		h.expect("limit/key/R/quota", "limt/key_default")
	}
	delete(h.entries, "limt/key_default")
	h.expect("limit/key/R/quota")
	h.entries["limit/key/R/quota"] = numbered(1)
	h.expect()
}

func TestDeletedEntryIsForgotten(t *testing.T) {
	h := newHouse(t, map[string]string{"limit/key/R/quota": numbered(5), "limit/key_default": numbered(1)})
	h.expect()
	h.entries["limit/key/R/quota"] = "bad"
	expectRate(t, h.expect("limit/key/R/quota"), "R", "", 5)
	delete(h.entries, "limit/key/R/quota")
	expectRate(t, h.expect(), "R", "", 1)
	h.entries["limit/key/R/quota"] = "bad" // the last good one does not rise from the dead
	expectRate(t, h.expect("limit/key/R/quota"), "R", "", 1)
}

func TestLastGoodBelongsToTheStoredKey(t *testing.T) {
	h := newHouse(t, map[string]string{"limit/key/a/b/quota": numbered(5)})
	h.expect()
	delete(h.entries, "limit/key/a/b/quota")
	h.entries["limit/key/a%2Fb/quota"] = "bad"
	expectRate(t, h.expect("limit/key/a%2Fb/quota"), "a/b", "", 0)
}

func TestTwoSpellingsOfOneEntry(t *testing.T) {
	const canonical, plain, lower = "limit/key/a%2Fb/quota", "limit/key/a/b/quota", "limit/key/a%2fb/quota"
	h := newHouse(t, map[string]string{plain: numbered(1)})
	expectRate(t, h.expect(), "a/b", "", 1)

	h.entries[canonical] = numbered(2)
	expectRate(t, h.expect(plain), "a/b", "", 2)
	if got := h.compiler.InForce(); len(got) != 1 || got[canonical] != numbered(2) {
		t.Errorf("in force are %q", got)
	}

	h.entries[lower] = numbered(3)
	expectRate(t, h.expect(lower, plain), "a/b", "", 2)

	delete(h.entries, canonical) // now the first in byte order, % before /
	expectRate(t, h.expect(plain), "a/b", "", 3)

	h.entries[lower] = "bad" // has a last good one, and so stays
	expectRate(t, h.expect(lower, plain), "a/b", "", 3)

	h.entries[canonical] = "bad" // has none, and so is absent
	expectRate(t, h.expect(canonical, lower, plain), "a/b", "", 3)

	h.entries[plain] = "bad" // two reasons, one fault
	expectRate(t, h.expect(canonical, lower, plain), "a/b", "", 3)

	delete(h.entries, lower)
	s := h.expect(canonical, plain)
	expectRate(t, s, "a/b", "", 1)
	if s.Quotas() != 1 {
		t.Errorf("%d quotas, want 1", s.Quotas())
	}

	delete(h.entries, plain)
	expectRate(t, h.expect(canonical), "a/b", "", 0)
}

func TestFaultNamesTheWinner(t *testing.T) {
	_, faults := NewCompiler().Compile(&tree.Tree{Entries: map[string]string{
		"limit/key/R/sublimit/b/c": numbered(1), "limit/key/R/sublimit/b%2Fc": numbered(2),
		"factor/key/%61": "1", "factor/key/a": "2",
	}})
	if len(faults) != 2 ||
		faults[0].Key != "factor/key/%61" || !strings.Contains(faults[0].Err.Error(), "factor/key/a,") ||
		faults[1].Key != "limit/key/R/sublimit/b/c" || !strings.Contains(faults[1].Err.Error(), "limit/key/R/sublimit/b%2Fc,") {
		t.Errorf("the faults are %v", faults)
	}
}

func TestInForceFillsACache(t *testing.T) {
	h := newHouse(t, map[string]string{
		"limit/key/R/quota": numbered(5), "limit/key/S/quota": "bad", "limit/kee": "x", "factor/default": "2",
		"limit/key/a/b/quota": numbered(1), "limit/key/a%2Fb/quota": numbered(2),
		"observer/obs-1": `{"gossip": "1.2.3.4:7373"}`, "observer/": "x", "future/thing": "y", "limt/z": "z",
	})
	h.compile()
	h.entries["limit/key/R/quota"] = "bad"
	h.entries["observer/obs-1"] = "moved"
	h.compile()
	want := map[string]string{
		"limit/key/R/quota": numbered(5), "factor/default": "2", "limit/key/a%2Fb/quota": numbered(2),
		"observer/obs-1": "moved", "observer/": "x", "future/thing": "y", "limt/z": "z",
	}
	got := h.compiler.InForce()
	if !maps.Equal(got, want) {
		t.Errorf("in force are %q, want %q", got, want)
	}
	s, _ := NewCompiler().Compile(&tree.Tree{Entries: got})
	expectRate(t, s, "R", "", 5)
	expectRate(t, s, "a/b", "", 2)
}

func TestEntriesOfOthersAreNoFaults(t *testing.T) {
	h := newHouse(t, map[string]string{"observer/a": "", "observer/b/c": "not json", "observers": "", "observer": "", "gossip/a": ""})
	h.expect("gossip/a", "observer", "observers")
}

func TestUnchangedQuotaIsTheSame(t *testing.T) {
	h := newHouse(t, map[string]string{"limit/key/R/quota": numbered(5), "limit/key/S/sublimit/M": numbered(1)})
	a := attempt.Attempt{Resource: []byte("R")}
	before, _ := h.expect().Resolve(&a)
	h.entries["limit/key/S/sublimit/M"] = numbered(2)
	after, _ := h.expect().Resolve(&a)
	if before != after {
		t.Error("a quota that did not change was parsed again")
	}
}

func TestSnapshotsNeverChange(t *testing.T) {
	h := newHouse(t, map[string]string{
		"limit/key/R/quota": numbered(1), "limit/key/R/sublimit/M": numbered(2), "limit/subkey_default/N": numbered(3),
		"limit/key_default": numbered(4), "factor/key/R": "5", "factor/default": "6",
	})
	old := h.expect()
	check := func() {
		t.Helper()
		expectRate(t, old, "R", "", 1)
		expectRate(t, old, "R", "M", 2)
		expectRate(t, old, "S", "N", 3)
		expectRate(t, old, "S", "", 4)
		if old.Factor([]byte("R")) != 5 || old.Factor([]byte("S")) != 6 || old.Quotas() != 4 || old.MaxFactor() != 6 {
			t.Errorf("factors %d, %d, %d; %d quotas", old.Factor([]byte("R")), old.Factor([]byte("S")), old.MaxFactor(), old.Quotas())
		}
	}
	for key := range h.entries {
		if strings.HasPrefix(key, "factor") {
			h.entries[key] = "9"
		} else {
			h.entries[key] = numbered(9)
		}
	}
	h.expect()
	check()
	clear(h.entries)
	if s := h.expect(); s.Quotas() != 0 || s.MaxFactor() != 1 {
		t.Errorf("of an empty tree, %d quotas and the factor %d are left", s.Quotas(), s.MaxFactor())
	}
	check()
}

// model is the rule of what is in force, said as plainly as it can be.
type model struct{ good map[string]string } // last good values, by stored key

// next takes a version of the tree and returns what is in force after it.
func (m *model) next(entries map[string]string) map[string]string {
	maps.DeleteFunc(m.good, func(key, _ string) bool { _, stored := entries[key]; return !stored })
	inForce, winners := map[string]string{}, map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		raw := entries[key]
		p, err := ParsePath(key)
		if strings.HasPrefix(key, "observer/") {
			inForce[key] = raw
			continue
		}
		if err == nil && (p.Kind == KindFactorDefault || p.Kind == KindFactorKey) {
			_, err = ParseFactor(raw)
		} else if err == nil {
			_, err = ParseQuota(raw)
		}
		if err == nil {
			m.good[key] = raw
		}
		if _, valid := m.good[key]; valid && (winners[p.String()] == "" || key == p.String()) {
			winners[p.String()] = key
		}
	}
	for _, key := range winners {
		inForce[key] = m.good[key]
	}
	return inForce
}

// Whatever changes came before, what is in force follows the rule, and the
// snapshot is the one that a new compiler makes of it.
func TestCompileStepByStepEqualsAtOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	keys := []string{
		KeyDefault, "limit/key/a/quota", "limit/key/%61/quota", "limit/key/a/b/quota", "limit/key/a%2Fb/quota", "limit/key/a%2fb/quota",
		"limit/key/a/sublimit/b", "limit/key/a/sublimit/b/a", "limit/key/a/sublimit/b%2Fa", "limit/key/a/b/sublimit/a",
		"limit/subkey_default/a", "limit/subkey_default/%61", "limit/subkey_default/b/a", "factor/default", "factor/key/a", "factor/key/%61",
		"limit/key/a/sublimit/quota", "limit/x", "observer/a",
	}
	values := []string{numbered(1), numbered(2), numbered(3), "bad", "1", "2", "3"}
	h := newHouse(t, map[string]string{})
	rule := model{good: map[string]string{}}
	for range 3000 {
		for range 1 + random.IntN(3) {
			key := keys[random.IntN(len(keys))]
			if random.IntN(3) == 0 {
				delete(h.entries, key)
			} else {
				h.entries[key] = values[random.IntN(len(values))]
			}
		}
		s, faulty := h.compile()
		inForce := h.compiler.InForce()
		if want := rule.next(h.entries); !maps.Equal(inForce, want) {
			t.Fatalf("of %q, in force are %q, want %q", h.entries, inForce, want)
		}
		for key, raw := range h.entries {
			if good, ok := inForce[key]; slices.Contains(faulty, key) == (ok && good == raw) {
				t.Fatalf("%s is %q, in force is %q, at fault are %q", key, raw, good, faulty)
			}
		}
		fresh, faults := NewCompiler().Compile(&tree.Tree{Entries: inForce})
		for _, f := range faults {
			t.Fatalf("in force is a fault: %v", f)
		}
		equalSnapshots(t, s, fresh)
	}
}

func equalSnapshots(t *testing.T, s, fresh *Snapshot) {
	t.Helper()
	parts := []string{"", "a", "b", "a/b", "b/a"}
	for _, r := range parts[1:] {
		if got, want := s.Factor([]byte(r)), fresh.Factor([]byte(r)); got != want {
			t.Fatalf("the factor of %s is %d, want %d", r, got, want)
		}
		for _, p := range parts {
			for _, m := range parts {
				rate, level := resolve(s, r, p, m)
				if want, wantLevel := resolve(fresh, r, p, m); rate != want || level != wantLevel {
					t.Fatalf("(%s, %s, %s): %d at level %v, want %d at %v", r, p, m, rate, level, want, wantLevel)
				}
			}
		}
	}
	if s.Quotas() != fresh.Quotas() || s.MaxFactor() != fresh.MaxFactor() || len(s.resources) != len(fresh.resources) {
		t.Fatalf("%d quotas, largest factor %d, %d resources; want %d, %d, %d",
			s.Quotas(), s.MaxFactor(), len(s.resources), fresh.Quotas(), fresh.MaxFactor(), len(fresh.resources))
	}
}
