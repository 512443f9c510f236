package storage

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/levee-project/levee/internal/tree"
)

// saveEvery is the shortest time between two writes of the cache: each waits
// for the disk.
const saveEvery = time.Second

// Cache keeps the last good tree of one store in a file (storage-cache), so
// that a daemon can start while the store is away.
type Cache struct {
	path   string
	prefix string
	addrs  []string
	log    *slog.Logger

	pending chan *tree.Tree // holds the one tree to be written next

	mu    sync.Mutex // guards what follows
	saved *tree.Tree // what the file holds, nil if not known
}

// NewCache returns the cache at path of the store that o names, which must be
// valid. It touches no file.
func NewCache(path string, o Options, log *slog.Logger) (*Cache, error) {
	source, err := parseAddrs(o.Addrs)
	if err != nil {
		return nil, err
	}
	c := &Cache{path: path, addrs: source.endpoints, log: log, pending: make(chan *tree.Tree, 1)}
	if source.file != "" {
		c.addrs = []string{"file:" + source.file}
	} else {
		c.prefix = strings.TrimRight(o.Prefix, "/")
	}
	return c, nil
}

// Save has the tree written soon, by [Cache.Run], and never waits. Give it what
// is in force: for an entry that is not valid the last good value, so that a
// start from the cache is the same state again. Of several trees saved in quick
// succession the last is written. Safe for use by several goroutines.
func (c *Cache) Save(t *tree.Tree) {
	for {
		select {
		case c.pending <- t:
			return
		default:
		}
		select {
		case <-c.pending: // an older tree that nobody needs any more
		default:
		}
	}
}

// Run writes what is saved until ctx ends, and then what is still to be
// written. A file that cannot be written is logged once, until it can be.
func (c *Cache) Run(ctx context.Context) {
	failed := false
	for {
		select {
		case <-ctx.Done():
			select {
			case t := <-c.pending:
				c.store(t, failed)
			default:
			}
			return
		case t := <-c.pending:
			failed = !c.store(t, failed)
		}
		pause := time.NewTimer(saveEvery)
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
		pause.Stop()
	}
}

// store writes a tree unless the file has it, and reports whether it has now.
func (c *Cache) store(t *tree.Tree, failed bool) bool {
	err := c.Write(t)
	switch {
	case err != nil && !failed:
		c.log.Error("the storage cache cannot be written", "file", c.path, "err", err)
	case err == nil && failed:
		c.log.Info("the storage cache is written again", "file", c.path)
	}
	return err == nil
}

// Write writes the tree at once, unless the file has it already, and returns
// when it is on the disk.
func (c *Cache) Write(t *tree.Tree) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.saved != nil && c.saved.Revision == t.Revision && maps.Equal(c.saved.Entries, t.Entries) {
		return nil
	}
	c.saved = nil
	if err := writeCached(c.path, newCached(t, c.prefix, c.addrs, time.Now())); err != nil {
		return fmt.Errorf("storage-cache %s: %w", c.path, err)
	}
	c.saved = t
	return nil
}

// Load returns the tree of the file and when it was saved. The error says why
// it cannot be used; it is [os.ErrNotExist] if there is none yet. A cache
// belongs to the store if it has the same prefix and an address in common, so
// that members of a cluster can be replaced.
func (c *Cache) Load() (*tree.Tree, time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	file, err := readCached(c.path)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("storage-cache %s: %w", c.path, err)
	}
	common := slices.ContainsFunc(file.Addrs, func(a string) bool { return slices.Contains(c.addrs, a) })
	if !common || file.Prefix != c.prefix {
		return nil, time.Time{}, fmt.Errorf("storage-cache %s: of another store: prefix %q at %s; this one is %q at %s",
			c.path, file.Prefix, strings.Join(file.Addrs, ", "), c.prefix, strings.Join(c.addrs, ", "))
	}
	c.saved = file.tree()
	return c.saved, file.Saved, nil
}
