package quota

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/tree"
)

// compile makes a snapshot of entries that must all be sound.
func compile(t testing.TB, entries map[string]string) *Snapshot {
	t.Helper()
	s, faults := NewCompiler().Compile(&tree.Tree{Revision: 7, Entries: entries})
	for _, f := range faults {
		t.Error(f)
	}
	return s
}

// numbered is a quota that can be told from others by its rate.
func numbered(n int) string { return fmt.Sprintf(`{"rate": %d, "burst": 1}`, n) }

// resolve returns the rate of the quota that applies, 0 for none, and its level.
func resolve(s *Snapshot, r, p, m string) (int, attempt.Level) {
	q, level := s.Resolve(&attempt.Attempt{Resource: []byte(r), Prefix: []byte(p), Method: []byte(m)})
	if q == nil {
		return 0, level
	}
	return int(q.Rate().Num().Int64()), level
}

func TestResolveOrder(t *testing.T) {
	// From the most specific entry down: each round, the one that applied is
	// taken away.
	order := []struct {
		key   string
		level attempt.Level
	}{
		{"limit/key/R/sublimit/P/M", attempt.Full},
		{"limit/subkey_default/P/M", attempt.Full},
		{"limit/key/R/sublimit/M", attempt.Method},
		{"limit/subkey_default/M", attempt.Method},
		{"limit/key/R/quota", attempt.Resource},
		{"limit/key_default", attempt.Resource},
	}
	entries := map[string]string{
		// Entries for others never apply.
		"limit/key/R2/quota": numbered(90), "limit/key/R/sublimit/P": numbered(91), "limit/key/R/sublimit/P/M2": numbered(92),
		"limit/key/R/sublimit/P2/M": numbered(93), "limit/key/R2/sublimit/P/M": numbered(94), "limit/subkey_default/P": numbered(95),
		"limit/key/R/sublimit/m": numbered(96), "limit/key/R/sublimit/R": numbered(97), "limit/subkey_default/R/P/M": numbered(98),
	}
	for i, place := range order {
		entries[place.key] = numbered(i + 1)
	}
	for i, place := range order {
		got, level := resolve(compile(t, entries), "R", "P", "M")
		if got != i+1 || level != place.level {
			t.Errorf("%d at level %v applies, want %s", got, level, place.key)
		}
		delete(entries, place.key)
	}
	if got, level := resolve(compile(t, entries), "R", "P", "M"); got != 0 || level != attempt.None {
		t.Errorf("%d at level %v applies, want none", got, level)
	}
}

func TestResolve(t *testing.T) {
	long := strings.Repeat("k", attempt.MaxKeyPart)
	almost := strings.Repeat("k", shortJoin)
	s := compile(t, map[string]string{
		"limit/key_default":                    numbered(1), // as in the manual
		"limit/key/photos/quota":               numbered(2),
		"limit/key/photos/sublimit/albums/GET": numbered(3),
		"limit/key/photos/sublimit/GET":        numbered(4),
		"limit/key/photos/sublimit/albums":     numbered(5),
		"limit/subkey_default/POST":            numbered(6),
		"limit/subkey_default/a%2Fb/c":         numbered(7),
		"limit/key/photos/sublimit/DELETE":     `{"rate": 0, "burst": 0}`,
		"limit/key/videos/sublimit/GET":        numbered(8),
		"limit/key/a%2Fb/quota":                numbered(9),

		"limit/subkey_default/" + long + "/" + long:           numbered(10),
		"limit/subkey_default/" + almost + "/M":               numbered(11),
		"limit/subkey_default/" + almost[2:] + "/M":           numbered(12),
		"limit/key/" + long + "/sublimit/" + long:             numbered(13),
		"limit/key/" + long + "/sublimit/" + long + "/" + "M": numbered(14),
	})
	for _, c := range []struct {
		r, p, m string
		rate    int
		level   attempt.Level
	}{
		{"photos", "albums", "GET", 3, attempt.Full},
		{"photos", "", "GET", 4, attempt.Method},
		{"photos", "others", "GET", 4, attempt.Method},
		{"photos", "albums", "", 5, attempt.Full},
		{"photos", "albums", "PUT", 2, attempt.Resource}, // R/P is not on the way from R/P/M
		{"photos", "", "albums", 5, attempt.Method},      // the same entry, spelled by a method
		{"photos", "", "albums/GET", 3, attempt.Method},
		{"photos", "albums/GET", "", 3, attempt.Full},
		{"photos", "", "", 2, attempt.Resource},
		{"photos", "albums", "POST", 6, attempt.Method},
		{"photos", "", "DELETE", 0, attempt.Method}, // rate 0 is a quota too
		{"videos", "albums", "GET", 8, attempt.Method},
		{"videos", "", "", 1, attempt.Resource},
		{"unknown", "", "POST", 6, attempt.Method},
		{"unknown", "", "GET", 1, attempt.Resource},
		{"unknown", "a/b", "c", 7, attempt.Full},
		{"unknown", "a", "b/c", 7, attempt.Full},
		{"unknown", "a/b/c", "", 7, attempt.Full},
		{"unknown", "", "a/b/c", 7, attempt.Method},
		{"unknown", "x", "a/b/c", 7, attempt.Method},
		{"a/b", "", "", 9, attempt.Resource},
		{"a", "b", "", 1, attempt.Resource}, // not the resource a/b
		{"Photos", "albums", "GET", 1, attempt.Resource},
		{"unknown", long, long, 10, attempt.Full},
		{"unknown", long, long[1:], 1, attempt.Resource},
		{"unknown", almost, "M", 11, attempt.Full},
		{"unknown", almost[2:], "M", 12, attempt.Full},
		{long, long, "", 13, attempt.Full},
		{long, "", long, 13, attempt.Method},
		{long, long, "M", 14, attempt.Full},
		{"unknown", long + long, long, 1, attempt.Resource}, // longer than any attempt
	} {
		rate, level := resolve(s, c.r, c.p, c.m)
		if rate != c.rate || level != c.level {
			t.Errorf("(%.20s, %.20s, %.20s): %d at level %v, want %d at %v", c.r, c.p, c.m, rate, level, c.rate, c.level)
		}
	}
}

func TestZeroSnapshot(t *testing.T) {
	var s Snapshot
	a := attempt.Attempt{Resource: []byte("R"), Prefix: []byte("P"), Method: []byte("M")}
	if q, level := s.Resolve(&a); q != nil || level != attempt.None {
		t.Errorf("%v at level %v applies", q, level)
	}
	if s.Factor(a.Resource) != 1 || s.MaxFactor() != 1 || s.Quotas() != 0 {
		t.Errorf("factor %d, largest %d, %d quotas", s.Factor(a.Resource), s.MaxFactor(), s.Quotas())
	}
}

// Resolve is the first of Places that has a quota, for every attempt over a
// small alphabet, on random trees.
func TestResolveIsFirstOfPlaces(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	parts := []string{"", "a", "b", "a/b", "b/a", "a/a"}
	for range 60 {
		entries := map[string]string{}
		for n := range 15 {
			pick := func() string { return parts[1+random.IntN(len(parts)-1)] }
			keys := []string{KeyDefault, SubkeyDefault(pick()), ForKey(pick()), ForSubkey(pick(), pick(), ""), ForSubkey(pick(), pick(), pick())}
			entries[keys[random.IntN(len(keys))]] = numbered(n + 1)
		}
		s := compile(t, entries)
		for _, r := range parts[1:] {
			for _, p := range parts {
				for _, m := range parts {
					checkPlaces(t, s, entries, r, p, m)
				}
			}
		}
	}
}

func checkPlaces(t *testing.T, s *Snapshot, entries map[string]string, r, p, m string) {
	t.Helper()
	a := &attempt.Attempt{Resource: []byte(r), Prefix: []byte(p), Method: []byte(m)}
	var want *Quota
	wantLevel := attempt.None
	for _, place := range s.Places(a) {
		stored, found := entries[place.Key]
		if found != (place.Quota != nil) || found && place.Quota.String() != stored {
			t.Fatalf("(%s, %s, %s): %v at %s, where %q is stored", r, p, m, place.Quota, place.Key, stored)
		}
		if want == nil && found {
			want, wantLevel = place.Quota, place.Level
		}
	}
	if q, level := s.Resolve(a); q != want || level != wantLevel {
		t.Fatalf("(%s, %s, %s): %v at level %v, want %v at %v", r, p, m, q, level, want, wantLevel)
	}
}

func TestPlaces(t *testing.T) {
	s := compile(t, map[string]string{KeyDefault: numbered(1)})
	for _, c := range []struct {
		p, m string
		want []string
	}{
		{"P", "M", []string{
			"full limit/key/R/sublimit/P%2FM", "full limit/subkey_default/P%2FM",
			"method limit/key/R/sublimit/M", "method limit/subkey_default/M",
			"resource limit/key/R/quota", "resource limit/key_default",
		}},
		{"P", "", []string{
			"full limit/key/R/sublimit/P", "full limit/subkey_default/P", "resource limit/key/R/quota", "resource limit/key_default",
		}},
		{"", "M", []string{
			"method limit/key/R/sublimit/M", "method limit/subkey_default/M", "resource limit/key/R/quota", "resource limit/key_default",
		}},
		{"", "", []string{"resource limit/key/R/quota", "resource limit/key_default"}},
	} {
		var got []string
		for _, place := range s.Places(&attempt.Attempt{Resource: []byte("R"), Prefix: []byte(c.p), Method: []byte(c.m)}) {
			got = append(got, place.Level.String()+" "+place.Key)
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("(R, %s, %s): %v, want %v", c.p, c.m, got, c.want)
		}
	}
}

func TestHotPathAllocatesNothing(t *testing.T) {
	long := []byte(strings.Repeat("k", attempt.MaxKeyPart))
	s := compile(t, map[string]string{
		"limit/key/R/sublimit/P/M": numbered(1), "limit/subkey_default/M": numbered(2), "limit/key_default": numbered(3), "factor/key/R": "3",
		"limit/subkey_default/" + string(long) + "/" + string(long): numbered(4),
	})
	dst := make([]byte, 0, 4096)
	for _, a := range []attempt.Attempt{
		{Resource: []byte("R"), Prefix: []byte("P"), Method: []byte("M")},
		{Resource: []byte("R"), Prefix: []byte("none"), Method: []byte("M")},
		{Resource: []byte("R")},
		{Resource: long, Prefix: long, Method: long},
	} {
		if n := testing.AllocsPerRun(100, func() {
			q, level := s.Resolve(&a)
			_ = q.Limit(Whole)
			_ = s.Factor(a.Resource)
			dst = AppendBucket(dst[:0], level, &a)
		}); n != 0 {
			t.Errorf("(%.10s, %.10s, %.10s): %v allocations", a.Resource, a.Prefix, a.Method, n)
		}
	}
}

func TestFactor(t *testing.T) {
	entries := map[string]string{"factor/default": "3", "factor/key/a": "1", "factor/key/a%2Fb": " 5\n", "factor/key/quota": "2"}
	s := compile(t, entries)
	for r, want := range map[string]int{"a": 1, "a/b": 5, "quota": 2, "c": 3, "A": 3, "a%2Fb": 3} {
		if got := s.Factor([]byte(r)); got != want {
			t.Errorf("the factor of %q is %d, want %d", r, got, want)
		}
	}
	if s.MaxFactor() != 5 || s.Quotas() != 0 || s.Revision != 7 {
		t.Errorf("largest factor %d, %d quotas, revision %d", s.MaxFactor(), s.Quotas(), s.Revision)
	}
	delete(entries, "factor/default")
	if got := compile(t, entries).Factor([]byte("c")); got != 1 {
		t.Errorf("without a default the factor is %d, want 1", got)
	}
}
