package quota

import (
	"cmp"
	"slices"
	"strings"

	"github.com/levee-project/levee/internal/tree"
)

// Compiler turns versions of the shared tree, one after the other, into
// snapshots. It remembers the last good value of every stored key, parses only
// what changed, and shares with the last snapshot what did not. It is for one
// goroutine at a time.
type Compiler struct {
	entries   map[string]*entry // by stored key: those of the last tree
	spellings spellings
	last      *Snapshot
}

// NewCompiler returns a compiler that has seen no tree yet.
func NewCompiler() *Compiler {
	return &Compiler{entries: map[string]*entry{}, spellings: newSpellings(), last: &Snapshot{}}
}

// Compile returns what is in force after t, and every entry that has no effect
// as it is stored, sorted by key.
//
// An invalid value does not take effect: the last good one of that very stored
// key stays in force; without one, the entry counts as absent. If
// several stored keys mean the same entry, the canonical one of them is in
// force, else the first in byte order. The faults are listed again at each
// call until they are mended. t is read only, but its strings are kept.
func (c *Compiler) Compile(t *tree.Tree) (*Snapshot, []tree.Fault) {
	dirty := map[string]Path{} // what may have changed in force, by canonical key
	faults := c.take(t.Entries, dirty)
	c.forget(t.Entries, dirty)

	d := newDraft(c.last)
	for canonical, p := range dirty {
		q, factor := c.spellings.winner(canonical, c.entries).inForce()
		d.place(p, q, factor)
	}
	c.last = d.finish(t.Revision)

	for key, winner := range c.spellings.losers {
		if c.entries[key].err == nil { // else it is listed already
			faults = append(faults, lost(key, winner))
		}
	}
	slices.SortFunc(faults, func(a, b tree.Fault) int { return cmp.Compare(a.Key, b.Key) })
	return c.last, faults
}

// take reads new keys and changed values, and lists those at fault by
// themselves.
func (c *Compiler) take(values map[string]string, dirty map[string]Path) (faults []tree.Fault) {
	for key, raw := range values {
		e, known := c.entries[key]
		if !known {
			e = newEntry(key)
			c.entries[key] = e
			c.spellings.add(key, e.canonical)
		}
		if !known || e.raw != raw {
			if e.set(raw) {
				dirty[e.canonical] = e.path
			}
		}
		if e.err != nil {
			faults = append(faults, tree.Fault{Key: key, Err: e.err})
		}
	}
	return faults
}

// forget drops the keys that are not stored any more, after all stored ones have
// been taken.
func (c *Compiler) forget(values map[string]string, dirty map[string]Path) {
	if len(c.entries) == len(values) {
		return
	}
	for key, e := range c.entries {
		if _, stored := values[key]; stored {
			continue
		}
		delete(c.entries, key)
		c.spellings.remove(key, e.canonical)
		if e.valid() {
			dirty[e.canonical] = e.path
		}
	}
}

// InForce returns the raw values that the last snapshot was compiled from, by
// stored key: what a cache must hold so that a compiler that starts from it
// arrives at the same snapshot. Entries that do not begin with limit/ or factor/
// are in it as they are.
func (c *Compiler) InForce() map[string]string {
	values := make(map[string]string, len(c.entries))
	for key, e := range c.entries {
		if !strings.HasPrefix(key, "limit/") && !strings.HasPrefix(key, "factor/") {
			values[key] = e.raw
		} else if _, loser := c.spellings.losers[key]; e.valid() && !loser {
			values[key] = e.good
		}
	}
	return values
}
