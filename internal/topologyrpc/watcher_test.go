package topologyrpc

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/levee-project/levee/internal/topology"
	pb "github.com/levee-project/levee/internal/topologyrpc/topologyv1"
)

func TestFollowing(t *testing.T) {
	t.Parallel()
	o := start(t, "o1")
	f := follow(t, patience, o.addrs)
	if v := f.waitFor(1); v.Live() != 3 {
		t.Errorf("%d limiters, want 3", v.Live())
	}
	eventually(t, "it shows that it follows one", f.Following)
	o.Publish(view(2, 0)) // what to do without a limiter is not the watcher's decision
	if v := f.waitFor(2); v.Live() != 0 {
		t.Errorf("%d limiters, want none", v.Live())
	}
	o.Publish(view(3, 5))
	f.waitFor(3)
	if len(f.lost) != 0 || len(f.found) != 0 {
		t.Error("observers were lost or found")
	}
}

func TestItGoesToAnotherAtOnce(t *testing.T) {
	t.Parallel()
	a, b := start(t, "a"), start(t, "b")
	f := follow(t, patience, a.addrs, b.addrs)
	f.waitFor(1)
	followed, other := a, b
	if b.Watchers() == 1 {
		followed, other = b, a
	}
	other.Publish(view(10, 1))
	began := time.Now()
	followed.stop()
	f.waitFor(10)
	if took := time.Since(began); took > headStart+3*time.Second {
		t.Errorf("that took %v", took)
	}
	if len(f.lost) != 0 {
		t.Errorf("%v", <-f.lost)
	}
}

func TestLostAndFound(t *testing.T) {
	t.Parallel()
	o := start(t, "o1")
	f := follow(t, 300*time.Millisecond, o.addrs)
	f.waitFor(1)
	o.stop()
	if err := f.waitLost(); !strings.Contains(err.Error(), "o1 ("+o.addrs.Service.String()+"): ") ||
		!strings.Contains(err.Error(), "connection refused") {
		t.Errorf("told %q, want who it is and that the connection is refused", err)
	}
	if f.Following() {
		t.Error("it shows that it follows one that is lost")
	}
	eventually(t, "a pause that is as long as they get", func() bool { return len(f.views) == 0 })
	back := run(t, "o1", o.addrs.Service.String())
	back.Publish(view(5, 2))
	back.SetServing(true)
	began := time.Now()
	f.waitFor(5)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("found after %v", took)
	}
	<-f.found
	if len(f.lost) != 0 || len(f.found) != 0 {
		t.Error("lost or found more than once")
	}
	back.stop()
	if f.waitLost() == nil {
		t.Error("lost without a reason")
	}
}

func TestNoObserverIsKnown(t *testing.T) {
	t.Parallel()
	f := follow(t, 50*time.Millisecond)
	if err := f.waitLost(); !strings.Contains(err.Error(), "observer/<NAME>") {
		t.Errorf("told %q", err)
	}
	o := start(t, "o1")
	f.SetObservers([]topology.Addresses{o.addrs})
	f.waitFor(1)
	<-f.found
}

func TestObserversComeAndGo(t *testing.T) {
	t.Parallel()
	a, b := start(t, "a"), run(t, "b", "")
	b.Publish(view(10, 2))
	b.SetServing(true)
	f := follow(t, patience, a.addrs)
	f.waitFor(1)
	f.SetObservers([]topology.Addresses{b.addrs, a.addrs}) // stays
	a.Publish(view(2, 2))
	f.waitFor(2)
	f.SetObservers([]topology.Addresses{b.addrs}) // leaves
	f.waitFor(10)
	eventually(t, "the removed observer has no watcher", func() bool { return a.Watchers() == 0 })
	// The same name at another address is another observer.
	moved := a.addrs
	moved.Name = "b"
	f.SetObservers([]topology.Addresses{moved})
	f.waitFor(2)
	eventually(t, "the old address has no watcher", func() bool { return b.Watchers() == 0 })
	f.SetObservers(nil)
	eventually(t, "nobody is followed", func() bool { return a.Watchers() == 0 })
}

// An observer that accepts connections and says nothing must not keep a watcher
// from those that work.
func TestASilentObserverIsPassedOver(t *testing.T) {
	t.Parallel()
	silent := listen(t, "")
	defer func() { _ = silent.Close() }()
	o := start(t, "o1")
	for range 5 {
		f := follow(t, patience, at("silent", silent), o.addrs)
		began := time.Now()
		f.waitFor(1)
		if took := time.Since(began); took > answerTime {
			t.Errorf("that took %v", took)
		}
	}
	f := follow(t, answerTime+500*time.Millisecond, at("silent", silent))
	if err := f.waitLost(); !strings.Contains(err.Error(), errLate.Error()) {
		t.Errorf("told %q, want %q", err, errLate)
	}
}

func TestAnObserverThatDoesNotServeYet(t *testing.T) {
	t.Parallel()
	starting := run(t, "starting", "")
	f := follow(t, time.Second, starting.addrs)
	if err := f.waitLost(); !strings.Contains(err.Error(), "starting does not serve yet") {
		t.Errorf("told %q", err)
	}
	starting.Publish(view(4, 2))
	starting.SetServing(true)
	f.waitFor(4)
}

// script is an observer that sends what it is told to.
type script struct {
	pb.UnimplementedTopologyServer
	snapshots []*pb.Snapshot
	end       error // after them
}

func (s *script) Watch(_ *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.Snapshot]) error {
	for _, snapshot := range s.snapshots {
		if err := stream.Send(snapshot); err != nil {
			return err
		}
	}
	return s.end
}

func (s *script) start(t *testing.T, name string) topology.Addresses {
	t.Helper()
	server, ln := grpc.NewServer(grpc.WaitForHandlers(true)), listen(t, "")
	pb.RegisterTopologyServer(server, s)
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(ln) })
	t.Cleanup(func() {
		server.Stop()
		serving.Wait()
	})
	return at(name, ln)
}

func TestMalformedSnapshotsAreAFailureOfTheObserver(t *testing.T) {
	t.Parallel()
	malformed := &pb.Snapshot{Revision: 7, Members: []*pb.Member{{Id: "nobody"}}}
	atOnce := (&script{snapshots: []*pb.Snapshot{malformed}}).start(t, "bad")
	f := follow(t, time.Second, atOnce)
	if err := f.waitLost(); !strings.Contains(err.Error(), `malformed snapshot, revision 7: member "nobody"`) {
		t.Errorf("told %q", err)
	}
	if len(f.views) != 0 {
		t.Error("it was applied")
	}

	later := (&script{snapshots: []*pb.Snapshot{encode("later", view(6, 1)), malformed}}).start(t, "later")
	f.SetObservers([]topology.Addresses{later})
	f.waitFor(6)
	o := run(t, "o1", "")
	o.Publish(view(8, 1))
	o.SetServing(true)
	f.SetObservers([]topology.Addresses{later, o.addrs})
	f.waitFor(8)
}

// An observer that breaks after each first snapshot is not run into over and over
// without a pause.
func TestABrokenObserverIsLeftAlone(t *testing.T) {
	t.Parallel()
	for _, end := range []error{nil, errors.New("something is wrong")} {
		f := follow(t, patience, (&script{snapshots: []*pb.Snapshot{encode("o", view(1, 1))}, end: end}).start(t, "o"))
		began := time.Now()
		for range 5 {
			f.waitFor(1)
		}
		if took := time.Since(began); took < 4*shortPause*3/4 {
			t.Errorf("5 times in %v", took)
		}
	}
}

// relay passes bytes on between a watcher and an observer until it is frozen, as
// a process is by SIGSTOP: connections stay, and nothing comes any more.
type relay struct {
	net.Listener
	target string
	frozen chan struct{}
	ended  chan struct{}
	work   sync.WaitGroup
}

func startRelay(t *testing.T, target string) *relay {
	r := &relay{Listener: listen(t, ""), target: target, frozen: make(chan struct{}), ended: make(chan struct{})}
	r.work.Go(r.accept)
	t.Cleanup(func() {
		close(r.ended)
		_ = r.Close()
		r.work.Wait()
	})
	return r
}

func (r *relay) accept() {
	for {
		from, err := r.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", r.target)
		if err != nil {
			_ = from.Close()
			continue
		}
		r.work.Go(func() { r.pass(from, to) })
		r.work.Go(func() { r.pass(to, from) })
	}
}

func (r *relay) pass(from, to net.Conn) {
	defer func() { _ = from.Close() }()
	r.work.Go(func() { // ends the reading, at the latest with the test
		select {
		case <-r.frozen:
		case <-r.ended:
		}
		_ = from.SetReadDeadline(time.Unix(1, 0))
	})
	_, _ = io.Copy(to, from)
	select {
	case <-r.frozen:
		<-r.ended // nobody hangs up
	default:
	}
	_ = to.Close()
}

func TestAHungObserverIsLeft(t *testing.T) {
	t.Parallel()
	hung, other := start(t, "hung"), run(t, "other", "")
	other.Publish(view(10, 1))
	other.SetServing(true)
	r := startRelay(t, hung.addrs.Service.String())
	f := follow(t, patience, at("hung", r))
	f.waitFor(1)
	f.SetObservers([]topology.Addresses{at("hung", r), other.addrs})
	began := time.Now()
	close(r.frozen)
	f.waitFor(10)
	took := time.Since(began)
	t.Logf("noticed after %v", took)
	if took > pingTime+pongTime+2*time.Second {
		t.Errorf("noticed after %v", took)
	}
	if len(f.lost) != 0 {
		t.Errorf("%v", <-f.lost)
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	list := []topology.Addresses{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	first := map[string]int{}
	for range 300 {
		got := order(list, topology.Addresses{})
		seen := map[string]bool{}
		for _, o := range got {
			seen[o.Name] = true
		}
		if len(got) != 3 || len(seen) != 3 {
			t.Fatalf("the order is %v", got)
		}
		first[got[0].Name]++
		if got := order(list, list[1]); got[2] != list[1] {
			t.Fatalf("the order is %v, want b at the end", got)
		}
	}
	for _, o := range list {
		if n := first[o.Name]; n < 50 {
			t.Errorf("%s came first %d times of 300", o.Name, n)
		}
	}
}

func TestPauses(t *testing.T) {
	t.Parallel()
	for n := range 100 {
		want := min(shortPause<<min(n, 10), longPause)
		if got := pause(n); got < want*3/4 || got > want*5/4 {
			t.Errorf("pause %d is %v, want about %v", n, got, want)
		}
	}
	if longest := longPause * 5 / 4; longest > 2*time.Second {
		t.Errorf("the longest pause is %v", longest)
	}
}
