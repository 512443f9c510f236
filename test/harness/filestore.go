package harness

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// FileStore is a shared tree in a YAML file, as a person or leveectl writes it:
// each change is a new file that takes the old one's place.
type FileStore struct {
	// Path is that of the file.
	Path    string
	entries map[string]string
}

// NewFileStore writes a file with the entries, raw value by key without the root
// prefix (limit/key_default), in a directory of its own that ends with the test.
func NewFileStore(t testing.TB, entries map[string]string) *FileStore {
	t.Helper()
	// Not t.TempDir: it has the test's name in it, and a comma there would make a
	// list of the address.
	dir, err := os.MkdirTemp("", "levee-store-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &FileStore{Path: filepath.Join(dir, "storage.yaml"), entries: map[string]string{}}
	s.Apply(t, entries)
	return s
}

// Addr is the file as an item of storage-addrs.
func (s *FileStore) Addr() string { return "file://" + s.Path }

// Apply sets entries and then removes some, in one write.
func (s *FileStore) Apply(t testing.TB, set map[string]string, remove ...string) {
	t.Helper()
	maps.Copy(s.entries, set)
	for _, key := range remove {
		delete(s.entries, key)
	}
	s.Write(t, s.Text())
}

// Write replaces the file's text, whatever it says.
func (s *FileStore) Write(t testing.TB, text string) {
	t.Helper()
	next := s.Path + ".next"
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, s.Path); err != nil {
		t.Fatal(err)
	}
}

// Text is the tree as YAML, nested as the manual's users write it.
func (s *FileStore) Text() string {
	root := branch{}
	for key, value := range s.entries {
		parts := segments(key)
		at := root
		for _, part := range parts[:len(parts)-1] {
			if at[part] == nil {
				at[part] = branch{}
			}
			at = at[part].(branch)
		}
		at[parts[len(parts)-1]] = value
	}
	var b strings.Builder
	root.write(&b, "")
	return b.String()
}

// segments cuts a key at its slashes, except that a SUBKEY stays whole.
func segments(key string) []string {
	parts := strings.Split(key, "/")
	for i, part := range parts {
		if part == "subkey_default" || part == "sublimit" {
			return append(parts[:i+1:i+1], strings.Join(parts[i+1:], "/"))
		}
	}
	return parts
}

// branch is a mapping of YAML: part of a key to a branch, or to a raw value. A
// quota, which is JSON, is YAML too.
type branch map[string]any

func (n branch) write(b *strings.Builder, indent string) {
	for _, part := range slices.Sorted(maps.Keys(n)) {
		b.WriteString(indent + yamlKey(part, indent))
		if below, ok := n[part].(branch); ok {
			b.WriteString("\n")
			below.write(b, indent+"  ")
		} else {
			fmt.Fprintf(b, " %s\n", n[part])
		}
	}
}

// yamlKey is a quoted key with its colon. YAML 1.2 (7.4.3) bounds a key in the
// usual form to 1,024 characters; a longer one has a line and a mark of its own.
func yamlKey(part, indent string) string {
	key := fmt.Sprintf("%q", part)
	if len(key) > 1024 {
		return "? " + key + "\n" + indent + ":"
	}
	return key + ":"
}
