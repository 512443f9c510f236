package harness

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// Conn is one connection on which a test sends whatever octets it likes, and
// reads answers of HTTP/1.x.
type Conn struct {
	net.Conn
	in *bufio.Reader
}

// connTime bounds everything on a Conn together.
const connTime = 30 * time.Second

// Dial opens a connection that ends with the test.
func Dial(t testing.TB, addr string) *Conn {
	t.Helper()
	c, err := dial(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(connTime)); err != nil {
		t.Fatal(err)
	}
	return &Conn{Conn: c, in: bufio.NewReader(c)}
}

func dial(ctx context.Context, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: answerTime}
	return d.DialContext(ctx, "tcp", addr)
}

// Put sends octets.
func (c *Conn) Put(t testing.TB, octets string) {
	t.Helper()
	if _, err := io.WriteString(c, octets); err != nil {
		t.Fatalf("send %d bytes: %v", len(octets), err)
	}
}

// Answer reads the answer to a POST.
func (c *Conn) Answer(t testing.TB) Answer {
	t.Helper()
	return c.AnswerTo(t, http.MethodPost)
}

// AnswerTo reads the answer to a request with the method, on which it depends
// whether there is a body.
func (c *Conn) AnswerTo(t testing.TB, method string) Answer {
	t.Helper()
	resp, err := http.ReadResponse(c.in, &http.Request{Method: method})
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	defer resp.Body.Close()
	var a Answer
	if err := a.fill(resp); err != nil {
		t.Fatal(err)
	}
	return a
}

// Ask sends octets and reads the answer, as to a POST.
func (c *Conn) Ask(t testing.TB, octets string) Answer {
	t.Helper()
	c.Put(t, octets)
	return c.Answer(t)
}

// Send sends a request as a well-behaved client does, and reads the answer.
func (c *Conn) Send(t testing.TB, r Request) Answer {
	t.Helper()
	req, err := r.to("http://test")
	if err != nil {
		t.Fatal(err)
	}
	if err := req.Write(c); err != nil {
		t.Fatalf("send the request: %v", err)
	}
	return c.AnswerTo(t, req.Method)
}

// WantOpen fails the test unless the connection serves another request.
func (c *Conn) WantOpen(t testing.TB) {
	t.Helper()
	c.Put(t, "GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n")
	if a := c.AnswerTo(t, http.MethodGet); a.Status != http.StatusOK {
		t.Errorf("the next request on the connection: %v", a)
	}
}

// WantClosed fails the test unless the server ends the connection in order,
// without another octet and without a reset.
func (c *Conn) WantClosed(t testing.TB) {
	t.Helper()
	if err := c.end(); err != nil {
		t.Error(err)
	}
}

func (c *Conn) end() error {
	if err := c.SetReadDeadline(time.Now().Add(answerTime)); err != nil {
		return fmt.Errorf("deadline: %w", err)
	}
	switch b, err := c.in.ReadByte(); {
	case err == nil:
		return fmt.Errorf("the connection goes on with octet %q, want its end", b)
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("the connection ends with %w, want an end in order", err)
	}
	return nil
}
