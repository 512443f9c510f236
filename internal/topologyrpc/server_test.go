package topologyrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	pb "github.com/levee-project/levee/internal/topologyrpc/topologyv1"
)

func TestASnapshotFirstAndAtEachChange(t *testing.T) {
	o := start(t, "o1")
	stream := watch(t, client(t, o))
	if s := receive(t, stream); s.GetRevision() != 1 || s.GetObserver() != "o1" || len(s.GetMembers()) != 3 {
		t.Errorf("the first snapshot is %v", s)
	}
	for revision := int64(2); revision < 20; revision++ {
		o.Publish(view(revision, int(revision)))
		if s := receive(t, stream); s.GetRevision() != revision || len(s.GetMembers()) != int(revision) {
			t.Fatalf("revision %d with %d members, want %d", s.GetRevision(), len(s.GetMembers()), revision)
		}
	}
	late := watch(t, client(t, o))
	if s := receive(t, late); s.GetRevision() != 19 {
		t.Errorf("who comes late is sent revision %d, want the latest, 19", s.GetRevision())
	}
}

func TestAnEmptyClusterIsASnapshot(t *testing.T) {
	o := run(t, "o1", "")
	o.Publish(view(7, 0))
	o.SetServing(true)
	if s := receive(t, watch(t, client(t, o))); s.GetRevision() != 7 || len(s.GetMembers()) != 0 {
		t.Errorf("the snapshot is %v", s)
	}
}

// healthOf asks for the health of the server and of the service, which agree.
func healthOf(t *testing.T, conn *grpc.ClientConn) healthpb.HealthCheckResponse_ServingStatus {
	t.Helper()
	var got []healthpb.HealthCheckResponse_ServingStatus
	for _, name := range []string{"", "levee.topology.v1.Topology"} {
		r, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{Service: name})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.GetStatus())
	}
	if got[0] != got[1] {
		t.Errorf("the server is %v and the service %v", got[0], got[1])
	}
	return got[0]
}

func TestNothingIsServedBeforeItsTime(t *testing.T) {
	o := run(t, "o1", "")
	conn := client(t, o)
	refused := func(want string) {
		t.Helper()
		_, err := receiveOrFail(t, watch(t, conn))
		if status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), want) {
			t.Errorf("Watch: %v, want UNAVAILABLE with %q", err, want)
		}
		if _, err := pb.NewTopologyClient(conn).Forget(t.Context(), &pb.ForgetRequest{Id: "silent"}); status.Code(err) != codes.Unavailable {
			t.Errorf("Forget: %v, want UNAVAILABLE", err)
		}
		if got := healthOf(t, conn); got != healthpb.HealthCheckResponse_NOT_SERVING {
			t.Errorf("health is %v", got)
		}
	}
	refused("o1 does not serve yet")
	o.Publish(view(1, 3))
	refused("o1 does not serve yet")

	o.SetServing(true)
	stream := watch(t, conn)
	receive(t, stream)
	if got := healthOf(t, conn); got != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("health is %v", got)
	}

	o.SetServing(false)
	if _, err := receiveOrFail(t, stream); status.Code(err) != codes.Unavailable {
		t.Errorf("the stream ends with %v, want UNAVAILABLE", err)
	}
	refused("this observer is stopping")
}

func TestAStopEndsStreamsAtOnceAndWaitsForNobody(t *testing.T) {
	o := start(t, "o1")
	stream := watch(t, client(t, o))
	receive(t, stream)
	// A client that has connected and then does nothing.
	idle, err := net.Dial("tcp", o.addrs.Service.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = idle.Close() }()
	// One that never reads what it asked for.
	deaf := watch(t, client(t, o))
	eventually(t, "both watch", func() bool { return o.Watchers() == 2 && deaf != nil })
	// One that watches the health, which has no end.
	if _, err := healthpb.NewHealthClient(client(t, o)).Watch(t.Context(), &healthpb.HealthCheckRequest{}); err != nil {
		t.Fatal(err)
	}

	began := time.Now()
	o.end()
	if _, err := receiveOrFail(t, stream); status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "stopping") {
		t.Errorf("the stream ends with %v, want UNAVAILABLE and that it is stopping", err)
	}
	o.stop()
	if took := time.Since(began); took > max(goodbyeTime, handshakeTime)+2*time.Second {
		t.Errorf("the stop took %v", took)
	}
	if n := o.Watchers(); n != 0 {
		t.Errorf("%d watchers are left", n)
	}
}

func TestServeSaysWhatItsListenerSays(t *testing.T) {
	o := start(t, "o1")
	ln := listen(t, "")
	_ = ln.Close()
	s := NewServer(o.o)
	if err := s.Serve(t.Context(), ln); err == nil || !strings.Contains(err.Error(), ln.Addr().String()) {
		t.Errorf("Serve: %v, want an error with the address", err)
	}
}

// A watcher that does not read must cost neither memory nor the others' time, and
// be sent the newest snapshot when it reads again.
func TestASlowWatcherGetsTheNewest(t *testing.T) {
	o := start(t, "o1")
	slow, quick := watch(t, client(t, o)), watch(t, client(t, o))
	receive(t, slow)
	receive(t, quick)
	const last = 3000 // of 100 members each: 25 MB
	before := heap()
	for revision := int64(2); revision <= last; revision++ {
		o.Publish(view(revision, 100))
		if revision%100 == 0 {
			for receive(t, quick).GetRevision() != revision {
				continue
			}
		}
	}
	if grown := heap() - before; grown > 4<<20 {
		t.Errorf("%d bytes are held for a watcher that does not read", grown)
	}
	received, previous := 0, int64(1)
	for previous != last {
		s := receive(t, slow)
		if s.GetRevision() <= previous {
			t.Fatalf("revision %d after %d", s.GetRevision(), previous)
		}
		previous = s.GetRevision()
		received++
	}
	t.Logf("%d of %d snapshots were sent to the slow watcher", received, last)
	if received > last/5 {
		t.Errorf("%d of %d snapshots were kept for it", received, last)
	}
}

// heap is the bytes in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestManyWatchers(t *testing.T) {
	const connections, each = 4, 500
	o := start(t, "o1")
	var conns []*grpc.ClientConn
	var streams []grpc.ServerStreamingClient[pb.Snapshot]
	for range connections {
		conn := client(t, o)
		conns = append(conns, conn)
		for range each {
			streams = append(streams, watch(t, conn))
		}
	}
	for _, s := range streams {
		receive(t, s)
	}
	if n := o.Watchers(); n != connections*each {
		t.Errorf("%d watchers, want %d", n, connections*each)
	}
	o.Publish(view(2, 15))
	for _, s := range streams {
		if got := receive(t, s); got.GetRevision() != 2 {
			t.Fatalf("revision %d, want 2", got.GetRevision())
		}
	}
	for i, conn := range conns {
		_ = conn.Close()
		eventually(t, "those who are gone are forgotten", func() bool { return o.Watchers() == (connections-1-i)*each })
	}
}

func TestTooManyWatchers(t *testing.T) {
	o := start(t, "o1")
	o.watchers.Add(maxWatchers)
	if _, err := receiveOrFail(t, watch(t, client(t, o))); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("one too many: %v, want RESOURCE_EXHAUSTED", err)
	}
	o.watchers.Add(-1)
	receive(t, watch(t, client(t, o)))
}

func TestForget(t *testing.T) {
	o := start(t, "o1")
	c := pb.NewTopologyClient(client(t, o))
	for id, want := range map[string]codes.Code{
		"": codes.InvalidArgument, "alive": codes.FailedPrecondition, "silent": codes.OK,
	} {
		_, err := c.Forget(t.Context(), &pb.ForgetRequest{Id: id})
		if status.Code(err) != want {
			t.Errorf("forget %q: %v, want %v", id, err, want)
		}
		if want == codes.FailedPrecondition && !strings.Contains(err.Error(), "it is not silent") {
			t.Errorf("forget %q: %v, want why not", id, err)
		}
	}
}

func TestReflectionKnowsTheService(t *testing.T) {
	o := start(t, "o1")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	stream, err := reflectionpb.NewServerReflectionClient(client(t, o)).ServerReflectionInfo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	err = stream.Send(&reflectionpb.ServerReflectionRequest{
		MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{ListServices: "*"},
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range r.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	for _, want := range []string{"levee.topology.v1.Topology", "grpc.health.v1.Health"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among %v", want, names)
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("the stream ends with %v", err)
	}
}

func TestAViewThatCannotBeSentLeavesTheLastOne(t *testing.T) {
	o := start(t, "o1")
	bad := view(2, 1)
	bad.Members()[0].Version = "\xff"
	o.Publish(bad)
	if s := receive(t, watch(t, client(t, o))); s.GetRevision() != 1 {
		t.Errorf("revision %d, want 1", s.GetRevision())
	}
}

func TestCheck(t *testing.T) {
	o := run(t, "o1", "") // works, though it does not serve
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := Check(ctx, net.TCPAddrFromAddrPort(o.addrs.Service)); err != nil {
		t.Error(err)
	}
	silent := listen(t, "")
	defer func() { _ = silent.Close() }()
	ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := Check(ctx, silent.Addr()); err == nil || !strings.Contains(err.Error(), silent.Addr().String()) {
		t.Errorf("one that does not answer: %v, want an error with its address", err)
	}
}

// BenchmarkPublish is the time from a publication until n watchers have it,
// received and decoded in the same process.
func BenchmarkPublish(b *testing.B) {
	for _, n := range []int{1, 100, 2000} {
		b.Run(fmt.Sprintf("watchers=%d", n), func(b *testing.B) { benchmarkPublish(b, n) })
	}
}

func benchmarkPublish(b *testing.B, n int) {
	o := start(b, "o1")
	received := make(chan struct{}, n)
	const connections = 4
	for range min(n, connections) {
		conn := client(b, o)
		for range n / min(n, connections) {
			stream := watch(b, conn)
			receive(b, stream)
			go func() {
				for {
					if _, err := stream.Recv(); err != nil {
						return
					}
					received <- struct{}{}
				}
			}()
		}
	}
	revision := int64(1)
	for b.Loop() {
		revision++
		o.Publish(view(revision, 15))
		for range n {
			<-received
		}
	}
}
