package ctl

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/storage"
	"github.com/levee-project/levee/internal/tree"
)

// event is a change of the tree that was seen.
type event struct {
	Revision int64 `json:"revision"`
	step
}

func (t *tool) watchCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "watch",
		Short: "Print changes of the shared configuration as they happen",
		Long: `Watch prints a line for each entry that is added, set or deleted, until it is
interrupted. With --output json each is an object on a line of its own, with yaml a
document.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := t.storage()
			if err != nil {
				return err
			}
			store, err := storage.Open(o, slog.New(slog.DiscardHandler))
			if err != nil {
				return config.Unusable(err)
			}
			w := &watching{tool: t}
			return store.Run(cmd.Context(), tree.Sink{Tree: w.tree, Status: w.status})
		},
	}
}

// watching prints what differs from one tree to the next.
type watching struct {
	*tool
	last *tree.Tree // nil before the first
}

func (w *watching) tree(next *tree.Tree) {
	if w.last == nil {
		w.note("watching %s from revision %d", plural(len(next.Entries), "entry", "entries"), next.Revision)
	} else {
		for _, s := range between(w.last, next) {
			w.event(event{next.Revision, s})
		}
	}
	w.last = next
}

func (w *watching) status(s tree.Status) {
	switch {
	case s.Err != nil:
		w.note("%s", oneLine(s.Err))
	case w.last != nil:
		w.note("the store answers")
	}
}

// event prints one change.
func (w *watching) event(e event) {
	switch w.loaded.Output {
	case config.OutputJSON:
		text, err := json.Marshal(e)
		if err != nil {
			w.note("%s: %s", e.Key, err)
			return
		}
		_, _ = fmt.Fprintf(w.out, "%s\n", text) // a reader who is gone ends the process
	case config.OutputYAML:
		_, _ = fmt.Fprintln(w.out, "---")
		if err := writeYAML(w.out, e); err != nil {
			w.note("%s: %s", e.Key, err)
		}
	default:
		_, _ = fmt.Fprintf(w.out, "%d: %s\n", e.Revision, e.line())
	}
}

// between lists what leads from one tree to another, by stored key.
func between(from, to *tree.Tree) (steps []step) {
	keys := maps.Clone(from.Entries)
	maps.Copy(keys, to.Entries)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		old, was := from.Entries[key]
		now, is := to.Entries[key]
		switch {
		case was && !is:
			steps = append(steps, step{Op: "delete", Key: key, Old: &old})
		case !was:
			steps = append(steps, step{Op: "add", Key: key, New: &now})
		case old != now:
			steps = append(steps, step{Op: "set", Key: key, Old: &old, New: &now})
		}
	}
	return steps
}
