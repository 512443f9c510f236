package tree

import "testing"

func TestDigest(t *testing.T) {
	of := func(pairs ...string) string {
		entries := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			entries[pairs[i]] = pairs[i+1]
		}
		return (&Tree{Revision: int64(len(pairs)), Entries: entries}).Digest()
	}
	if a, b := (&Tree{Revision: 1}).Digest(), of(); a != b || len(a) != 16 {
		t.Errorf("trees without entries: %s and %s", a, b)
	}
	if a, b := of("a", "1", "b", "2"), of("b", "2", "a", "1"); a != b {
		t.Errorf("the same entries: %s and %s", a, b)
	}
	seen := map[string]bool{}
	for _, pairs := range [][]string{{}, {"a", "1"}, {"a", "2"}, {"b", "1"}, {"a1", ""}, {"", "a1"}, {"a", "1", "b", "2"}, {"a", "2", "b", "1"}} {
		d := of(pairs...)
		if seen[d] {
			t.Errorf("%q has the digest of another tree", pairs)
		}
		seen[d] = true
	}
}
