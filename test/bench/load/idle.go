package load

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// Idle is connections that are kept alive with nothing on them.
type Idle struct {
	fds []int
}

// perSource is how many connections come from one source address: well below the
// ports that it has, some of which earlier connections still hold.
const perSource = 5000

// OpenIdle opens connections over HTTP/1.1 and asks one question on each. It
// returns when the last is answered with a 2xx, and leaves all of them open.
func OpenIdle(ctx context.Context, to netip.AddrPort, connections int) (*Idle, error) {
	idle := &Idle{}
	source := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	for n := range connections {
		if n > 0 && n%perSource == 0 {
			source = source.Next()
		}
		fd, err := dialFrom(source, to)
		if err == nil {
			idle.fds = append(idle.fds, fd)
			err = askOnce(fd, newHTTP1(to.String()))
		}
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			idle.Close()
			return nil, fmt.Errorf("idle connection %d to %v: %w", n+1, to, err)
		}
	}
	return idle, nil
}

// Close closes them.
func (i *Idle) Close() {
	for _, fd := range i.fds {
		_ = unix.Close(fd)
	}
	i.fds = nil
}

// askOnce asks one question on a socket that blocks.
func askOnce(fd int, d *http1) error {
	patience := unix.NsecToTimeval(int64(silence / time.Nanosecond))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &patience); err != nil {
		return err
	}
	question, _ := d.ask(nil, 0, 1)
	if _, err := unix.Write(fd, question); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	var in [4 << 10]byte
	have := 0
	for {
		n, err := unix.Read(fd, in[have:])
		if errors.Is(err, unix.EINTR) { // a read with a deadline is not taken up again by itself
			continue
		}
		if n <= 0 {
			return errors.Join(errors.New("no whole answer"), err)
		}
		have += n
		status, size, err := answer1(in[:have])
		switch {
		case err != nil:
			return err
		case size == 0:
			continue
		case status/100 != 2 || size != have:
			return fmt.Errorf("answered with %.60q", in[:have])
		}
		return nil
	}
}
