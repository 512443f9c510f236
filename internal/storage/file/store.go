package file

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/levee-project/levee/internal/tree"
)

// How soon a change is taken up. A change is in force at the latest
// burst + emptyGrace after it, which stays below a second.
const (
	// quiet is how long nothing must happen before the file is read, so that a
	// writer can finish.
	quiet = 40 * time.Millisecond
	// burst is how long a writer that never pauses can put that off.
	burst = 150 * time.Millisecond
	// pollEvery is how often the file is looked at without notification: for a
	// directory that is not there yet, a link to a file elsewhere, a network
	// file system.
	pollEvery = 500 * time.Millisecond
	// emptyGrace is how long a file of no bytes that had content must stay so
	// until it counts. Most such files are being written: a shell truncates the
	// target of > before the command has run, and an empty tree limits nothing.
	emptyGrace = 700 * time.Millisecond
)

// Store follows one YAML file.
type Store struct {
	path string
	log  *slog.Logger
}

// New returns the store of the file at path. The file need not exist: the store
// waits for it.
func New(path string, log *slog.Logger) *Store {
	return &Store{path: filepath.Clean(path), log: log}
}

// Run hands the tree to the sink at the start and at each change of content
// until ctx ends; then it returns nil, with all it started ended. Revisions
// count the trees handed out, from 1. While the file is missing or broken the
// last tree stays the last, and the status says why.
func (s *Store) Run(ctx context.Context, sink tree.Sink) error {
	w := newWatch(s.path, s.log)
	defer w.close()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	f := newFollower(s.path, sink, s.log)
	d := debounce{timer: time.NewTimer(0)}
	defer d.timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-w.events:
			if !ok {
				w.events = nil
			} else if w.concerns(e) || f.changed() {
				d.happened(time.Now())
			}
		case _, ok := <-w.errors:
			// Most likely the kernel's queue ran over: anything may have happened.
			if !ok {
				w.errors = nil
			} else {
				d.happened(time.Now())
			}
		case <-poll.C:
			if w.renew() || f.changed() {
				d.happened(time.Now())
			}
		case <-d.timer.C:
			d.first = time.Time{}
			if again := f.look(time.Now()); again > 0 {
				d.timer.Reset(again)
			}
		}
	}
}

// debounce puts a look at the file off while things go on happening to it.
type debounce struct {
	timer *time.Timer
	first time.Time // the first event not looked at yet, zero if none
}

func (d *debounce) happened(now time.Time) {
	if d.first.IsZero() {
		d.first = now
	}
	d.timer.Reset(max(0, min(quiet, d.first.Add(burst).Sub(now))))
}
