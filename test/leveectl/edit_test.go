package leveectl

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/levee-project/levee/internal/storage"
	"github.com/levee-project/levee/internal/storage/edit"
	"github.com/levee-project/levee/test/etcdtest"
)

// changes set so many keys, from nothing.
func changes(n int) (list []edit.Change) {
	value := "2"
	for i := range n {
		list = append(list, edit.Change{Key: fmt.Sprintf("factor/key/k%d", i), New: &value})
	}
	return list
}

// TestEtcdConflicts writes over what was written meanwhile: it is refused, and
// nothing of the same transaction is made.
func TestEtcdConflicts(t *testing.T) {
	s := etcdtest.Start(t, etcdtest.Options{})
	store := edit.Open(storage.Options{Addrs: []string{s.Endpoint()}, Prefix: "/levee"}, wait)
	one, two := "1", "2"
	for name, tt := range map[string]struct {
		there  []string
		change edit.Change
	}{
		"another value":              {[]string{"/levee/factor/default", "3"}, edit.Change{Key: "factor/default", Old: &one, New: &two}},
		"gone":                       {nil, edit.Change{Key: "factor/default", Old: &one, New: &two}},
		"there after all":            {[]string{"/levee/factor/default", "3"}, edit.Change{Key: "factor/default", New: &two}},
		"changed, and to be deleted": {[]string{"/levee/factor/default", "3"}, edit.Change{Key: "factor/default", Old: &one}},
	} {
		s.Delete("/levee/factor/default")
		if len(tt.there) > 0 {
			s.Put(tt.there...)
		}
		before := s.Revision()
		n, err := store.Write(t.Context(), append(changes(edit.AtOnce-1), tt.change), nil)
		if n != 0 || !errors.Is(err, edit.ErrConflict) || !strings.HasPrefix(err.Error(), "factor/default: ") {
			t.Errorf("%s: %d, %v", name, n, err)
		}
		if s.Revision() != before {
			t.Errorf("%s: something was written", name)
		}
	}
}

// What fits is one transaction, and what does not is several, of which those
// before the one that fails stay.
func TestEtcdTransactions(t *testing.T) {
	s := etcdtest.Start(t, etcdtest.Options{})
	store := edit.Open(storage.Options{Addrs: []string{s.Endpoint()}, Prefix: "/levee"}, wait)
	before := s.Revision()
	if n, err := store.Write(t.Context(), changes(edit.AtOnce), nil); n != edit.AtOnce || err != nil {
		t.Fatal(n, err)
	}
	if got := s.Revision() - before; got != 1 {
		t.Errorf("%d revisions, want 1", got)
	}
	s.Delete("/levee/factor/key/k0")
	list := changes(3 * edit.AtOnce)
	old := "2"
	for i := 1; i < edit.AtOnce; i++ {
		list[i].Old = &old
	}
	s.Put("/levee/factor/key/k300", "9")
	var told []int
	n, err := store.Write(t.Context(), list, func(done int) { told = append(told, done) })
	if n != 2*edit.AtOnce || !errors.Is(err, edit.ErrConflict) || fmt.Sprint(told) != "[128 256]" {
		t.Errorf("%d, %v, told %v", n, err, told)
	}
	// Large values go in smaller transactions than etcd would refuse.
	large := strings.Repeat("x", 100<<10)
	list = changes(40)
	for i := range list {
		list[i].Key += "-large"
		list[i].New = &large
	}
	if n, err := store.Write(t.Context(), list, nil); n != len(list) || err != nil {
		t.Error(n, err)
	}
}

// TestEtcdNoLostUpdates has many count one entry up at once, each until it
// succeeds.
func TestEtcdNoLostUpdates(t *testing.T) {
	s := etcdtest.Start(t, etcdtest.Options{})
	store := edit.Open(storage.Options{Addrs: []string{s.Endpoint()}, Prefix: "/levee"}, wait)
	s.Put("/levee/factor/default", "0")
	const writers, times = 4, 5
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for done := 0; done < times; {
				tree, err := store.Read(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				old := tree.Entries["factor/default"]
				next := old + "+"
				_, err = store.Write(t.Context(), []edit.Change{{Key: "factor/default", Old: &old, New: &next}}, nil)
				switch {
				case err == nil:
					done++
				case !errors.Is(err, edit.ErrConflict):
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	tree, err := store.Read(t.Context())
	if got := tree.Entries["factor/default"]; err != nil || len(got) != 1+writers*times {
		t.Errorf("%q, %v", got, err)
	}
}
