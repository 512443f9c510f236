package file

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/levee-project/levee/internal/tree"
)

// running is a store at work, and what it has told.
type running struct {
	t    *testing.T
	log  *lockedBuffer
	stop func()

	mu       sync.Mutex
	trees    []*tree.Tree
	statuses []tree.Status
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start runs a store on path until the test ends, and holds that nothing of it
// is left then.
func start(t *testing.T, path string) *running {
	t.Helper()
	before := goleak.IgnoreCurrent()
	r := &running{t: t, log: &lockedBuffer{}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- New(path, slog.New(slog.NewTextHandler(r.log, nil))).Run(ctx, tree.Sink{
			Tree: func(tr *tree.Tree) {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.trees = append(r.trees, tr)
			},
			Status: func(s tree.Status) {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.statuses = append(r.statuses, s)
			},
		})
	}()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run returned %v", err)
		}
		goleak.VerifyNone(t, before)
	})
	t.Cleanup(r.stop)
	return r
}

// last returns the last tree and status told.
func (r *running) last() (tr tree.Tree, s tree.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.trees); n > 0 {
		tr = *r.trees[n-1]
	}
	if n := len(r.statuses); n > 0 {
		s = r.statuses[n-1]
	}
	return tr, s
}

// wait waits until the store is in a state.
func (r *running) wait(what string, ok func(tree.Tree, tree.Status) bool) tree.Tree {
	r.t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) { //nolint:forbidigo // polls, with a deadline
		if tr, s := r.last(); ok(tr, s) {
			return tr
		}
	}
	tr, s := r.last()
	r.t.Fatalf("waited in vain for %s; the tree is %v, the status %+v\n%s", what, tr, s, r.log)
	return tree.Tree{}
}

// waitFactor waits until factor/default has a value and the file is sound.
func (r *running) waitFactor(want int) tree.Tree {
	r.t.Helper()
	return r.wait(fmt.Sprintf("factor/default %d", want), func(tr tree.Tree, s tree.Status) bool {
		return tr.Entries["factor/default"] == fmt.Sprint(want) && s == tree.Status{Connected: true}
	})
}

func factor(n int) string { return fmt.Sprintf("factor: {default: %d}\n", n) }

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// replace puts a new file in the place of the old one, as Ansible and most
// editors do.
func replace(t *testing.T, path, text string) {
	t.Helper()
	write(t, path+".tmp", text)
	must(t, os.Rename(path+".tmp", path))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestChangesInPlaceAndByRename(t *testing.T) {
	path := filepath.Join(t.TempDir(), "storage.yaml")
	write(t, path, factor(1))
	r := start(t, path)
	if tr := r.waitFactor(1); tr.Revision != 1 {
		t.Errorf("the first revision is %d", tr.Revision)
	}
	replace(t, path, factor(2))
	r.waitFactor(2)
	write(t, path, factor(3))
	r.waitFactor(3)
	write(t, path, "# only a comment more\n"+factor(3))
	replace(t, path, factor(3))
	replace(t, path, factor(4))
	if tr := r.waitFactor(4); tr.Revision != 4 {
		t.Errorf("the revision is %d after 3 changes of content", tr.Revision)
	}
	if strings.Contains(r.log.String(), "level=ERROR") {
		t.Errorf("sound changes were logged as errors:\n%s", r.log)
	}
}

func TestMissingThenThereThenGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "storage.yaml")
	r := start(t, path)
	r.wait("a missing file", func(tr tree.Tree, s tree.Status) bool {
		return tr.Revision == 0 && !s.Connected && !s.Broken && s.Err != nil && strings.Contains(s.Err.Error(), path)
	})
	write(t, path, factor(1))
	r.waitFactor(1)
	must(t, os.Remove(path))
	r.wait("the old tree with a missing file", func(tr tree.Tree, s tree.Status) bool {
		return tr.Revision == 1 && !s.Connected && s.Err != nil
	})
	write(t, path, factor(2))
	r.waitFactor(2)
	if n := strings.Count(r.log.String(), "level=ERROR"); n != 2 {
		t.Errorf("%d error lines, want one for each time the file was missing:\n%s", n, r.log)
	}
}

func TestBrokenFileKeepsTheTree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "storage.yaml")
	write(t, path, factor(1))
	r := start(t, path)
	r.waitFactor(1)
	replace(t, path, "factor:\n  default: 2\n  default: 3\n")
	r.wait("a broken file", func(tr tree.Tree, s tree.Status) bool {
		return s.Broken && strings.Contains(s.Err.Error(), path+": line 3: ") && tr.Entries["factor/default"] == "1"
	})
	replace(t, path, factor(1))
	if tr := r.waitFactor(1); tr.Revision != 1 {
		t.Errorf("repairing to the same content made revision %d", tr.Revision)
	}
}

func TestSymbolicLinks(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	path, target := filepath.Join(dir, "storage.yaml"), filepath.Join(elsewhere, "one.yaml")
	write(t, target, factor(1))
	must(t, os.Symlink(target, path))
	r := start(t, path)
	r.waitFactor(1)
	write(t, target, factor(2)) // nothing happens in the watched directory
	r.waitFactor(2)
	other := filepath.Join(elsewhere, "two.yaml")
	write(t, other, factor(3))
	must(t, os.Symlink(other, path+".tmp"))
	must(t, os.Rename(path+".tmp", path))
	r.waitFactor(3)
}

// TestKubernetesVolume swaps a link beside the file, so that no event names it.
func TestKubernetesVolume(t *testing.T) {
	dir := t.TempDir()
	for n := 1; n <= 2; n++ {
		version := filepath.Join(dir, fmt.Sprintf("..v%d", n))
		must(t, os.Mkdir(version, 0o700))
		write(t, filepath.Join(version, "storage.yaml"), factor(n))
	}
	must(t, os.Symlink("..v1", filepath.Join(dir, "..data")))
	must(t, os.Symlink("..data/storage.yaml", filepath.Join(dir, "storage.yaml")))
	r := start(t, filepath.Join(dir, "storage.yaml"))
	r.waitFactor(1)
	must(t, os.Symlink("..v2", filepath.Join(dir, "..tmp")))
	must(t, os.Rename(filepath.Join(dir, "..tmp"), filepath.Join(dir, "..data")))
	r.waitFactor(2)
}

func TestDirectoryThatComesLaterAndIsReplaced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "etc", "levee")
	path := filepath.Join(dir, "storage.yaml")
	r := start(t, path)
	r.wait("a missing directory", func(_ tree.Tree, s tree.Status) bool { return s.Err != nil })
	for n := 1; n <= 3; n++ {
		must(t, os.MkdirAll(dir, 0o700))
		write(t, path, factor(10*n))
		r.waitFactor(10 * n)
		write(t, path, factor(10*n+1))
		r.waitFactor(10*n + 1)
		if n == 1 {
			must(t, os.RemoveAll(dir))
		} else {
			must(t, os.Rename(dir, dir+".old"+fmt.Sprint(n)))
		}
	}
}

// TestBurst has a writer that never pauses. The file must be taken up while it
// goes on.
func TestBurst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "storage.yaml")
	write(t, path, factor(1))
	r := start(t, path)
	r.waitFactor(1)
	for n := 2; ; n++ {
		replace(t, path, factor(n))
		if tr, _ := r.last(); tr.Revision > 1 {
			t.Logf("taken up after %d writes", n-1)
			return
		}
		if n > 10000 {
			t.Fatal("not taken up after 10,000 writes")
		}
		time.Sleep(time.Millisecond) //nolint:forbidigo // the pace of the writer
	}
}

// TestTruncated holds that a file without a byte, where there were entries,
// does not count before it has stayed so: an empty tree limits nothing.
func TestTruncated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "storage.yaml")
	var last *tree.Tree
	f := newFollower(path, tree.Sink{Tree: func(t *tree.Tree) { last = t }, Status: func(tree.Status) {}}, slog.New(slog.DiscardHandler))
	now := time.Now()
	write(t, path, factor(1))
	if again := f.look(now); again != 0 || len(last.Entries) != 1 {
		t.Fatalf("look again after %v, the tree is %v", again, last)
	}
	write(t, path, "")
	if again := f.look(now); again != emptyGrace || last.Revision != 1 {
		t.Fatalf("look again after %v, the tree is %v", again, last)
	}
	write(t, path, factor(1))
	f.look(now.Add(emptyGrace / 2))
	write(t, path, "")
	if again := f.look(now.Add(emptyGrace)); again != emptyGrace || last.Revision != 1 {
		t.Fatalf("an earlier truncation counts: look again after %v, the tree is %v", again, last)
	}
	if again := f.look(now.Add(2 * emptyGrace)); again != 0 || last.Revision != 2 || len(last.Entries) != 0 {
		t.Fatalf("an emptied file is not taken up: look again after %v, the tree is %v", again, last)
	}
}

// TestNotAFile names things that must not be read, or waited for.
func TestNotAFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	for _, path := range []string{dir, pipe} {
		r := start(t, path)
		r.wait("a refusal", func(tr tree.Tree, s tree.Status) bool {
			return tr.Revision == 0 && !s.Connected && s.Err != nil && strings.Contains(s.Err.Error(), path+" is not a regular file")
		})
		r.stop()
	}
}
