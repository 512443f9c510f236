package topologyrpc

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	pb "github.com/levee-project/levee/internal/topologyrpc/topologyv1"
)

// service is what a server answers on the wire.
type service struct {
	pb.UnimplementedTopologyServer
	server *Server
}

// Watch sends the latest snapshot, and again when there is another. Sending waits for a watcher that does not read, and meanwhile newer snapshots
// replace each other.
func (v *service) Watch(r *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.Snapshot]) error {
	s, ctx := v.server, stream.Context()
	defer s.watchers.Add(-1)
	if n := s.watchers.Add(1); n > maxWatchers {
		return status.Errorf(codes.ResourceExhausted, "observer %s has %d watchers already", s.o.ID, maxWatchers)
	}
	defer s.clients.add(clientOf(r, remote(ctx)))()
	s.o.Log.Debug("a watcher came", "addr", remote(ctx))
	defer s.o.Log.Debug("a watcher is gone", "addr", remote(ctx))
	for {
		now := s.now.Load()
		if now.refusal != "" {
			return status.Error(codes.Unavailable, now.refusal)
		}
		if err := stream.SendMsg(now.latest); err != nil {
			return err
		}
		select {
		case <-now.over:
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		}
	}
}

// Forget removes a silent member from the cluster's memory.
func (v *service) Forget(ctx context.Context, r *pb.ForgetRequest) (*pb.ForgetResponse, error) {
	s, id := v.server, r.GetId()
	if refusal := s.now.Load().refusal; refusal != "" {
		return nil, status.Error(codes.Unavailable, refusal)
	}
	if id == "" {
		return nil, status.Error(codes.InvalidArgument, "the request has no id")
	}
	if err := s.o.Forget(id); err != nil {
		return nil, status.Errorf(codes.FailedPrecondition, "forget %q: %v", id, err)
	}
	s.o.Log.Info("a member is forgotten, as asked for", "id", id, "addr", remote(ctx))
	return &pb.ForgetResponse{}, nil
}

// remote is the address of who asks.
func remote(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok {
		return p.Addr.String()
	}
	return ""
}

// codec sends pictures as they are, and leaves everything else to protobuf.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(protocodec.Name)} }

// Marshal implements [encoding.CodecV2].
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	if p, ok := v.(*picture); ok {
		return mem.BufferSlice{mem.SliceBuffer(p.encoded)}, nil
	}
	return c.CodecV2.Marshal(v)
}
