package edit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/levee-project/levee/internal/storage/file"
	"github.com/levee-project/levee/internal/tree"
)

// lockPause is the time between two tries for a lock that somebody else has.
const lockPause = 10 * time.Millisecond

// textFile is the tree in a YAML file.
type textFile struct {
	path    string
	timeout time.Duration
}

// Read returns the file's tree, with revision 0: a file has none.
func (f *textFile) Read(context.Context) (*tree.Tree, error) {
	_, entries, err := f.read(f.path)
	if err != nil {
		return nil, err
	}
	return &tree.Tree{Entries: entries}, nil
}

func (f *textFile) read(path string) ([]byte, map[string]string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, fmt.Errorf("storage file %s: there is no such file; an empty one will do to begin with", f.path)
	case err != nil:
		return nil, nil, fmt.Errorf("storage file: %w", err)
	case !info.Mode().IsRegular():
		return nil, nil, fmt.Errorf("storage file %s: is not a regular file", f.path)
	case info.Size() > file.MaxSize:
		return nil, nil, fmt.Errorf("storage file %s: larger than %d MiB", f.path, file.MaxSize>>20)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("storage file: %w", err)
	}
	entries, err := file.Parse(text)
	if err != nil {
		return nil, nil, fmt.Errorf("storage file %s: %w", f.path, err)
	}
	return text, entries, nil
}

// Write puts a new file in the place of the old one, at once for everybody who
// reads it. Other tools are kept out by a lock, and an editor's work is noticed
// before it would be lost.
func (f *textFile) Write(ctx context.Context, changes []Change, progress func(done int)) (int, error) {
	path, err := filepath.EvalSymlinks(f.path) // a link stays one
	if err != nil {
		return 0, fmt.Errorf("storage file: %w", err)
	}
	unlock, err := f.lock(ctx, filepath.Dir(path))
	if err != nil {
		return 0, err
	}
	defer unlock()
	text, entries, err := f.read(path)
	if err != nil {
		return 0, err
	}
	for _, ch := range changes {
		found, ok := entries[ch.Key]
		if ok != (ch.Old != nil) || ok && found != *ch.Old {
			return 0, conflict(ch.Key)
		}
	}
	next, err := rewrite(text, entries, changes)
	if err != nil {
		return 0, fmt.Errorf("storage file %s: %w", f.path, err)
	}
	if err := f.replace(path, text, next); err != nil {
		return 0, fmt.Errorf("storage file %s: %w", f.path, err)
	}
	if progress != nil {
		progress(len(changes))
	}
	return len(changes), nil
}

// lock takes the advisory lock of the directory, which outlives each file in it.
func (f *textFile) lock(ctx context.Context, dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("lock for the storage file: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	tick := time.NewTicker(lockPause)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = d.Close() }, nil // which lets the lock go
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = d.Close()
			return nil, fmt.Errorf("lock %s: %w", dir, err)
		}
		select {
		case <-ctx.Done():
			_ = d.Close()
			return nil, fmt.Errorf("lock %s: somebody else, perhaps another leveectl, has had it for %v", dir, f.timeout)
		case <-tick.C:
		}
	}
}

// replace puts next in the place of the file with the text old, with its mode and
// its owner.
func (f *textFile) replace(path string, old, next []byte) (err error) {
	was, err := os.Stat(path)
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name()) // best effort; the error says what matters
		}
	}()
	if err := fill(temp, next, was); err != nil {
		_ = temp.Close()
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	if now, err := os.ReadFile(path); err != nil {
		return err
	} else if !bytes.Equal(now, old) {
		return fmt.Errorf("%w; look at it, and try again", ErrConflict)
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// fill writes everything and waits for the disk.
func fill(temp *os.File, text []byte, like os.FileInfo) error {
	if _, err := temp.Write(text); err != nil {
		return err
	}
	if err := temp.Chmod(like.Mode().Perm()); err != nil {
		return err
	}
	mine, err := temp.Stat()
	if err != nil {
		return err
	}
	a, b := mine.Sys().(*syscall.Stat_t), like.Sys().(*syscall.Stat_t)
	if a.Uid != b.Uid || a.Gid != b.Gid {
		if err := temp.Chown(int(b.Uid), int(b.Gid)); err != nil {
			return fmt.Errorf("keep its owner: %w", err)
		}
	}
	return temp.Sync()
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	return d.Sync()
}
