package storage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/levee-project/levee/internal/tree"
)

// CacheWait is how long a daemon waits for its store before it starts from the
// cache, unless it has a reason for another time.
const CacheWait = 2 * time.Second

// WithCache returns a store that hands out the cached tree when the store has
// not handed out one within wait of the start. The status then is not
// connected, and its error says what is served. As soon as the store answers
// its tree takes the place of the cached one.
//
// Run of the returned store also is what writes the cache ([Cache.Run]); what
// to write is told to [Cache.Save]. A nil cache gives the store itself.
func WithCache(store Store, cache *Cache, wait time.Duration, log *slog.Logger) Store {
	if cache == nil {
		return store
	}
	return &cachedStore{store: store, cache: cache, wait: wait, log: log}
}

type cachedStore struct {
	store Store
	cache *Cache
	wait  time.Duration
	log   *slog.Logger
}

// Run returns when the store's Run has, with the cache written.
func (s *cachedStore) Run(ctx context.Context, sink tree.Sink) error {
	// The writer outlives the store, which may hand out a tree while it stops.
	writing, written := context.WithCancel(context.WithoutCancel(ctx))
	ctx, cancel := context.WithCancel(ctx)
	g := &gate{sink: sink}
	var wg sync.WaitGroup
	wg.Go(func() { s.cache.Run(writing) })
	wg.Go(func() {
		timer := time.NewTimer(s.wait)
		defer timer.Stop()
		select {
		case <-ctx.Done():
		case <-timer.C:
			s.fallBack(ctx, g)
		}
	})
	err := s.store.Run(ctx, tree.Sink{Tree: g.tree, Status: g.status})
	cancel()
	written()
	wg.Wait()
	return err
}

// fallBack hands out the cached tree if it can be used and is needed.
func (s *cachedStore) fallBack(ctx context.Context, g *gate) {
	if g.open() {
		return
	}
	t, saved, err := s.cache.Load()
	switch {
	case errors.Is(err, os.ErrNotExist):
		s.log.Warn("the store does not answer and there is no cache yet, waiting", "file", s.cache.path)
	case err != nil:
		s.log.Error("the store does not answer and its cache cannot be used, waiting", "err", err)
	case ctx.Err() == nil && g.fallBack(t, saved, s.wait):
		s.log.Warn("the store does not answer, starting from its cache",
			"file", s.cache.path, "saved", saved, "revision", t.Revision, "entries", len(t.Entries))
	}
}

// gate passes on what the store tells, and the cached tree if that comes first.
type gate struct {
	mu     sync.Mutex // held while the sink is called, as it wants one call at a time
	sink   tree.Sink
	opened bool         // the store has handed out a tree
	last   *tree.Status // the store's last status, nil before the first
	cached string       // what is served from the cache, "" if nothing
}

func (g *gate) open() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened
}

func (g *gate) tree(t *tree.Tree) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opened, g.cached = true, ""
	g.sink.Tree(t)
}

func (g *gate) status(s tree.Status) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last = &s
	g.sink.Status(g.worded(s))
}

// fallBack hands out the cached tree unless the store's is there, and reports
// whether it did.
func (g *gate) fallBack(t *tree.Tree, saved time.Time, waited time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened {
		return false
	}
	g.cached = fmt.Sprintf("serving revision %d from the cache of %s", t.Revision, saved.UTC().Format(time.RFC3339))
	g.sink.Tree(t)
	s := tree.Status{Err: fmt.Errorf("storage: no answer within %v", waited)}
	if g.last != nil {
		s = *g.last
	}
	g.sink.Status(g.worded(s))
	return true
}

// worded adds to a status that a cached tree is what is in force.
func (g *gate) worded(s tree.Status) tree.Status {
	if g.cached != "" && s.Err != nil {
		s.Err = fmt.Errorf("%w (%s)", s.Err, g.cached)
	}
	return s
}
