package wire

import (
	"bufio"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
)

// client is a connection of a test that goes step by step.
type client struct {
	t testing.TB
	s *testServer
	*net.TCPConn
	in *bufio.Reader
}

func (s *testServer) client(t testing.TB) *client {
	t.Helper()
	tcp := s.dial(t)
	return &client{t: t, s: s, TCPConn: tcp, in: bufio.NewReader(tcp)}
}

// send writes text.
func (c *client) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatal(err)
	}
}

// sendRead writes text and waits until the server has read it. Nobody else may
// use the server meanwhile.
func (c *client) sendRead(text string) {
	c.t.Helper()
	before := c.s.clock.reads.Load()
	c.send(text)
	if !c.s.clock.hasBeenRead(&c.s.clock.reads, before+1) {
		c.t.Fatalf("not read: %q", text)
	}
}

// receive reads one answer, and compares it with what is wanted, spelled as in
// the tables.
func (c *client) receive(want string) checked {
	c.t.Helper()
	got, err := checkOne(c.in, want)
	if err != nil {
		c.t.Fatalf("wanted %q: %v", want, err)
	}
	return got
}

// receiveEnd waits until the server has closed the connection, with no other
// answer.
func (c *client) receiveEnd() {
	c.t.Helper()
	rest, err := io.ReadAll(c.in)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		c.t.Fatal(err)
	}
	if len(rest) > 0 {
		c.t.Fatalf("an answer too many: %q", rest)
	}
}

// awaitShepherd waits until the shepherd has looked at all connections with the
// clock as it is. Nothing may come from the clients meanwhile.
func (s *testServer) awaitShepherd(t testing.TB) {
	t.Helper()
	if !s.clock.hasBeenRead(&s.clock.looks, s.clock.looks.Load()+2) {
		t.Fatal("nobody looks after the deadlines")
	}
}
