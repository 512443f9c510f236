package load

import (
	"errors"
	"net/netip"

	"golang.org/x/sys/unix"
)

// dialFD returns a connected socket that blocks.
func dialFD(to netip.AddrPort) (int, error) {
	fd, err := newSocket()
	if err != nil {
		return -1, err
	}
	if err := unix.Connect(fd, sockaddr(to)); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// dialFrom is dialFD from a source address of this host, at any port of it.
func dialFrom(from netip.Addr, to netip.AddrPort) (int, error) {
	fd, err := newSocket()
	if err != nil {
		return -1, err
	}
	// Otherwise bind would take a port that no other source port may share, for
	// whatever destination.
	err = errors.Join(
		unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1),
		unix.Bind(fd, sockaddr(netip.AddrPortFrom(from, 0))),
		unix.Connect(fd, sockaddr(to)),
	)
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func newSocket() (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func sockaddr(a netip.AddrPort) *unix.SockaddrInet4 {
	return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
}
