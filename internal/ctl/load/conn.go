package load

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// conn is a connection, which is made again when it ends.
type conn struct {
	number  int // among all
	fd      int // -1 if there is none
	made    bool
	dialect dialect
	rest    []byte // the beginning of something that has not arrived whole
	out     []byte // what is to be written at the end of the turn
	dirty   bool   // out is not empty, and it is known

	underWay []question
	asked    int   // where the last one was put in underWay
	answered int   // where the last answer's was found
	busy     int   // how many are under way
	queued   int   // how many places it has among those that wait to ask
	again    int64 // when to connect, if there is no connection
	failures int   // in a row
}

// question is a place for an attempt that is under way. Streams may overtake each
// other by any number of attempts, so a place is looked for; mostly the first place
// looked at is the one.
type question struct {
	number uint32 // 0 is a free place
	due    int64
	asked  int64
}

// dial begins to connect.
func (c *conn) dial(to netip.AddrPort) error {
	family, addr := sockaddr(to)
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) // without, it is slower and right
	if err := unix.Connect(fd, addr); err != nil && !errors.Is(err, unix.EINPROGRESS) {
		_ = unix.Close(fd)
		return os.NewSyscallError("connect", err)
	}
	c.fd = fd
	return nil
}

func sockaddr(a netip.AddrPort) (family int, addr unix.Sockaddr) {
	if ip := a.Addr().Unmap(); ip.Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Port: int(a.Port()), Addr: ip.As4()}
	}
	return unix.AF_INET6, &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}

// connected says how the attempt to connect has ended.
func (c *conn) connected() error {
	errno, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && errno != 0 {
		err = unix.Errno(errno)
	}
	return os.NewSyscallError("connect", err)
}

// room is how many more attempts it can take now.
func (c *conn) room() int {
	if !c.made {
		return 0
	}
	return c.dialect.room() - c.busy
}

// read returns 0 without an error when there is nothing to read. ago is how long
// what it brings has been there, if that is known.
func (c *conn) read(into []byte, s *stamps) (n int, ago time.Duration, err error) {
	if s != nil {
		n, ago, err = s.read(c.fd, into)
	} else {
		n, err = readSocket(c.fd, into)
	}
	switch {
	case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR):
		return 0, 0, nil
	case err != nil:
		return 0, 0, os.NewSyscallError("read", err)
	case n == 0:
		return 0, 0, errClosed
	}
	return n, ago, nil
}

// write sends what there is, all or nothing: what is under way fits in a socket's
// buffer many times, so a server that leaves it there has stopped reading.
func (c *conn) write() error {
	out := c.out
	c.out, c.dirty = c.out[:0], false
	n, err := writeSocket(c.fd, out)
	switch {
	case errors.Is(err, unix.EAGAIN) || err == nil && n < len(out):
		return errDeaf
	case err != nil:
		return os.NewSyscallError("write", err)
	}
	return nil
}

// note notes an attempt that is under way.
func (c *conn) note(q question) {
	at, _ := c.find(0, c.asked) // there is room
	c.underWay[at], c.asked = q, at
	c.busy++
}

// take returns the attempt that has an answer.
func (c *conn) take(number uint32) (question, error) {
	at, ok := c.find(number, c.answered)
	if !ok || number == 0 {
		return question{}, fmt.Errorf("answer %d belongs to no attempt", number)
	}
	q := c.underWay[at]
	c.underWay[at], c.answered = question{}, at
	c.busy--
	return q, nil
}

// find looks for a number among the places, beginning behind the last one.
func (c *conn) find(number uint32, last int) (at int, ok bool) {
	at = last
	for range c.underWay {
		if at++; at >= len(c.underWay) {
			at = 0
		}
		if c.underWay[at].number == number {
			return at, true
		}
	}
	return 0, false
}

// overdue reports whether an attempt was asked before a time, and has no answer.
func (c *conn) overdue(before int64) bool {
	if c.busy == 0 {
		return false
	}
	for i := range c.underWay {
		if q := &c.underWay[i]; q.number != 0 && q.asked < before {
			return true
		}
	}
	return false
}

// close ends the connection. It returns how many attempts are lost by that.
func (c *conn) close() (lost int) {
	lost = c.busy
	_ = unix.Close(c.fd)
	clear(c.underWay)
	c.fd, c.made, c.busy, c.dirty = -1, false, 0, false
	c.rest, c.out = c.rest[:0], c.out[:0]
	return lost
}
