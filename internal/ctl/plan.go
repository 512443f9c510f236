package ctl

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/levee-project/levee/internal/quota"
	"github.com/levee-project/levee/internal/storage/edit"
	"github.com/levee-project/levee/internal/topology"
	"github.com/levee-project/levee/internal/tree"
)

// step is what is to happen to one stored key.
type step struct {
	// Op is add, set or delete.
	Op  string  `json:"op"`
	Key string  `json:"key"`
	Old *string `json:"old,omitempty"`
	New *string `json:"new,omitempty"`
	// Note says what cannot be seen from the rest.
	Note string `json:"note,omitempty"`
}

// canonical is the one spelling of an entry's key that is written; a key that
// means nothing is left as it is.
func canonical(key string) string {
	if name, ok := strings.CutPrefix(key, "observer/"); ok {
		if plain, err := tree.Unescape(name); err == nil && plain != "" {
			return topology.ObserverKey(plain)
		}
		return key
	}
	if p, err := quota.ParsePath(key); err == nil {
		return p.String()
	}
	return key
}

// planner plans changes of a tree that was read.
type planner struct {
	entries   map[string]string
	spellings map[string][]string // stored keys in byte order, by canonical key
}

func newPlanner(t *tree.Tree) *planner {
	p := &planner{entries: t.Entries, spellings: map[string][]string{}}
	for key := range t.Entries {
		c := canonical(key)
		p.spellings[c] = append(p.spellings[c], key)
	}
	for _, keys := range p.spellings {
		slices.Sort(keys)
	}
	return p
}

// stored returns the spelling of an entry that is in force, as far as spelling
// decides that: the canonical one, else the first in byte order.
func (p *planner) stored(key string) (stored, value string, ok bool) {
	if value, ok := p.entries[key]; ok {
		return key, value, true
	}
	if keys := p.spellings[key]; len(keys) > 0 {
		return keys[0], p.entries[keys[0]], true
	}
	return "", "", false
}

// set plans that the entry with a canonical key has a value, in one spelling.
func (p *planner) set(key, value string) (steps []step) {
	stored := p.spellings[key]
	old, there := p.entries[key]
	switch {
	case there && !same(old, value):
		steps = append(steps, step{Op: "set", Key: key, Old: &old, New: &value})
	case there:
	case len(stored) == 1 && same(p.entries[stored[0]], value):
		return nil
	case len(stored) > 0:
		was := p.entries[stored[0]]
		steps = append(steps, step{Op: "add", Key: key, New: &value, Note: fmt.Sprintf("was %s under %s", was, stored[0])})
	default:
		steps = append(steps, step{Op: "add", Key: key, New: &value})
	}
	for _, other := range stored {
		if other != key {
			was := p.entries[other]
			steps = append(steps, step{Op: "delete", Key: other, Old: &was, Note: "another spelling of " + key})
		}
	}
	return steps
}

// remove plans that there is no entry with a canonical key, in any spelling.
func (p *planner) remove(key string) (steps []step) {
	for _, stored := range p.spellings[key] {
		old, s := p.entries[stored], step{Op: "delete", Key: stored}
		s.Old = &old
		if stored != key {
			s.Note = "another spelling of " + key
		}
		steps = append(steps, s)
	}
	return steps
}

// become plans that the tree has the wanted entries, and with prune no others.
func (p *planner) become(wanted *tree.Tree, prune bool) (steps []step) {
	for _, key := range slices.Sorted(maps.Keys(wanted.Entries)) {
		steps = append(steps, p.set(key, wanted.Entries[key])...)
	}
	if prune {
		for _, key := range slices.Sorted(maps.Keys(p.spellings)) {
			if _, stays := wanted.Entries[key]; !stays {
				steps = append(steps, p.remove(key)...)
			}
		}
	}
	return steps
}

// same reports whether two values mean the same.
func same(a, b string) bool {
	if edit.Same(a, b) {
		return true
	}
	qa, errA := quota.ParseQuota(a)
	qb, errB := quota.ParseQuota(b)
	return errA == nil && errB == nil && qa.Value() == qb.Value()
}

// edit reads the tree, plans, writes what was planned and prints it.
func (t *tool) edit(ctx context.Context, plan func(p *planner) ([]step, error)) error {
	store, err := t.store()
	if err != nil {
		return err
	}
	read, err := store.Read(ctx)
	if err != nil {
		return err
	}
	steps, err := plan(newPlanner(read))
	if err != nil {
		return err
	}
	if err := t.write(ctx, store, steps, nil); err != nil {
		return err
	}
	return t.printSteps(steps, "unchanged")
}

// write makes the steps. Its error says how many were made.
func (t *tool) write(ctx context.Context, store edit.Store, steps []step, progress func(int)) error {
	if len(steps) == 0 {
		return nil
	}
	changes := make([]edit.Change, len(steps))
	for i, s := range steps {
		changes[i] = edit.Change{Key: s.Key, Old: s.Old, New: s.New}
	}
	done, err := store.Write(ctx, changes, progress)
	if err != nil && ctx.Err() != nil {
		err = errInterrupted
	}
	switch {
	case err == nil || done == len(steps):
		return nil
	case done > 0:
		return fmt.Errorf("%w; %d of %d changes are made, and the rest is not: see what is left with diff, and go on with apply",
			err, done, len(steps))
	}
	return err
}

// maxShown is how many steps a person is shown.
const maxShown = 50

// printSteps prints what happened or would happen; nothing says that it is
// nothing.
func (t *tool) printSteps(steps []step, nothing string) error {
	if steps == nil {
		steps = []step{} // [] in JSON
	}
	return t.print(steps, func(w io.Writer) {
		if len(steps) == 0 {
			row(w, nothing)
		}
		for i, s := range steps {
			if i == maxShown {
				row(w, fmt.Sprintf("... and %d more; --output json shows all", len(steps)-i))
				return
			}
			_, _ = fmt.Fprintln(w, s.line()) // a buffer takes everything
		}
	})
}

// line is the step as a person reads it.
func (s step) line() string {
	text := s.Op + " " + show(s.Key)
	switch {
	case s.Op == "set":
		text += fmt.Sprintf(" %s (was %s)", oneLineText(*s.New), oneLineText(*s.Old))
	case s.New != nil:
		text += " " + oneLineText(*s.New)
	default:
		text += fmt.Sprintf(" (was %s)", oneLineText(*s.Old))
	}
	if s.Note != "" {
		text += "; " + oneLineText(s.Note)
	}
	return text
}

// oneLineText is any text on one line.
func oneLineText(text string) string {
	if quoted := fmt.Sprintf("%q", text); strings.Contains(quoted, `\n`) || strings.Contains(quoted, `\x`) || strings.Contains(quoted, `\u`) || text == "" {
		return quoted
	}
	return text
}
