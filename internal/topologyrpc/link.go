package topologyrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/levee-project/levee/internal/topology"
	pb "github.com/levee-project/levee/internal/topologyrpc/topologyv1"
)

const (
	// answerTime is how long an observer may take from the first packet to the
	// first snapshot.
	answerTime = 2 * time.Second
	// An observer that hangs is noticed within the sum of these. gRPC allows no
	// quicker pings.
	pingTime   = 10 * time.Second
	pongTime   = 3 * time.Second
	maxMessage = 4 << 20 // tens of thousands of members
)

var (
	errLate    = fmt.Errorf("no snapshot within %v", answerTime)
	errRemoved = errors.New("it has been removed from the shared configuration")
)

// link is a stream of snapshots from one observer.
type link struct {
	observer topology.Addresses
	ctx      context.Context // ends with the link
	end      context.CancelCauseFunc
	conn     *grpc.ClientConn
	stream   grpc.ServerStreamingClient[pb.Snapshot]

	id    string // who answered
	first *topology.View
}

// dial returns a client of one address. It connects when it is used.
func dial(addr string) (*grpc.ClientConn, error) {
	conn, err := grpc.NewClient("passthrough:///"+addr,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithNoProxy(),
		grpc.WithDisableServiceConfig(),
		grpc.WithDisableRetry(),
		grpc.WithIdleTimeout(0),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingTime, Timeout: pongTime}),
		// Later than answerTime: who is silent is to be told as that.
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: 2 * answerTime}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
	)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", addr, err)
	}
	return conn, nil
}

// open returns a link to an observer that has sent its first snapshot. ctx bounds
// the opening only; whoever gets the link closes it.
func open(ctx context.Context, o topology.Addresses, self *Identity) (*link, error) {
	conn, err := dial(o.Service.String())
	if err != nil {
		return nil, err
	}
	opening, opened := context.WithTimeoutCause(ctx, answerTime, errLate)
	defer opened()
	l := &link{observer: o, conn: conn}
	l.ctx, l.end = context.WithCancelCause(context.WithoutCancel(ctx))
	inTime := context.AfterFunc(opening, func() { l.end(context.Cause(opening)) })
	if l.stream, err = pb.NewTopologyClient(conn).Watch(l.ctx, self.request()); err != nil {
		err = l.why(err)
	} else {
		l.first, err = l.next()
	}
	if !inTime() {
		err = context.Cause(opening)
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// next waits for the next snapshot.
func (l *link) next() (*topology.View, error) {
	s, err := l.stream.Recv()
	if err != nil {
		return nil, l.why(err)
	}
	l.id = s.GetObserver()
	v, err := decode(s)
	if err != nil {
		return nil, fmt.Errorf("malformed snapshot, revision %d: %w", s.GetRevision(), err)
	}
	return v, nil
}

// why is an error without what gRPC wraps around the words that matter.
func (l *link) why(err error) error {
	if cause := context.Cause(l.ctx); cause != nil {
		return cause // ours
	}
	if errors.Is(err, io.EOF) {
		return errors.New("the observer ended the stream")
	}
	if s, ok := status.FromError(err); ok {
		return errors.New(s.Message())
	}
	return err
}

func (l *link) close() {
	l.end(nil)
	_ = l.conn.Close() // the only error is that it is closed
}
