package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

func testConfig() Config {
	return Config{Endpoints: []string{"http://a:2379"}, Prefix: "/levee/", PageSize: 10}.withDefaults()
}

// numbered is 25 keys below the prefix, with neighbours on both sides.
func numbered() (keys []string) {
	keys = append(keys, "/levee", "/levee/")
	for i := range 25 {
		keys = append(keys, fmt.Sprintf("/levee/k%02d", i))
	}
	return append(keys, "/levee0", "/levf")
}

func TestListPages(t *testing.T) {
	f := &faulty{cluster: 1, term: 2, revision: 7, keys: numbered()}
	l, err := testConfig().list(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.entries) != 25 || l.revision != 7 || l.header.Header.ClusterId != 1 {
		t.Errorf("%d entries at revision %d of cluster %d", len(l.entries), l.revision, l.header.Header.ClusterId)
	}
	if l.entries["k00"] != "7" || l.entries["k24"] != "7" {
		t.Errorf("the entries are %v", l.entries)
	}
	if len(f.asked) != 3 {
		t.Fatalf("%d pages, want 3", len(f.asked))
	}
	for i, op := range f.asked {
		if want := int64(min(i, 1) * 7); op.Rev() != want || string(op.RangeBytes()) != "/levee0" {
			t.Errorf("page %d is read at revision %d up to %q", i, op.Rev(), op.RangeBytes())
		}
	}
}

// TestListOneRevision has the store change between pages: the later pages are
// of the first page's revision.
func TestListOneRevision(t *testing.T) {
	f := &faulty{revision: 7, keys: numbered()}
	f.fail = func(n int) error { f.revision = 6 + int64(n); return nil }
	l, err := testConfig().list(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range l.entries {
		if value != "7" {
			t.Errorf("%s is of revision %s", key, value)
		}
	}
	if l.revision != 7 {
		t.Errorf("the list is of revision %d", l.revision)
	}
}

// TestListCompacted has the revision compacted away while it is read.
func TestListCompacted(t *testing.T) {
	f := &faulty{revision: 7, keys: numbered()}
	f.fail = func(n int) error {
		if n == 2 {
			f.revision = 9
			return rpctypes.ErrCompacted
		}
		return nil
	}
	l, err := testConfig().list(t.Context(), f)
	if err != nil || l.revision != 9 || len(l.entries) != 25 {
		t.Errorf("after a compaction: %v at revision %d, %v", l.entries, l.revision, err)
	}

	f = &faulty{revision: 7, keys: numbered()}
	f.fail = func(n int) error {
		if n%2 == 0 {
			return rpctypes.ErrCompacted
		}
		return nil
	}
	if _, err := testConfig().list(t.Context(), f); !errors.Is(err, rpctypes.ErrCompacted) || len(f.asked) != 2*listAttempts {
		t.Errorf("compacted for ever: %v after %d reads", err, len(f.asked))
	}
}

// TestGetDeadline holds that a read that hangs ends, and says so.
func TestGetDeadline(t *testing.T) {
	f := &faulty{}
	_, err := get(t.Context(), hanging{f}, time.Millisecond, "/levee/")
	if err == nil || !strings.HasPrefix(err.Error(), "no answer within 1ms: ") {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := get(ctx, hanging{f}, time.Hour, "/levee/"); !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancel the error is %v", err)
	}
}
