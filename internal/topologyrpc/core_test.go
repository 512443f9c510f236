package topologyrpc

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"github.com/levee-project/levee/internal/topology"
	pb "github.com/levee-project/levee/internal/topologyrpc/topologyv1"
)

// TestMain checks that whoever starts a goroutine also waits for it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of the tests for what must happen. It is far longer
// than anything takes, so that a slow machine fails no test.
const patience = 30 * time.Second

// view returns a view of n limiters that serve.
func view(revision int64, n int) *topology.View {
	members := make([]topology.Member, n)
	for i := range members {
		addr := netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
		members[i] = topology.Member{
			ID: fmt.Sprintf("limiter-%d", i), Role: topology.Limiter, State: topology.Serving, Incarnation: 1,
			Gossip: netip.AddrPortFrom(addr, 7373), Service: netip.AddrPortFrom(addr, 5454), Version: "0.1.0", Weight: 1,
		}
	}
	return topology.NewView(revision, members)
}

// observer is a server that runs.
type observer struct {
	*Server
	t     testing.TB
	addrs topology.Addresses
	end   context.CancelFunc
	ended chan error
}

// start runs a server that serves view 1.
func start(t testing.TB, name string) *observer {
	t.Helper()
	o := run(t, name, "")
	o.Publish(view(1, 3))
	o.SetServing(true)
	return o
}

// run runs a server that has nothing to serve yet, at addr or, if that is empty,
// at a port of its own. It is stopped when the test ends.
func run(t testing.TB, name, addr string) *observer {
	t.Helper()
	s := NewServer(ServerOptions{ID: name, Log: slog.New(slog.DiscardHandler), Forget: func(id string) error {
		if id != "silent" {
			return fmt.Errorf("it is not silent")
		}
		return nil
	}})
	ln := listen(t, addr)
	ctx, end := context.WithCancel(context.Background())
	o := &observer{Server: s, t: t, addrs: at(name, ln), end: end, ended: make(chan error, 1)}
	go func() { o.ended <- s.Serve(ctx, ln) }()
	t.Cleanup(o.stop)
	return o
}

// at is how an observer's entry has the address of a listener.
func at(name string, ln net.Listener) topology.Addresses {
	return topology.Addresses{Name: name, Service: netip.MustParseAddrPort(ln.Addr().String())}
}

func listen(t testing.TB, addr string) net.Listener {
	t.Helper()
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

// stop stops the server, once, and waits for it.
func (o *observer) stop() {
	o.end()
	select {
	case err, first := <-o.ended:
		if !first {
			return
		}
		close(o.ended)
		if err != nil {
			o.t.Errorf("Serve: %v", err)
		}
	case <-time.After(patience):
		o.t.Error("Serve does not return")
	}
}

// client returns a connection to a server, closed with the test.
func client(t testing.TB, o *observer) *grpc.ClientConn {
	t.Helper()
	conn, err := dial(o.addrs.Service.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// watch opens a stream.
func watch(t testing.TB, conn *grpc.ClientConn) grpc.ServerStreamingClient[pb.Snapshot] {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	stream, err := pb.NewTopologyClient(conn).Watch(ctx, &pb.WatchRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

// receive waits for a snapshot, with a deadline.
func receive(t testing.TB, stream grpc.ServerStreamingClient[pb.Snapshot]) *pb.Snapshot {
	t.Helper()
	s, err := receiveOrFail(t, stream)
	if err != nil {
		t.Fatalf("receive: %v", err)
	}
	return s
}

func receiveOrFail(t testing.TB, stream grpc.ServerStreamingClient[pb.Snapshot]) (*pb.Snapshot, error) {
	t.Helper()
	type received struct {
		s   *pb.Snapshot
		err error
	}
	ch := make(chan received, 1)
	go func() {
		s, err := stream.Recv()
		ch <- received{s, err}
	}()
	select {
	case r := <-ch:
		return r.s, r.err
	case <-time.After(patience):
		t.Fatal("nothing is received")
		return nil, nil
	}
}

// eventually waits for a condition, with a deadline.
func eventually(t testing.TB, what string, met func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for !met() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("waited for nothing: %s", what)
		}
	}
}

// follower is a watcher that runs.
type follower struct {
	*Watcher
	t     testing.TB
	views chan *topology.View
	lost  chan error
	found chan struct{}
}

// follow runs a watcher of the observers until the test ends.
func follow(t testing.TB, timeout time.Duration, observers ...topology.Addresses) *follower {
	t.Helper()
	f := &follower{
		t: t, views: make(chan *topology.View, 1000), lost: make(chan error, 10), found: make(chan struct{}, 10),
	}
	f.Watcher = NewWatcher(WatcherOptions{
		Self: Identity{ID: "proxy-1", Version: "1.2.3", Admin: netip.MustParseAddrPort("0.0.0.0:9456")},
		Log:  slog.New(slog.DiscardHandler), Timeout: timeout,
		Apply: func(v *topology.View) { f.views <- v },
		Lost:  func(since time.Duration, err error) { f.lost <- fmt.Errorf("for %v: %w", since, err) },
		Found: func() { f.found <- struct{}{} },
	})
	f.SetObservers(observers)
	ctx, end := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := f.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(func() {
		end()
		running.Wait()
	})
	return f
}

// waitFor waits for a view of the revision, past others.
func (f *follower) waitFor(revision int64) *topology.View {
	f.t.Helper()
	late := time.After(patience)
	for {
		select {
		case v := <-f.views:
			if v.Revision() == revision {
				return v
			}
		case <-late:
			f.t.Fatalf("no view of revision %d", revision)
		}
	}
}

// waitLost waits for Lost, and returns what it was told.
func (f *follower) waitLost() error {
	f.t.Helper()
	select {
	case err := <-f.lost:
		return err
	case <-time.After(patience):
		f.t.Fatal("nobody says that the observers are lost")
		return nil
	}
}
