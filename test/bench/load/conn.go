package load

import (
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// dialect is one connection's side of a protocol.
type dialect interface {
	// hello appends what a client says first.
	hello(out []byte) []byte
	// ask appends a question about a key, and returns the number, above 0, that its
	// answer will have on this connection.
	ask(out []byte, key int, id uint64) (longer []byte, number uint32)
	// hear takes what is whole of what has arrived, and returns how much that
	// was.
	hear(in []byte, got *heard) (used int, err error)
}

// heard is what hear found.
type heard struct {
	answers []answer
	reply   []byte // what the protocol says back
}

// answer is one answer. Its status is 0 to 599, 0 for a stream that was reset.
type answer struct {
	number uint32
	status uint16
}

// conn is one connection.
type conn struct {
	fd       int
	dialect  dialect
	rest     []byte // the beginning of something that has not arrived whole
	underWay []question
	asked    int // where the last question was put in underWay
	answers  int // where the last answer's was found
}

// question is a place for a question under way. Streams may overtake each other
// by any number of questions, so a place is looked for; mostly the first place
// looked at is the one.
type question struct {
	number uint32 // 0 is a free place
	since  int64
}

// dial opens a connection to one of the plan's servers.
func dial(p Plan, to netip.AddrPort) (*conn, error) {
	fd, err := dialFD(to)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	c := &conn{fd: fd, underWay: make([]question, p.InFlight)}
	if p.Protocol == H2C {
		c.dialect = newHTTP2(to.String(), p.InFlight)
	} else {
		c.dialect = newHTTP1(to.String())
	}
	return c, nil
}

// read returns 0 without an error when there is nothing to read.
func (c *conn) read(into []byte) (int, error) {
	n, err := unix.Read(c.fd, into)
	switch {
	case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("read: %w", err)
	case n == 0:
		return 0, errors.New("the server has closed a connection")
	}
	return n, nil
}

// write sends all or fails: what is under way fits in a socket's buffer many
// times, so a server that leaves it there has stopped reading.
func (c *conn) write(out []byte) error {
	if len(out) == 0 {
		return nil
	}
	n, err := unix.Write(c.fd, out)
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if n < len(out) {
		return errors.New("the server does not read")
	}
	return nil
}

// ask notes a question.
func (c *conn) ask(number uint32, since int64) error {
	at, ok := c.find(0, c.asked)
	if !ok {
		return fmt.Errorf("question %d is one too many under way", number)
	}
	c.underWay[at], c.asked = question{number, since}, at
	return nil
}

// answered returns since when a question was under way.
func (c *conn) answered(number uint32) (since int64, err error) {
	at, ok := c.find(number, c.answers)
	if !ok || number == 0 {
		return 0, fmt.Errorf("answer %d belongs to no question", number)
	}
	since = c.underWay[at].since
	c.underWay[at], c.answers = question{}, at
	return since, nil
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
