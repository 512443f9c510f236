package storage

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/storage"
	"github.com/levee-project/levee/internal/tree"
	"github.com/levee-project/levee/test/etcdtest"
)

// TestStartFromTheCache is the life of a daemon with a cache: it saves what it
// has, starts from that while etcd is away, and goes over to etcd when it is
// back. It opens the store as daemons do.
func TestStartFromTheCache(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.Options{})
	s.Put("/levee/a", "1")
	path := filepath.Join(t.TempDir(), "cache")
	options := storage.Options{Addrs: []string{s.Endpoint()}, Prefix: "/levee"}
	start := func() *running {
		r := &running{t: t}
		store, err := storage.Open(options, r.logger())
		if err != nil {
			t.Fatal(err)
		}
		cache, err := storage.NewCache(path, options, r.logger())
		if err != nil {
			t.Fatal(err)
		}
		r.taken = cache.Save
		r.run(storage.WithCache(store, cache, 100*time.Millisecond, r.logger()))
		return r
	}

	first := start()
	first.waitTree("a", "1")
	s.Put("/levee/b", "2")
	first.waitTree("a", "1", "b", "2")
	first.stop()
	s.Stop()

	second := start()
	second.wait("the cached tree", func(tr tree.Tree, s tree.Status) bool {
		return tr.Entries["a"] == "1" && tr.Entries["b"] == "2" && !s.Connected && s.Err != nil && strings.Contains(s.Err.Error(), "from the cache of")
	})
	s.Start()
	s.Put("/levee/a", "3")
	second.waitTree("a", "3", "b", "2")
	second.stop()

	cache, err := storage.NewCache(path, options, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if tr, _, err := cache.Load(); err != nil || tr.Entries["a"] != "3" {
		t.Errorf("the cache holds %v, %v", tr, err)
	}
}

// TestFileStore opens a file by its URL.
func TestFileStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "storage.yaml")
	r := &running{t: t}
	store, err := storage.Open(storage.Options{Addrs: []string{"file://" + path}}, r.logger())
	if err != nil {
		t.Fatal(err)
	}
	r.run(store)
	r.waitAway(path)
	writeFile(t, path, "factor: {default: 2}\n")
	r.waitTree("factor/default", "2")
}
