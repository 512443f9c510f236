package topologyrpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
	"google.golang.org/protobuf/proto"

	"github.com/levee-project/levee/internal/topology"
	pb "github.com/levee-project/levee/internal/topologyrpc/topologyv1"
)

// Bounds of the server. Requests are tiny; what is many is connections, of which
// each watcher usually has its own, so they have small buffers.
const (
	maxWatchers    = 50_000
	maxStreams     = 4_096 // a connection
	maxRequest     = 64 << 10
	maxHeader      = 16 << 10
	readBuffer     = 4 << 10
	handshakeTime  = 2 * time.Second // a stop waits for it
	goodbyeTime    = time.Second     // for clients to take note of the end
	deadClientTime = 30 * time.Second
	deadClientPing = 10 * time.Second
	unusedTime     = 5 * time.Minute // connections without a stream
	// quickestPing is how often clients may ping. Those that want to notice a dead
	// observer soon do it every 5 s or 10 s.
	quickestPing = 3 * time.Second
)

// ServerOptions is what a server needs to know. All are required.
type ServerOptions struct {
	// ID is the instance id of the observer.
	ID string
	// Log takes who comes and goes, at debug level, and what is forgotten.
	Log *slog.Logger
	// Forget removes a silent member from the cluster's memory; its error says why
	// it cannot. It may be called by many goroutines at once.
	Forget func(id string) error
}

// Server tells everybody who asks what the topology is, and again at each
// change. Standard health checking and reflection come with it. It refuses with
// UNAVAILABLE until SetServing.
type Server struct {
	o        ServerOptions
	grpc     *grpc.Server
	health   *health.Server
	watchers atomic.Int64
	clients  clients

	changing sync.Mutex // held while one condition follows another
	now      atomic.Pointer[condition]
}

// condition is what the server has to say at one moment. It is immutable.
type condition struct {
	refusal string        // why nobody is served; empty while serving
	latest  *picture      // nobody before the first Publish
	over    chan struct{} // closed when another condition has followed
}

// picture is a snapshot, encoded once for everybody.
type picture struct{ encoded []byte }

// NewServer returns a server that does not serve yet.
func NewServer(o ServerOptions) *Server {
	s := &Server{o: o, health: health.NewServer()}
	s.grpc = grpc.NewServer(
		grpc.ForceServerCodecV2(newCodec()),
		grpc.WaitForHandlers(true),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.MaxRecvMsgSize(maxRequest),
		grpc.MaxHeaderListSize(maxHeader),
		grpc.ReadBufferSize(readBuffer),
		grpc.ConnectionTimeout(handshakeTime),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle: unusedTime, Time: deadClientTime, Timeout: deadClientPing,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{
			MinTime: quickestPing, PermitWithoutStream: true,
		}),
	)
	pb.RegisterTopologyServer(s.grpc, &service{server: s})
	healthpb.RegisterHealthServer(s.grpc, s.health)
	reflection.Register(s.grpc)
	s.now.Store(&condition{latest: new(picture), over: make(chan struct{})})
	s.set(func(c *condition) {
		c.refusal = fmt.Sprintf("observer %s does not serve yet: its view of the cluster is not stable", o.ID)
	})
	return s
}

// Publish makes a view the one that everybody is sent. Views are published one
// at a time.
func (s *Server) Publish(v *topology.View) {
	encoded, err := proto.Marshal(encode(s.o.ID, v))
	if err != nil { // a string that is not UTF-8
		s.o.Log.Error("this topology cannot be sent; watchers keep the last one", "revision", v.Revision(), "err", err)
		return
	}
	s.set(func(c *condition) { c.latest = &picture{encoded: encoded} })
}

// SetServing begins to serve, or ends it: then all streams end with UNAVAILABLE,
// so that watchers go to another observer. Health checking says the same.
func (s *Server) SetServing(serving bool) {
	s.set(func(c *condition) {
		c.refusal = ""
		if !serving {
			c.refusal = fmt.Sprintf("observer %s: this observer is stopping", s.o.ID)
		}
	})
}

// set replaces the condition by an edited copy, and wakes everybody.
func (s *Server) set(edit func(*condition)) {
	s.changing.Lock()
	defer s.changing.Unlock()
	old := s.now.Load()
	next := &condition{refusal: old.refusal, latest: old.latest, over: make(chan struct{})}
	edit(next)
	status := healthpb.HealthCheckResponse_SERVING
	if next.refusal != "" {
		status = healthpb.HealthCheckResponse_NOT_SERVING
	}
	s.health.SetServingStatus("", status)
	s.health.SetServingStatus(pb.Topology_ServiceDesc.ServiceName, status)
	s.now.Store(next)
	close(old.over)
}

// Watchers returns how many streams are being served.
func (s *Server) Watchers() int { return int(s.watchers.Load()) }

// Serve accepts connections on ln until ctx ends. Then it ends all streams as
// SetServing(false) does, gives clients a second to take note, and closes their
// connections; with a connection that has only just begun it may take two
// seconds. It is called once, and closes ln.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	served := make(chan error, 1)
	go func() { served <- s.grpc.Serve(ln) }()
	select {
	case err := <-served:
		s.grpc.Stop()
		return fmt.Errorf("serve the topology at %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	s.SetServing(false)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		s.grpc.GracefulStop()
	}()
	late := time.NewTimer(goodbyeTime)
	defer late.Stop()
	select {
	case <-gone:
	case <-late.C:
		s.grpc.Stop()
		<-gone
	}
	if err := <-served; err != nil && !errors.Is(err, grpc.ErrServerStopped) { // before it began
		return fmt.Errorf("serve the topology at %s: %w", ln.Addr(), err)
	}
	return nil
}
