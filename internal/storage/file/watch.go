package file

import (
	"log/slog"
	"os"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// watch tells when something happens in the directory of one file. It watches
// the directory, not the file, since editors and Ansible put a new file in its
// place and Kubernetes swaps a symbolic link next to it.
type watch struct {
	dir, base string
	inner     *fsnotify.Watcher
	watched   os.FileInfo // the directory that is watched, nil if none is
	events    <-chan fsnotify.Event
	errors    <-chan error
}

// newWatch starts to watch if it can. Without inotify (its instances are a
// limited resource) it never tells anything, and polling has to do.
func newWatch(path string, log *slog.Logger) *watch {
	w := &watch{dir: filepath.Dir(path), base: filepath.Base(path)}
	inner, err := fsnotify.NewWatcher()
	if err != nil {
		log.Warn("no file notifications, polling instead", "file", path, "err", err)
		return w
	}
	w.inner, w.events, w.errors = inner, inner.Events, inner.Errors
	w.renew()
	return w
}

// renew makes the watch follow the directory that has the name now: one that
// did not exist before, or that took the place of another. It reports whether
// the watch is a new one, which may have missed something.
func (w *watch) renew() bool {
	if w.inner == nil {
		return false
	}
	now, err := os.Stat(w.dir)
	if err != nil {
		w.watched = nil
		return false
	}
	// The list empties itself when the directory is removed: a new directory
	// can have the inode of the old one.
	lost := len(w.inner.WatchList()) == 0
	if w.watched != nil && !lost && os.SameFile(w.watched, now) {
		return false
	}
	_ = w.inner.Remove(w.dir) // the old directory's watch, if there is one
	if err := w.inner.Add(w.dir); err != nil {
		w.watched = nil
		return false
	}
	w.watched = now
	return true
}

// concerns tells whether an event names the file itself.
func (w *watch) concerns(e fsnotify.Event) bool { return filepath.Base(e.Name) == w.base }

func (w *watch) close() {
	if w.inner != nil {
		_ = w.inner.Close()
	}
}
