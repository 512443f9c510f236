package etcd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/levee-project/levee/internal/tree"
)

// TestProbe compares what a probe finds with what was listed.
func TestProbe(t *testing.T) {
	tests := []struct {
		name  string
		etcd  *faulty
		heard int64
		want  string
	}{
		{"the same", &faulty{cluster: 1, term: 2, revision: 10}, 10, ""},
		{"newer", &faulty{cluster: 1, term: 2, revision: 11}, 10, ""},
		{"another cluster", &faulty{cluster: 3, term: 2, revision: 10}, 10, "another cluster answers: id 3, was 1"},
		{"older than listed", &faulty{cluster: 1, term: 2, revision: 9}, 10, "the revision went back from 10 to 9"},
		{"older than watched", &faulty{cluster: 1, term: 2, revision: 15}, 20, "the revision went back from 20 to 15"},
		{"another leader", &faulty{cluster: 1, term: 4, revision: 10}, 10, "a new leader was elected: term 4, was 2"},
		{"away", &faulty{fail: func(int) error { return rpctypes.ErrNoLeader }}, 10, "probe: etcdserver: no leader"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			heard := &mark{}
			heard.raise(tt.heard)
			p := &probe{
				client: tt.etcd.client(t.Context()), key: "/levee/", timeout: time.Second, heard: heard,
				listed: &etcdserverpb.ResponseHeader{ClusterId: 1, RaftTerm: 2, Revision: 10},
			}
			err := p.once(t.Context())
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("the error is %v, want %q", err, tt.want)
			}
			if err == nil && (heard.revision.Load() != tt.etcd.revision || tt.etcd.progress != 1) {
				t.Errorf("heard of revision %d, asked the watch %d times", heard.revision.Load(), tt.etcd.progress)
			}
		})
	}
}

// TestProbesUntilTheEnd holds that probes come at their pace, and stop at a
// failure or with the session.
func TestProbesUntilTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &faulty{fail: func(n int) error {
			if n == 3 {
				return rpctypes.ErrNoLeader
			}
			return nil
		}}
		began, out := time.Now(), make(chan error)
		p := &probe{client: f.client(t.Context()), listed: &etcdserverpb.ResponseHeader{}, heard: &mark{}, timeout: time.Second}
		done := make(chan struct{})
		go func() { p.run(t.Context(), time.Second, out); close(done) }()
		for n := 1; n <= 3; n++ {
			if err := <-out; (err != nil) != (n == 3) {
				t.Errorf("probe %d: %v", n, err)
			}
		}
		<-done
		if d := time.Since(began); d != 3*time.Second {
			t.Errorf("3 probes took %v", d)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		p.run(ctx, time.Second, make(chan error)) // nobody listens
	})
}

// following runs follow on a picture of revision 10 and a watch that a test
// writes to.
type following struct {
	watch  chan clientv3.WatchResponse
	probes chan error
	heard  mark
	trees  []*tree.Tree
	err    chan error
}

func follow(t *testing.T) *following {
	f := &following{watch: make(chan clientv3.WatchResponse), probes: make(chan error), err: make(chan error, 1)}
	s := &session{conf: testConfig(), handOut: func(tr *tree.Tree) { f.trees = append(f.trees, tr) }}
	p := newPicture("/levee/")
	p.revision = 10
	p.entries["a"] = "1"
	go func() { f.err <- s.follow(t.Context(), p, &f.heard, f.watch, f.probes) }()
	return f
}

func (f *following) wantTrees(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, tr := range f.trees {
		got = append(got, fmt.Sprint(tr.Revision, tr.Entries))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the trees are %v, want %v", got, want)
	}
}

func TestFollowHandsOutCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t)
		f.watch <- response(put("/levee/b", "2", 11))
		time.Sleep(time.Second) //nolint:forbidigo // in a synctest bubble
		f.watch <- response(deleted("/levee/a", 13), deleted("/levee/never", 13), put("/levee/b", "3", 14))
		time.Sleep(time.Second) //nolint:forbidigo // in a synctest bubble
		f.watch <- progress(20)
		close(f.watch)
		if err := <-f.err; !errors.Is(err, errClosed) {
			t.Errorf("the error is %v", err)
		}
		f.wantTrees(t, "11 map[a:1 b:2]", "14 map[b:3]")
		if f.heard.revision.Load() != 20 {
			t.Errorf("heard of revision %d", f.heard.revision.Load())
		}
	})
}

// TestFollowGathers holds that many responses in a row make few trees, and that
// a stream that never pauses still makes some.
func TestFollowGathers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t)
		began := time.Now()
		for i := range int64(1000) {
			f.watch <- response(put("/levee/b", fmt.Sprint(i), 11+i))
			time.Sleep(time.Millisecond) //nolint:forbidigo // in a synctest bubble
		}
		close(f.watch)
		if err := <-f.err; !errors.Is(err, errClosed) {
			t.Errorf("the error is %v", err)
		}
		most := int(time.Since(began)/lingerMax) + 1
		if n := len(f.trees); n < most/2 || n > most {
			t.Errorf("1000 changes in a second made %d trees, want about %d", n, most)
		}
	})
}

func TestFollowEnds(t *testing.T) {
	tests := []struct {
		name string
		do   func(*following)
		want error
	}{
		{"compacted", func(f *following) { f.watch <- clientv3.WatchResponse{Canceled: true, CompactRevision: 50} }, rpctypes.ErrCompacted},
		{"a failed probe", func(f *following) { f.probes <- errLost }, errLost},
		{"silent", func(f *following) {
			for range silentProbes + 1 {
				f.probes <- nil
			}
		}, errSilent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := follow(t)
				for range 3 * silentProbes { // a watch that answers is not silent
					f.probes <- nil
					f.watch <- progress(10)
				}
				tt.do(f)
				if err := <-f.err; !errors.Is(err, tt.want) {
					t.Errorf("the error is %v, want %v", err, tt.want)
				}
				f.wantTrees(t)
			})
		})
	}
}

// TestPictureIsBounded counts what it holds through puts and deletes.
func TestPictureIsBounded(t *testing.T) {
	p := newPicture("/levee/")
	big := strings.Repeat("x", 1<<20)
	for i := range 1000 { // the same key again and again does not add up
		if err := p.apply([]*clientv3.Event{put("/levee/a", big, int64(i))}); err != nil {
			t.Fatal(err)
		}
	}
	if want := map[string]string{"a": big}; p.size != len("a")+len(big) || !maps.Equal(p.entries, want) {
		t.Errorf("the size is %d", p.size)
	}
	var err error
	for i := 0; err == nil && i <= 2*maxTree>>20; i++ {
		err = p.apply([]*clientv3.Event{put(fmt.Sprint("/levee/", i), big, int64(i))})
	}
	if err == nil || !strings.Contains(err.Error(), "more than 256 MiB below /levee/") {
		t.Errorf("the error is %v", err)
	}
}
