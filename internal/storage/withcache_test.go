package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/levee-project/levee/internal/tree"
)

// scripted is a store that tells what it is told to.
type scripted func(ctx context.Context, sink tree.Sink) error

func (s scripted) Run(ctx context.Context, sink tree.Sink) error { return s(ctx, sink) }

var errAway = errors.New("etcd at http://a:2379: connection refused")

// run runs a store with a cache for a minute and returns what the sink was
// told: "3.0s tree 42", "2.0s connected", "0.0s away: ...".
func run(t *testing.T, cache *Cache, store scripted) (told []string, log string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var b bytes.Buffer
	began, busy := time.Now(), false
	tell := func(format string, args ...any) {
		if busy {
			t.Error("the sink was called while it was being called")
		}
		busy = true
		time.Sleep(time.Millisecond) //nolint:forbidigo // in a synctest bubble
		busy = false
		told = append(told, fmt.Sprintf("%.1fs ", time.Since(began).Seconds())+fmt.Sprintf(format, args...))
	}
	sink := tree.Sink{
		Tree: func(tr *tree.Tree) { tell("tree %d", tr.Revision) },
		Status: func(s tree.Status) {
			if s.Connected {
				tell("connected")
			} else {
				tell("away: %v", s.Err)
			}
		},
	}
	if err := WithCache(store, cache, CacheWait, slog.New(slog.NewTextHandler(&b, nil))).Run(ctx, sink); err != nil {
		t.Errorf("Run returned %v", err)
	}
	return told, b.String()
}

// after returns a store that tells that it is away, if it does not hang, and
// that is there after a while.
func after(d time.Duration, hangs bool) scripted {
	return func(ctx context.Context, sink tree.Sink) error {
		if !hangs {
			sink.Status(tree.Status{Err: errAway})
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(d):
		}
		sink.Tree(&tree.Tree{Revision: 7})
		sink.Status(tree.Status{Connected: true})
		<-ctx.Done()
		return nil
	}
}

func TestWithCache(t *testing.T) {
	full := filepath.Join(t.TempDir(), "cache")
	if err := testCache(t, full, cluster).Write(sample()); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(t.TempDir(), "cache")
	if err := os.WriteFile(damaged, []byte("?"), 0o600); err != nil {
		t.Fatal(err)
	}
	const served = "serving revision 42 from the cache of "
	tests := []struct {
		name  string
		path  string
		store scripted
		told  []string // beginnings
		log   string
	}{
		{"the store answers at once", full, after(0, true), []string{"0.0s tree 7", "0.0s connected"}, ""},
		{"the store answers in time", full, after(time.Second, false), []string{"0.0s away: etcd", "1.0s tree 7", "1.0s connected"}, ""},
		{
			"the store is away", full, after(time.Hour, false),
			[]string{"0.0s away: etcd", "2.0s tree 42", "2.0s away: etcd at http://a:2379: connection refused (" + served},
			"starting from its cache",
		},
		{
			"the store hangs", full, after(time.Hour, true),
			[]string{"2.0s tree 42", "2.0s away: storage: no answer within 2s (" + served},
			"starting from its cache",
		},
		{
			"the store answers late", full, after(5*time.Second, false),
			[]string{"0.0s away", "2.0s tree 42", "2.0s away: etcd", "5.0s tree 7", "5.0s connected"},
			"starting from its cache",
		},
		{"no cache yet", full + "none", after(5*time.Second, false), []string{"0.0s away", "5.0s tree 7", "5.0s connected"}, "there is no cache yet"},
		{"a damaged cache", damaged, after(5*time.Second, false), []string{"0.0s away", "5.0s tree 7", "5.0s connected"}, "not a cache of the storage"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told, log := run(t, testCache(t, tt.path, cluster), tt.store)
				if !slices.EqualFunc(told, tt.told, strings.HasPrefix) {
					t.Errorf("told\n\t%s\nwant\n\t%s", strings.Join(told, "\n\t"), strings.Join(tt.told, "\n\t"))
				}
				if tt.log == "" && log != "" || !strings.Contains(log, tt.log) {
					t.Errorf("the log is %q, want %q in it", log, tt.log)
				}
			})
		})
	}
}

// TestWithCacheStatusWhileCached holds that every status says that the cache is
// served, until it is not.
func TestWithCacheStatusWhileCached(t *testing.T) {
	full := filepath.Join(t.TempDir(), "cache")
	if err := testCache(t, full, cluster).Write(sample()); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		told, _ := run(t, testCache(t, full, cluster), func(ctx context.Context, sink tree.Sink) error {
			time.Sleep(5 * time.Second) //nolint:forbidigo // in a synctest bubble
			sink.Status(tree.Status{Err: errAway})
			sink.Tree(&tree.Tree{Revision: 7})
			sink.Status(tree.Status{Err: errAway})
			<-ctx.Done()
			return nil
		})
		if len(told) != 5 || !strings.Contains(told[2], "(serving revision 42") || strings.Contains(told[4], "serving") {
			t.Errorf("told %q", told)
		}
	})
}

// TestWithCacheWritesUntilTheEnd holds that Run writes the cache and does not
// end before the last tree is on the disk.
func TestWithCacheWritesUntilTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	synctest.Test(t, func(t *testing.T) {
		cache := testCache(t, path, cluster)
		run(t, cache, func(ctx context.Context, _ tree.Sink) error {
			cache.Save(&tree.Tree{Revision: 1})
			<-ctx.Done()
			cache.Save(&tree.Tree{Revision: 2})
			return nil
		})
		if got, _, err := cache.Load(); err != nil || got.Revision != 2 {
			t.Errorf("on the disk: %v, %v", got, err)
		}
	})
}

// TestWithoutCache is what a daemon without storage-cache gets.
func TestWithoutCache(t *testing.T) {
	store := scripted(func(context.Context, tree.Sink) error { return errAway })
	if err := WithCache(store, nil, CacheWait, slog.New(slog.DiscardHandler)).Run(t.Context(), tree.Sink{}); !errors.Is(err, errAway) {
		t.Errorf("Run returned %v", err)
	}
	cache := testCache(t, filepath.Join(t.TempDir(), "cache"), cluster)
	if err := WithCache(store, cache, CacheWait, slog.New(slog.DiscardHandler)).Run(t.Context(), tree.Sink{}); !errors.Is(err, errAway) {
		t.Errorf("Run with a cache returned %v", err)
	}
}
