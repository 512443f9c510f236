package ctl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/levee-project/levee/keepalived"
)

const (
	// resignTimeout bounds a resignation.
	resignTimeout = 3 * time.Second
	// limiterUnit is what is asked to resign.
	limiterUnit = "levee-limiter.service"
)

func (t *tool) keepalivedResign() *cobra.Command {
	dir, track := keepalived.StateDir, keepalived.TrackFile
	cmd := &cobra.Command{
		Use:   "resign",
		Short: "Give the virtual addresses of this host up, before keepalived stops",
		Long: `Resign has the limiter of this host send its clients elsewhere, as at a stop, and say that
it is not ready, so that the virtual addresses leave without a connection that would be cut. It
returns when they have left, which takes half a second, or after 3 s. systemd calls it before
it stops keepalived. The limiter goes on, and is ready again 3 s later.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), resignTimeout)
			defer cancel()
			return t.resign(ctx, dir, track)
		},
	}
	cmd.Flags().StringVar(&dir, "directory", dir, "`DIRECTORY` of the states")
	cmd.Flags().StringVar(&track, "track-file", track, "`FILE` that the limiter writes")
	return cmd
}

// resign asks the limiter, if there is an address to give up. A limiter that does
// not write the file would not know what is wanted.
func (t *tool) resign(ctx context.Context, dir, track string) error {
	master, err := anyMaster(dir)
	if err != nil || !master {
		return err
	}
	text, err := os.ReadFile(track)
	if err != nil {
		return err
	}
	if strings.TrimSpace(string(text)) != keepalived.Ready {
		t.note("the limiter is not ready: the addresses are leaving already")
		return nil
	}
	// --kill-who, which is older than --kill-whom, is known to every systemd.
	out, err := exec.CommandContext(ctx, "systemctl", "kill", "--kill-who=main", "--signal=USR1", limiterUnit).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ask %s to resign: %w: %s", limiterUnit, err, strings.TrimSpace(string(out)))
	}
	return awaitResigned(ctx, dir)
}

// awaitResigned waits until no group is on this host.
func awaitResigned(ctx context.Context, dir string) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if master, err := anyMaster(dir); err != nil || !master {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.New("the addresses have not left in time")
		case <-tick.C:
		}
	}
}

// anyMaster says whether a group is on this host, as its states tell.
func anyMaster(dir string) (bool, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, f := range files {
		if !keepalived.GroupName(f.Name()) {
			continue // about to be renamed
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return false, err
		}
		if s, err := keepalived.ParseState(text); err == nil && s.Master() {
			return true, nil
		}
	}
	return false, nil
}
