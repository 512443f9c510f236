package load

import (
	"errors"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// Fleet is very many clients that send a request octet by octet and never come
// to its end. It has no goroutine: it sends what is due when [Fleet.Turn] is
// called, as a run's Beside. A client whose connection the server closes comes
// back a period later.
type Fleet struct {
	to     netip.AddrPort
	period time.Duration // between two octets of a client
	slow   []slowClient
	next   int           // whose turn it is
	due    time.Duration // when
	closed int
	err    error
}

type slowClient struct {
	fd   int // -1 when there is no connection
	sent int
}

// slowRequest is what they send; its last field has no end.
const slowRequest = "POST /attempt HTTP/1.1\r\nHost: slow\r\nX-Resource: slow\r\nX-Pad: "

// NewFleet returns a fleet of so many clients, which connect one after another
// over the first period.
func NewFleet(to netip.AddrPort, clients int, period time.Duration) *Fleet {
	f := &Fleet{to: to, period: period, slow: make([]slowClient, clients)}
	for i := range f.slow {
		f.slow[i].fd = -1
	}
	return f
}

// Turn sends what is due at a time, counted from any beginning.
func (f *Fleet) Turn(now time.Duration) {
	for ; f.due <= now; f.due += f.period / time.Duration(len(f.slow)) {
		f.step(&f.slow[f.next])
		f.next = (f.next + 1) % len(f.slow)
	}
}

// step lets a client send an octet, or connect if it is not connected.
func (f *Fleet) step(c *slowClient) {
	if c.fd < 0 {
		fd, err := dialFD(f.to)
		if err == nil {
			err = unix.SetNonblock(fd, true)
		}
		if err != nil {
			f.err = errors.Join(f.err, err)
			return
		}
		c.fd, c.sent = fd, 0
	}
	octet := byte('a')
	if c.sent < len(slowRequest) {
		octet = slowRequest[c.sent]
	}
	c.sent++
	if !c.alive() || !c.send(octet) {
		_ = unix.Close(c.fd)
		c.fd = -1
		f.closed++
	}
}

// alive says whether the server has not answered and not closed: to such a
// request it can only say that it has enough.
func (c *slowClient) alive() bool {
	var answer [512]byte
	_, err := unix.Read(c.fd, answer[:])
	return errors.Is(err, unix.EAGAIN)
}

func (c *slowClient) send(octet byte) bool {
	n, err := unix.Write(c.fd, []byte{octet})
	return n == 1 && err == nil
}

// Open is how many clients are connected.
func (f *Fleet) Open() int {
	n := 0
	for _, c := range f.slow {
		if c.fd >= 0 {
			n++
		}
	}
	return n
}

// Closed is how often the server has closed a connection.
func (f *Fleet) Closed() int { return f.closed }

// Close closes all connections. The error says why clients could not connect.
func (f *Fleet) Close() error {
	for i := range f.slow {
		if f.slow[i].fd >= 0 {
			_ = unix.Close(f.slow[i].fd)
			f.slow[i].fd = -1
		}
	}
	return f.err
}
