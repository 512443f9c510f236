package limiter

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/keepalived"
)

// trackFile tells keepalived whether the limiter is ready: the virtual addresses
// leave this host within milliseconds of a change.
type trackFile struct {
	path string
	log  *slog.Logger
}

// trackReadiness keeps the file at path, if there is one, as the daemon's health is.
// What an earlier run has left in it is replaced before anything else starts.
func trackReadiness(d *daemon.Daemon, path string) error {
	if path == "" {
		return nil
	}
	f := &trackFile{path: path, log: d.Log}
	if err := f.write(false); err != nil {
		return err
	}
	d.Health.OnReady(func(ok bool) {
		if err := f.write(ok); err != nil {
			// The check through the serving port sees the same, a second later.
			f.log.Error("keepalived cannot be told whether this limiter is ready", "ready", ok, "err", err)
		}
	})
	return nil
}

// write replaces the file, which is never seen empty: that would read as ready.
func (f *trackFile) write(ready bool) error {
	text := keepalived.Unready
	if ready {
		text = keepalived.Ready
	}
	temp := filepath.Join(filepath.Dir(f.path), "."+filepath.Base(f.path)+".new")
	if err := os.WriteFile(temp, []byte(text+"\n"), 0o644); err != nil { //nolint:gosec // others may see it
		return fmt.Errorf("vrrp-track-file: %w", err)
	}
	if err := os.Rename(temp, f.path); err != nil {
		return fmt.Errorf("vrrp-track-file: %w", err)
	}
	return nil
}
