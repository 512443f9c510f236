package graphite

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"time"
)

const (
	// maxDatagram fits in the packets of every network that carries IPv6, with its
	// headers and those of a tunnel.
	maxDatagram = 1400
	// spacing is the longest time between two datagrams. Sent in one go, those of
	// a large registry would not fit in the collector's socket.
	spacing = time.Millisecond
)

// udpLink sends datagrams. One that the network refuses is dropped, and the next
// one is another chance.
type udpLink struct {
	conn     net.Conn
	interval time.Duration
	metrics  *metrics
}

func (l *udpLink) close() { _ = l.conn.Close() } // holds nothing back

// send sends the poll in datagrams of whole lines. The error is the last of
// those that were refused.
func (l *udpLink) send(ctx context.Context, p poll) (sent int, failed error) {
	gap := min(spacing, l.interval/time.Duration(2*(len(p.lines)/maxDatagram+1)))
	for rest := p.lines; len(rest) > 0; {
		n := datagram(rest)
		lines := bytes.Count(rest[:n], []byte{'\n'})
		if err := l.write(rest[:n]); err != nil {
			failed = fmt.Errorf("send: %w", err)
			l.metrics.drop(dropSend, lines)
		} else {
			sent += lines
		}
		rest = rest[n:]
		if len(rest) > 0 && !sleep(ctx, gap) {
			l.metrics.drop(dropStop, bytes.Count(rest, []byte{'\n'}))
			break
		}
	}
	return sent, failed
}

func (l *udpLink) write(b []byte) error {
	if err := l.conn.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	_, err := l.conn.Write(b)
	return err
}

// datagram is how many of the octets are the next datagram: as many whole lines
// as fit. No line is longer than one.
func datagram(lines []byte) int {
	if len(lines) <= maxDatagram {
		return len(lines)
	}
	return bytes.LastIndexByte(lines[:maxDatagram], '\n') + 1
}

// sleep waits, and returns false when ctx has ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
