package limiter

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/keepalived"
)

// farewell is how long a limiter that is told to stop keeps its virtual addresses:
// clients that have a connection hear on it that it ends, and leave. A connection
// that is there when its address moves is reset, and so is an attempt on it.
const farewell = 250 * time.Millisecond

// trackFile tells keepalived whether the limiter is ready: the virtual addresses
// leave this host within milliseconds of a change. A nil one tells nobody.
type trackFile struct {
	path string
	log  *slog.Logger

	mu    sync.Mutex  // guards what follows, and the file
	timer *time.Timer // ends the farewell
}

// trackReadiness keeps the file at path, if there is one, as the daemon's health is.
// What an earlier run has left in it is replaced before anything else starts.
func trackReadiness(d *daemon.Daemon, path string) (*trackFile, error) {
	if path == "" {
		return nil, nil
	}
	f := &trackFile{path: path, log: d.Log}
	if err := f.write(false); err != nil {
		return nil, err
	}
	d.Health.OnReady(func(ok bool) {
		if !d.Health.Draining() { // then it is the drain that tells
			f.tell(ok)
		}
	})
	d.OnStop("track file", time.Second, func(context.Context) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.timer != nil {
			f.timer.Stop()
		}
		return f.write(false)
	})
	return f, nil
}

// leave gives the virtual addresses up after the farewell, by way of quietly: when
// nothing is under way that the move would cut.
func (f *trackFile) leave(quietly func(do func())) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.timer = time.AfterFunc(farewell, func() {
		quietly(func() { f.tell(false) })
	})
}

func (f *trackFile) tell(ready bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.write(ready); err != nil {
		// The check through the serving port sees the same, a second later.
		f.log.Error("keepalived cannot be told whether this limiter is ready", "ready", ready, "err", err)
	}
}

// write replaces the file, which is never seen empty: that would read as ready.
func (f *trackFile) write(ready bool) error {
	text := keepalived.Unready
	if ready {
		text = keepalived.Ready
	}
	temp := filepath.Join(filepath.Dir(f.path), "."+filepath.Base(f.path)+".new")
	if err := os.WriteFile(temp, []byte(text+"\n"), 0o644); err != nil {
		return fmt.Errorf("vrrp-track-file: %w", err)
	}
	if err := os.Rename(temp, f.path); err != nil {
		return fmt.Errorf("vrrp-track-file: %w", err)
	}
	return nil
}
