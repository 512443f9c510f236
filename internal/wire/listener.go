package wire

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Times at the end of a drain.
const (
	handshakeTime = 100 * time.Millisecond // a handshake that has begun is over by then
	lastAnswers   = 500 * time.Millisecond // what is in flight is answered by then
	firstRequest  = 400 * time.Millisecond // a client that has just connected has asked by then
)

// Values of the least time to live (IP_MINTTL) of what comes in. Nearly all
// systems send with less than unreachable, and so are not heard.
const (
	anyDistance = 0
	unreachable = 255
)

// refuseConnections makes the kernel ignore new connections on a listener that
// goes on accepting those whose handshake has begun. Closing a listener resets
// what is in its queue, which may already hold a request; so the queue has to
// run dry first, and it only does when nothing new comes in. A client whose SYN
// is ignored sends it again, and by then is refused or reaches another node.
//
// A socket filter would do it too, but not every kernel lets a process without
// CAP_NET_ADMIN attach one. The segments that end a handshake are not measured by
// the listener's least time to live; the connections that come of them inherit it,
// and have to be told otherwise (admitConnections).
func refuseConnections(l *net.TCPListener) error { return setDistance(l, unreachable) }

// admitConnections takes refuseConnections back, for a listener or for a connection.
func admitConnections(s syscall.Conn) error { return setDistance(s, anyDistance) }

func setDistance(s syscall.Conn, ttl int) error {
	raw, err := s.SyscallConn()
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	var v4, v6 error
	err = raw.Control(func(fd uintptr) {
		v4 = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_MINTTL, ttl)
		v6 = unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_MINHOPCOUNT, ttl)
	})
	switch {
	case err != nil:
		return fmt.Errorf("socket: %w", err)
	case v4 != nil && v6 != nil: // a socket of IPv4 knows one of them, and one of IPv6 both
		return fmt.Errorf("least time to live: %w", errors.Join(v4, v6))
	}
	return nil
}
