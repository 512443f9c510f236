package file

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
)

// FuzzFile holds that no text makes the parser panic, that an error leaves no
// entries, and that entries written as a flat file of texts are the same
// entries again: leaf or level, a path is a path.
func FuzzFile(f *testing.F) {
	for _, seed := range []string{
		"", "---\n...\n", "limit: {key_default: {rate: 100, burst: 10}}",
		"limit: {key: {photos: {quota: {rate: .5}, sublimit: {albums/GET: {rate: 1}, a: {b: {rate: 0x1}}}}}}",
		"factor: {default: 2, key: {a: 1}}\nobserver: {o: {gossip: \"[::1]:1\"}}",
		"a: &a {b: *a}", "<<: {a: 1}\na: 2", "? [a]\n: b", "\"\": {\"\": 1}", "a: !!binary aGk=", "a: |\n  x\n  y\n", "limit: {key_default: [~, .nan, 1_0, 07]}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := Parse([]byte(text))
		if err != nil {
			if len(entries) != 0 {
				t.Fatalf("error %v and entries %v", err, entries)
			}
			return
		}
		var flat strings.Builder
		for key, value := range entries {
			flat.WriteString(yamlText(t, key) + ": " + yamlText(t, value) + "\n")
		}
		again, err := Parse([]byte(flat.String()))
		if err != nil {
			t.Fatalf("flat file: %v\n%s", err, flat.String())
		}
		if !maps.Equal(entries, again) {
			t.Fatalf("entries %q, as a flat file %q", entries, again)
		}
	})
}

// yamlText is a double-quoted YAML scalar; JSON strings are a subset of those.
func yamlText(t *testing.T, s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
