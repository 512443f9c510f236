package edit

import (
	"maps"
	"testing"

	"github.com/levee-project/levee/internal/storage/file"
)

// FuzzRewrite changes an entry of any text that is a tree: there may be an error,
// but no panic, and no other entry that changes.
func FuzzRewrite(f *testing.F) {
	for _, seed := range []string{
		"", sample, "{}", "limit: {key_default: {rate: 1, burst: 1}} # c", "? limit\n: key: {a: {}}\n", "<<: {factor: {default: 1}}",
		"a: &a {b: 1}\nc: *a", "limit:\n- a\n", "'limit/key': {photos: {quota: ~}}\n", "limit: !!str x", "limit: >\n  a\n\n  b\n",
	} {
		f.Add(seed, "limit/key/photos/quota", true)
		f.Add(seed, "factor/default", false)
	}
	f.Fuzz(func(t *testing.T, text, key string, set bool) {
		entries, err := file.Parse([]byte(text))
		if err != nil || len(text) > 4096 || len(key) > 256 {
			return
		}
		ch := Change{Key: key}
		want := maps.Clone(entries)
		if old, ok := entries[key]; ok {
			ch.Old = &old
		}
		delete(want, key)
		if set {
			ch.New = at(`{"rate": 1, "burst": 2}`)
			want[key] = *ch.New
		} else if ch.Old == nil {
			return
		}
		next, err := rewrite([]byte(text), entries, []Change{ch})
		if err != nil {
			return
		}
		got, err := file.Parse(next)
		if err != nil || !maps.EqualFunc(got, want, Same) {
			t.Fatalf("%q: set %q: %v: got %v, want %v in %q", text, key, err, got, want, next)
		}
	})
}
