package graphite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// chunk is how much is written under one deadline: a collector that is slow and
// goes on is given the time it takes.
const chunk = 32 << 10

// tcpLink is a connection. A goroutine reads from it, to learn at once when the
// collector closes it.
type tcpLink struct {
	conn  net.Conn
	ended chan struct{} // closed when the collector has closed it
}

func newTCPLink(conn net.Conn) *tcpLink {
	l := &tcpLink{conn: conn, ended: make(chan struct{})}
	go func() {
		defer close(l.ended)
		_, _ = io.Copy(io.Discard, conn) // a collector says nothing; what ends it shows in send
	}()
	return l
}

func (l *tcpLink) close() {
	_ = l.conn.Close() // all that mattered is acknowledged
	<-l.ended
}

// send writes all lines and waits until the collector's host has them.
func (l *tcpLink) send(ctx context.Context, p poll) (int, error) {
	defer context.AfterFunc(ctx, func() { _ = l.conn.SetWriteDeadline(time.Unix(1, 0)) })()
	for rest := p.lines; len(rest) > 0; {
		if err := l.check(ctx); err != nil {
			return 0, err
		}
		n := min(len(rest), chunk)
		if err := l.write(ctx, rest[:n]); err != nil {
			return 0, err
		}
		rest = rest[n:]
	}
	if err := l.acknowledged(ctx); err != nil {
		return 0, err
	}
	return p.count, nil
}

// write writes under a deadline.
func (l *tcpLink) write(ctx context.Context, b []byte) error {
	if err := l.conn.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if err := l.check(ctx); err != nil {
		return err // it ended before the deadline that its end has set
	}
	if _, err := l.conn.Write(b); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil {
			return fmt.Errorf("the collector has taken nothing for %v", writeTime)
		}
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// check reports whether there is a point in going on.
func (l *tcpLink) check(ctx context.Context) error {
	select {
	case <-l.ended:
		return errors.New("the collector has closed the connection")
	default:
		return ctx.Err()
	}
}

// acknowledged waits until nothing is left in the send buffer. As long as that
// shrinks the collector has time.
func (l *tcpLink) acknowledged(ctx context.Context) error {
	raw, ok := l.conn.(syscall.Conn)
	if !ok {
		return nil // a test's pipe, which has no buffer
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return fmt.Errorf("look at the connection: %w", err)
	}
	var (
		pause    = time.Millisecond
		before   = -1
		deadline time.Time
	)
	for {
		left, err := unsent(control)
		if err != nil || left == 0 {
			return err
		}
		now := time.Now()
		if left != before {
			before, deadline = left, now.Add(writeTime)
		}
		if now.After(deadline) {
			return fmt.Errorf("the collector has acknowledged nothing for %v", writeTime)
		}
		if err := l.pause(ctx, pause); err != nil {
			return err
		}
		pause = min(2*pause, 100*time.Millisecond)
	}
}

func (l *tcpLink) pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.ended:
	case <-ctx.Done():
	}
	return l.check(ctx)
}

// unsent is how many octets the kernel holds that the other side has not
// acknowledged.
func unsent(c syscall.RawConn) (n int, err error) {
	if e := c.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) }); e != nil {
		err = e
	}
	if err != nil {
		return 0, fmt.Errorf("look at the send buffer: %w", err)
	}
	return n, nil
}
