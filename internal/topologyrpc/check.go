package topologyrpc

import (
	"context"
	"fmt"
	"net"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// Check asks the observer at addr, through the network, whether it works. One
// that answers works, whether or not it serves.
func Check(ctx context.Context, addr net.Addr) error {
	conn, err := dial(addr.String())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // the only error is that it is closed
	if _, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{}, grpc.WaitForReady(true)); err != nil {
		return fmt.Errorf("health check of %s: %w", addr, err)
	}
	return nil
}
