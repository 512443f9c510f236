package ctl

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/levee-project/levee/internal/storage/edit"
	"github.com/levee-project/levee/internal/tree"
)

func (t *tool) exportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "export",
		Short: "Write the whole shared configuration as YAML",
		Long: `Export writes the tree in the form of a storage file, sorted, every key in its
canonical spelling. Of several spellings of one entry only the one in force is
written. Apply puts it back.`,
		Example: `  leveectl export > tree.yaml`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			read, err := t.read(cmd.Context())
			if err != nil {
				return err
			}
			entries, left := inForce(read)
			for _, key := range slices.Sorted(maps.Keys(left)) {
				t.note("left out: %s: %s", show(key), left[key])
			}
			text, err := edit.Render(entries)
			if err != nil {
				return err
			}
			if _, err := t.out.Write(text); err != nil {
				return fmt.Errorf("output: %w", err)
			}
			return nil
		},
	}
}

// inForce returns the entries under their canonical keys, and those that are left
// out because another spelling of the same entry is in force, with the reason.
func inForce(t *tree.Tree) (entries, left map[string]string) {
	entries, left = map[string]string{}, map[string]string{}
	faults := faultsOf(t)
	for key, spellings := range newPlanner(t).spellings {
		best := spellings[0]
		for _, s := range spellings {
			sound, soundest := faults[s] == "", faults[best] == ""
			if sound && !soundest || sound == soundest && s == key {
				best = s
			}
		}
		entries[key] = t.Entries[best]
		for _, s := range spellings {
			if s != best {
				left[s] = faults[s]
			}
		}
	}
	return entries, left
}

func (t *tool) diffCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "diff -f FILE",
		Short: "Tell how the shared configuration differs from a file",
		Long: `Diff lists what "apply --prune" would do to make the store the same as the file.
It exits with 1 if there is a difference.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			wanted, err := t.wanted(path)
			if err != nil {
				return err
			}
			read, err := t.read(cmd.Context())
			if err != nil {
				return err
			}
			steps := newPlanner(read).become(wanted, true)
			if err := t.printSteps(steps, "no difference"); err != nil {
				return err
			}
			if len(steps) > 0 {
				return quietly(1)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&path, "file", "f", "", "YAML `FILE` with the tree; - is the standard input")
	return cmd
}

func (t *tool) applyCommand() *cobra.Command {
	var path string
	var prune, dry, force bool
	cmd := &cobra.Command{
		Use:     "apply -f FILE [--prune] [--dry-run]",
		Aliases: []string{"import"},
		Short:   "Make the shared configuration what a file says",
		Long: `Apply compares the store with a file in the form of an export, and writes what
is different. What the file does not have stays, unless --prune. Up to 128 changes are
made together or not at all; more are made in batches of that size, and if that is
interrupted, diff tells what is left and apply goes on.`,
		Example: `  leveectl apply -f tree.yaml --dry-run
  leveectl apply -f tree.yaml --prune`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			wanted, err := t.wanted(path)
			if err != nil {
				return err
			}
			store, err := t.store()
			if err != nil {
				return err
			}
			read, err := store.Read(cmd.Context())
			if err != nil {
				return err
			}
			steps := newPlanner(read).become(wanted, prune)
			if err := refuseFaults(wanted, steps); err != nil && !force {
				return err
			}
			return t.carryOut(cmd.Context(), store, steps, dry)
		},
	}
	cmd.Flags().StringVarP(&path, "file", "f", "", "YAML `FILE` with the tree; - is the standard input")
	cmd.Flags().BoolVar(&prune, "prune", false, "Delete entries that the file does not have")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "Only show what would be done")
	cmd.Flags().BoolVar(&force, "force", false, "Write entries too that will have no effect")
	return cmd
}

// carryOut shows the steps, and makes them.
func (t *tool) carryOut(ctx context.Context, store edit.Store, steps []step, dry bool) error {
	if err := t.printSteps(steps, "no difference"); err != nil || len(steps) == 0 {
		return err
	}
	if dry {
		t.note("dry run: %s would be made, and none is", plural(len(steps), "change", "changes"))
		return nil
	}
	if err := t.write(ctx, store, steps, t.progress(len(steps))); err != nil {
		return err
	}
	t.note("%s made", plural(len(steps), "change is", "changes are"))
	return nil
}

// progress tells a person at a terminal how far it is.
func (t *tool) progress(all int) func(done int) {
	f, ok := t.notes.(*os.File)
	if !ok || all <= edit.AtOnce {
		return nil
	}
	if _, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS); err != nil {
		return nil
	}
	return func(done int) {
		end := ""
		if done == all {
			end = "\n"
		}
		_, _ = fmt.Fprintf(f, "\r%d of %d changes%s", done, all, end) // nowhere is left to report that
	}
}
