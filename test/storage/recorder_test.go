package storage

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/storage"
	"github.com/levee-project/levee/internal/storage/etcd"
	"github.com/levee-project/levee/internal/tree"
)

// patience is how long anything is waited for. It is not a measure of speed.
const patience = 20 * time.Second

// running is a store at work, and what it has told.
type running struct {
	t     *testing.T
	log   lockedBuffer
	stop  func()
	taken func(*tree.Tree) // called with each tree, if set

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

func (r *running) logger() *slog.Logger { return slog.New(slog.NewTextHandler(&r.log, nil)) }

// follow runs an etcd store until the test ends.
func follow(t *testing.T, conf etcd.Config) *running {
	t.Helper()
	r := &running{t: t}
	r.run(etcd.New(conf, r.logger()))
	return r
}

// run runs a store until stop, or the end of the test, and holds that nothing
// of it is left then.
func (r *running) run(store storage.Store) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	// The label goes to every goroutine that the store and its client start.
	mark := fmt.Sprintf("%s %p", r.t.Name(), r)
	go pprof.Do(ctx, pprof.Labels("store", mark), func(ctx context.Context) {
		done <- store.Run(ctx, tree.Sink{Tree: r.tree, Status: r.status})
	})
	r.stop = sync.OnceFunc(func() {
		if len(goroutines(r.t, mark)) == 0 {
			r.t.Error("a running store has no goroutine: the search for leftovers would find none")
		}
		cancel()
		select {
		case err := <-done:
			if err != nil {
				r.t.Errorf("Run returned %v", err)
			}
		case <-time.After(patience):
			r.t.Error("Run does not return")
		}
		// The client's last ones need a moment to end after it was closed.
		left := goroutines(r.t, mark)
		for end := time.Now().Add(patience); len(left) > 0 && time.Now().Before(end); left = goroutines(r.t, mark) {
			time.Sleep(5 * time.Millisecond)
		}
		if len(left) > 0 {
			r.t.Errorf("goroutines are left:\n%s", strings.Join(left, "\n\n"))
		}
	})
	r.t.Cleanup(r.stop)
}

// goroutines lists the stacks of those that have a label.
func goroutines(t *testing.T, mark string) (stacks []string) {
	t.Helper()
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		t.Fatal(err)
	}
	for stack := range strings.SplitSeq(profile.String(), "\n\n") {
		if strings.Contains(stack, mark) {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

func (r *running) tree(tr *tree.Tree) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trees = append(r.trees, tr)
	if r.taken != nil {
		r.taken(tr)
	}
}

func (r *running) status(s tree.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.statuses = append(r.statuses, s)
}

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

func (r *running) wait(what string, ok func(tree.Tree, tree.Status) bool) tree.Tree {
	r.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if tr, s := r.last(); ok(tr, s) {
			return tr
		}
	}
	tr, s := r.last()
	r.t.Fatalf("waited in vain for %s; the tree is at revision %d with %d entries, the status %+v\n%s",
		what, tr.Revision, len(tr.Entries), s, &r.log)
	return tree.Tree{}
}

// waitTree waits until the store is connected and the tree has just these
// entries, key and value in turn.
func (r *running) waitTree(pairs ...string) tree.Tree {
	r.t.Helper()
	want := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		want[pairs[i]] = pairs[i+1]
	}
	return r.wait(fmt.Sprint(want), func(tr tree.Tree, s tree.Status) bool {
		return s.Connected && s.Err == nil && tr.Entries != nil && maps.Equal(tr.Entries, want)
	})
}

func (r *running) waitAway(why string) {
	r.t.Helper()
	r.wait("away: "+why, func(_ tree.Tree, s tree.Status) bool {
		return !s.Connected && s.Err != nil && strings.Contains(s.Err.Error(), why)
	})
}

// logged counts the log lines that hold a text.
func (r *running) logged(text string) int { return strings.Count(r.log.String(), text) }

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
