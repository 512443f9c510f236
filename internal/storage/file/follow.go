package file

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"time"

	"github.com/levee-project/levee/internal/tree"
)

// follower turns looks at the file into trees and statuses. Only one goroutine
// uses it.
type follower struct {
	path string
	sink tree.Sink
	log  *slog.Logger

	seen    os.FileInfo // the file as last read, nil if it could not be
	emptied time.Time   // when it was first seen without a byte
	last    *tree.Tree  // the last tree handed out, nil before the first
	status  *tree.Status
}

func newFollower(path string, sink tree.Sink, log *slog.Logger) *follower {
	return &follower{path: path, sink: sink, log: log}
}

// changed reports whether a look is worth while: the file is not what was last
// read, or could not be read and is there.
func (f *follower) changed() bool {
	now, err := os.Stat(f.path)
	if err != nil {
		return f.seen != nil
	}
	return f.seen == nil || !unchanged(f.seen, now)
}

// look reads the file and hands out what is new. It returns after how long to
// look again because the file seems to be half written, 0 if it is not.
func (f *follower) look(now time.Time) time.Duration {
	text, seen, err := read(f.path)
	switch {
	case errors.Is(err, errMoving):
		return quiet
	case err != nil:
		f.seen = nil
		f.report(tree.Status{Err: fmt.Errorf("storage file: %w", err)})
		return 0
	case len(text) > 0:
		f.emptied = time.Time{}
	case f.last != nil && len(f.last.Entries) > 0:
		if f.emptied.IsZero() {
			f.emptied = now
		}
		if wait := f.emptied.Add(emptyGrace).Sub(now); wait > 0 {
			return wait
		}
	}
	f.seen = seen
	entries, err := Parse(text)
	if err != nil {
		f.report(tree.Status{Broken: true, Err: fmt.Errorf("storage file %s: %w", f.path, err)})
		return 0
	}
	f.handOut(entries)
	f.report(tree.Status{Connected: true})
	return 0
}

func (f *follower) handOut(entries map[string]string) {
	t := &tree.Tree{Revision: 1, Entries: entries}
	if f.last != nil {
		if maps.Equal(f.last.Entries, entries) {
			return
		}
		t.Revision = f.last.Revision + 1
	}
	f.last = t
	f.sink.Tree(t)
}

// report passes a status on if it is new, and logs the going and the coming.
func (f *follower) report(s tree.Status) {
	old := f.status
	if old != nil && old.Connected == s.Connected && old.Broken == s.Broken && message(old.Err) == message(s.Err) {
		return
	}
	f.status = &s
	switch {
	case s.Err != nil && f.last == nil:
		f.log.Error("the storage file cannot be used, waiting for it", "file", f.path, "err", s.Err)
	case s.Err != nil:
		f.log.Error("the storage file cannot be used, its last good content stays in force", "file", f.path, "err", s.Err)
	case old != nil:
		f.log.Info("the storage file can be used", "file", f.path, "revision", f.last.Revision)
	}
	f.sink.Status(s)
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
