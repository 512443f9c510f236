package edit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/storage"
)

func openFile(t *testing.T, text string) (s Store, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "storage.yaml")
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return Open(storage.Options{Addrs: []string{"file://" + path}}, 10*time.Second), path
}

func TestFileIsReplaced(t *testing.T) {
	s, path := openFile(t, "factor: {default: 1} # c\n")
	link := filepath.Join(t.TempDir(), "link.yaml")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	s.(*textFile).path = link
	if err := os.Chmod(path, 0o604); err != nil {
		t.Fatal(err)
	}
	n, err := s.Write(t.Context(), []Change{{Key: "factor/default", Old: at("1"), New: at("2")}}, nil)
	if n != 1 || err != nil {
		t.Fatal(n, err)
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "factor: {default: 2} # c\n" {
		t.Errorf("%q, %v", text, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is one no more: %v %v", info, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o604 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

func TestFileConflicts(t *testing.T) {
	const text = "factor: {default: 1}\n"
	for name, changes := range map[string][]Change{
		"another value":   {{Key: "factor/key/a", New: at("3")}, {Key: "factor/default", Old: at("2"), New: at("3")}},
		"there after all": {{Key: "factor/default", New: at("3")}},
		"gone":            {{Key: "factor/key/a", Old: at("2")}},
	} {
		s, path := openFile(t, text)
		n, err := s.Write(t.Context(), changes, nil)
		if n != 0 || !errors.Is(err, ErrConflict) {
			t.Errorf("%s: %d, %v", name, n, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// An editor that saves while the file is rewritten takes no lock, and is noticed.
func TestFileEditorWins(t *testing.T) {
	s, path := openFile(t, "factor: {default: 5}\n")
	err := s.(*textFile).replace(path, []byte("factor: {default: 1}\n"), []byte("factor: {default: 2}\n"))
	if got, _ := os.ReadFile(path); !errors.Is(err, ErrConflict) || string(got) != "factor: {default: 5}\n" {
		t.Errorf("%v, %q", err, got)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

func TestFileIsMissing(t *testing.T) {
	s := Open(storage.Options{Addrs: []string{"file:///nowhere/storage.yaml"}}, time.Second)
	if _, err := s.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "/nowhere/storage.yaml: there is no such file") {
		t.Error(err)
	}
	if _, err := s.Write(t.Context(), nil, nil); err == nil {
		t.Error("written")
	}
}

// Of many who add an entry each at once, nobody loses one.
func TestFileNoLostUpdates(t *testing.T) {
	s, _ := openFile(t, "")
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			key := fmt.Sprintf("factor/key/k%d", i)
			if _, err := s.Write(t.Context(), []Change{{Key: key, New: at("2")}}, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got, err := s.Read(t.Context()); err != nil || len(got.Entries) != 20 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestFileLockHasADeadline(t *testing.T) {
	s, path := openFile(t, "")
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	s.(*textFile).timeout = 50 * time.Millisecond
	if _, err := s.Write(t.Context(), nil, nil); err == nil || !strings.Contains(err.Error(), "another leveectl") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.(*textFile).timeout = time.Hour
	if _, err := s.Write(ctx, nil, nil); err == nil {
		t.Error("written without the lock")
	}
}
