package ctl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/journal"
	"github.com/spf13/cobra"

	"github.com/levee-project/levee/keepalived"
)

func (t *tool) keepalivedNotify() *cobra.Command {
	dir := keepalived.StateDir
	cmd := &cobra.Command{
		Use:   "notify INSTANCE NAME STATE PRIORITY",
		Short: "Note a change of state; keepalived calls it",
		Long: `Notify writes a change of state into the journal (journalctl -t levee-vrrp) and into a
file, from which the limiter shows it as a metric (levee_vrrp_master).`,
		Args: cobra.ExactArgs(4),
		RunE: func(cmd *cobra.Command, args []string) error {
			began := time.Now()
			kind, name, state := args[0], args[1], args[2]
			priority, err := strconv.Atoi(args[3])
			switch {
			case kind != "INSTANCE" && kind != "GROUP":
				return usage("found %q, expected INSTANCE or GROUP", kind)
			case !keepalived.GroupName(name):
				return usage("%q cannot be the name of a group", name)
			case err != nil:
				return usage("found the priority %q, expected a number", args[3])
			}
			change := t.tellChange(name, state, priority)
			return errors.Join(change, noteState(cmd.Context(), dir, name, state, began))
		},
	}
	cmd.Flags().StringVar(&dir, "directory", dir, "`DIRECTORY` of the states")
	return cmd
}

// tellChange writes what has changed into the journal, or where there is none to the
// standard error.
func (t *tool) tellChange(name, state string, priority int) error {
	text := fmt.Sprintf("virtual addresses of %s: %s (priority %d)", name, state, priority)
	if !journal.Enabled() {
		t.note("%s", text)
		return nil
	}
	level := journal.PriNotice
	if state == "FAULT" {
		level = journal.PriWarning
	}
	err := journal.Send(text, level, map[string]string{
		"SYSLOG_IDENTIFIER": "levee-vrrp", "LEVEE_INSTANCE": name, "LEVEE_STATE": state,
	})
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// noteState keeps a state in a file of the group's name. Of two changes that are
// noted at the same time one waits for the other.
func noteState(ctx context.Context, dir, name, state string, at time.Time) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	unlock, err := lockStates(ctx, dir)
	if err != nil {
		return err
	}
	defer unlock()
	path := filepath.Join(dir, name)
	if state == "DELETED" {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	var now keepalived.State
	if text, err := os.ReadFile(path); err == nil {
		now, _ = keepalived.ParseState(text) // what is damaged is replaced
	}
	if now, err = now.Next(state, at); err != nil {
		return usage("%w", err)
	}
	return replaceFile(path, []byte(now.String()))
}

// lockStates waits for up to two seconds until nobody else writes a state.
func lockStates(ctx context.Context, dir string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = d.Close() }, nil // which lets the lock go
		}
		select {
		case <-ctx.Done():
			_ = d.Close()
			return nil, fmt.Errorf("lock %s: %w", dir, err)
		case <-tick.C:
		}
	}
}
