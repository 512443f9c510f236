package graphite

import (
	"context"
	"fmt"
	"net"
	"time"
)

const (
	// dialTime bounds the way to a collector, its name's resolution included.
	dialTime = 5 * time.Second
	// writeTime is how long a collector may take nothing before the connection
	// counts as broken.
	writeTime = 10 * time.Second
)

// link is a way to the collector.
type link interface {
	// send sends a poll and returns how many of its lines can be counted on to
	// have left. After an error the link is of no more use.
	send(ctx context.Context, p poll) (sent int, err error)
	// close ends it; ahead of it nothing else may be under way.
	close()
}

// dial opens a link. A host name is looked up anew each time.
func (b *Bridge) dial(ctx context.Context) (link, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, err := b.connect(ctx, b.o.Network, b.o.Address)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	if b.o.Network == "udp" {
		return &udpLink{conn: conn, interval: b.o.Interval, metrics: b.metrics}, nil
	}
	return newTCPLink(conn), nil
}

// netConnect is connect outside of tests.
func netConnect(ctx context.Context, network, address string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, address)
}
