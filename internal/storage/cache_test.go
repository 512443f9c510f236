package storage

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/levee-project/levee/internal/tree"
)

var cluster = Options{Addrs: []string{"http://a:2379", "http://b:2379"}, Prefix: "/levee"}

func testCache(t *testing.T, path string, o Options) *Cache {
	t.Helper()
	c, err := NewCache(path, o, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func sample() *tree.Tree {
	return &tree.Tree{Revision: 42, Entries: map[string]string{
		"limit/key_default":              `{"rate": 100, "burst": 10}`,
		"limit/key/a<&>\u2028\"\n/quota": `{"rate":0.1,"burst":0}`,
		"limit/key/\xff\xfe/quota":       `{"rate":2,"burst":0}`,
		"factor/default":                 "\x00\xff",
	}}
}

func TestCacheRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	if _, _, err := testCache(t, path, cluster).Load(); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a missing cache: %v", err)
	}
	for range 2 { // the second replaces the first
		if err := testCache(t, path, cluster).Write(sample()); err != nil {
			t.Fatal(err)
		}
	}
	got, saved, err := testCache(t, path, cluster).Load()
	if err != nil {
		t.Fatal(err)
	}
	if got.Revision != 42 || !maps.Equal(got.Entries, sample().Entries) {
		t.Errorf("read back: %+v", got)
	}
	if age := time.Since(saved); age < 0 || age > time.Minute {
		t.Errorf("saved %v ago", age)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(path + "?*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestCacheReplacesLeftovers writes over what a crash left, and what does not
// belong there.
func TestCacheReplacesLeftovers(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "cache"), filepath.Join(dir, "other")
	if err := errors.Join(os.WriteFile(other, []byte("precious"), 0o600), os.Symlink(other, path+".new")); err != nil {
		t.Fatal(err)
	}
	if err := testCache(t, path, cluster).Write(sample()); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(other); string(text) != "precious" {
		t.Errorf("the target of a link was written: %q", text)
	}
}

func TestCacheThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "cache")
	if err := testCache(t, path, cluster).Write(sample()); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		text []byte
		want string
	}{
		{"empty", nil, "not a cache"},
		{"another file", []byte("limit: {}\n"), "not a cache"},
		{"one long line", bytes.Repeat([]byte("x"), 1<<16), "not a cache"},
		{"cut short", good[:len(good)-1], "the checksum does not match"},
		{"no body", good[:bytes.IndexByte(good, '\n')], "the checksum does not match"},
		{"a bit turned", bytes.Replace(good, []byte(`\"rate\": 100`), []byte(`\"rate\": 900`), 1), "the checksum does not match"},
		{"a newer format", bytes.Replace(good, []byte("cache 1 "), []byte("cache 2 "), 1), "written in format 2, this program reads format 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if bytes.Equal(tt.text, good) {
				t.Fatal("the case changes nothing")
			}
			if err := os.WriteFile(path, tt.text, 0o600); err != nil {
				t.Fatal(err)
			}
			got, _, err := testCache(t, path, cluster).Load()
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, error %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestCacheOfAnotherStore(t *testing.T) {
	tests := []struct {
		name string
		o    Options
		own  bool
	}{
		{"the same", cluster, true},
		{"a slash more", Options{Addrs: cluster.Addrs, Prefix: "/levee/"}, true},
		{"a member replaced", Options{Addrs: []string{"http://b:2379", "http://c:2379"}, Prefix: "/levee"}, true},
		{"another cluster", Options{Addrs: []string{"http://c:2379"}, Prefix: "/levee"}, false},
		{"another prefix", Options{Addrs: cluster.Addrs, Prefix: "/leveler"}, false},
		{"a file", Options{Addrs: []string{"file:///x.yaml"}}, false},
	}
	path := filepath.Join(t.TempDir(), "cache")
	if err := testCache(t, path, cluster).Write(sample()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := testCache(t, path, tt.o).Load()
			if tt.own != (err == nil) || err != nil && !strings.Contains(err.Error(), `of another store: prefix "/levee" at http://a:2379`) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestCacheSave holds that saving never waits, that the last tree wins, and
// that nothing is lost at the end.
func TestCacheSave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "cache")
		c := testCache(t, path, cluster)
		revision := func() int64 {
			got, _, err := testCache(t, path, cluster).Load()
			if err != nil {
				t.Fatal(err)
			}
			return got.Revision
		}
		save := func(r int64) { c.Save(&tree.Tree{Revision: r, Entries: sample().Entries}) }
		save(1) // before Run
		save(2)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { c.Run(ctx); close(done) }()
		synctest.Wait()
		if got := revision(); got != 2 {
			t.Errorf("revision %d is on the disk, want 2", got)
		}
		save(3)
		save(4)
		synctest.Wait()
		if got := revision(); got != 2 {
			t.Errorf("revision %d is on the disk at once, the writes are not spaced", got)
		}
		time.Sleep(saveEvery) //nolint:forbidigo // in a synctest bubble
		synctest.Wait()
		if got := revision(); got != 4 {
			t.Errorf("revision %d is on the disk, want 4", got)
		}
		save(5)
		cancel()
		<-done
		if got := revision(); got != 5 {
			t.Errorf("revision %d is on the disk at the end, want 5", got)
		}
	})
}

// TestCacheThatCannotBeWritten is logged when it starts and when it ends.
func TestCacheThatCannotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "later")
		var log bytes.Buffer
		c, err := NewCache(filepath.Join(dir, "cache"), cluster, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { c.Run(ctx); close(done) }()
		for n := range 4 {
			if n == 3 {
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			c.Save(sample())
			time.Sleep(2 * saveEvery) //nolint:forbidigo // in a synctest bubble
		}
		cancel()
		<-done
		if s := log.String(); strings.Count(s, "level=ERROR") != 1 || strings.Count(s, "written again") != 1 {
			t.Errorf("the log is\n%s", s)
		}
	})
}
