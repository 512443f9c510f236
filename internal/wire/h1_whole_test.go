package wire

import (
	"strings"
	"testing"
	"time"
)

// wholes are requests that end in each of the ways there are.
var wholes = map[string]string{
	"without a body": ask(),
	"with a length":  ask("Content-Length: 5") + "hello",
	"in chunks":      ask("Transfer-Encoding: chunked") + "5;x\r\nhello\r\n0\r\n\r\n",
	"with trailers":  ask("Transfer-Encoding: chunked") + "5\r\nhello\r\n0\r\nX-Foo: bar\r\n\r\n",
}

// TestNoDecisionBeforeTheEnd sends all but the last byte of a request.
func TestNoDecisionBeforeTheEnd(t *testing.T) {
	for name, request := range wholes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			c := s.client(t)
			s.awaitConnections(t, 1)
			c.sendRead(request[:len(request)-1])
			s.awaitShepherd(t)
			if asked := s.decider.take(); len(asked) > 0 {
				t.Fatalf("asked %q before the request was whole", asked)
			}
			c.send(request[len(request)-1:])
			c.receive("200")
			if asked := s.decider.take(); len(asked) != 1 || asked[0] != "a" {
				t.Fatalf("asked %q, want a", asked)
			}
		})
	}
}

// TestCutRequestChangesNothing cuts a request at every byte: a request that is
// never whole is never decided, and is no fault that is counted.
func TestCutRequestChangesNothing(t *testing.T) {
	for name, request := range wholes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			for n := range len(request) {
				got, err := s.converse(request[:n], nil)
				if err != nil || len(got) > 0 {
					t.Fatalf("after %q: answer %q, error %v", request[:n], got, err)
				}
			}
			if asked := s.decider.take(); len(asked) > 0 {
				t.Errorf("asked %q", asked)
			}
			if bad, observed := s.told(); len(bad) > 0 || observed > 0 {
				t.Errorf("counted as bad: %v, observed: %d", bad, observed)
			}
		})
	}
}

// TestRefusedAtOnce: what cannot become right is refused as soon as that is seen,
// not when the rest of it comes.
func TestRefusedAtOnce(t *testing.T) {
	const lfAlone, extensions = "400 field: a line ends", "431 header_too_large: the chunk extensions"
	chunked := ask("Transfer-Encoding: chunked")
	for name, x := range map[string]struct{ in, want string }{
		"LF":                        {"\n", lfAlone},
		"a line that ends with LF":  {"POST /attempt HTTP/1.1\n", lfAlone},
		"two empty lines":           {"\r\n\r\n", "400 request_line: more than one"},
		"a header too long":         {strings.Repeat("x", MaxHeader+1), "431 header_too_large: the request line"},
		"a length too large":        {ask("Content-Length: 65537"), "413 body_too_large: the body"},
		"a length that is none":     {ask("Content-Length: x"), "400 content_length: Content-Length"},
		"a chunk too large":         {chunked + "10001\r\n", "413 body_too_large: the body"},
		"a size that is none":       {chunked + "x\r\n", "400 chunk: a chunk's size"},
		"a size that ends with LF":  {chunked + "5\n", "400 chunk: a line of the chunked body"},
		"no line end after content": {chunked + "5\r\nhellox", "400 chunk: a chunk is not followed"},
		"an extension too long":     {chunked + "1;" + strings.Repeat("e", 2*MaxHeader), extensions},
		"a trailer too long":        {chunked + "0\r\n" + strings.Repeat("t", 2*MaxHeader), "431 header_too_large: the trailers"},
		"a trailer that is none":    {chunked + "0\r\nx\r\n", "400 field: a field has no name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			c := s.client(t)
			c.send(x.in)
			c.receive(x.want)
			c.receiveEnd()
			if asked := s.decider.take(); len(asked) > 0 {
				t.Errorf("asked %q", asked)
			}
		})
	}
}

// TestReset ends connections in the middle of a request, without a farewell.
func TestReset(t *testing.T) {
	s := serve(t)
	for _, request := range wholes {
		c := s.client(t)
		c.send(ask() + request[:len(request)-1])
		c.receive("200")
		_ = c.SetLinger(0)
		_ = c.Close()
	}
	s.awaitConnections(t, 0)
	if asked := s.decider.take(); len(asked) != len(wholes) {
		t.Errorf("asked %q, want %d times a", asked, len(wholes))
	}
}

// TestContinue holds that a client that waits for leave to send a body gets it.
func TestContinue(t *testing.T) {
	head := ask("Expect: 100-continue", "Content-Length: 5")
	t.Run("the body waits", func(t *testing.T) {
		t.Parallel()
		c := serve(t).client(t)
		c.send(head)
		c.receive("100")
		c.send("he")
		c.send("llo")
		c.receive("200")
		c.send(sentinel)
		c.receive("healthy")
	})
	t.Run("chunks wait", func(t *testing.T) {
		t.Parallel()
		c := serve(t).client(t)
		c.send(ask("Expect: 100-continue", "Transfer-Encoding: chunked"))
		c.receive("100")
		c.send("0\r\n\r\n")
		c.receive("200")
	})
	t.Run("an answer before it is not held back", func(t *testing.T) {
		t.Parallel()
		c := serve(t).client(t)
		c.send(ask() + head)
		c.receive("200")
		c.receive("100")
		c.send("hello")
		c.receive("200")
	})
	t.Run("a refused body is not asked for", func(t *testing.T) {
		t.Parallel()
		c := serve(t).client(t)
		c.send(ask("Expect: 100-continue", "Content-Length: 1000000"))
		c.receive("413 body_too_large: the body")
		c.receiveEnd()
	})
}

// TestLingeringClose: a client that sends its body whatever it is told still
// finds the answer.
func TestLingeringClose(t *testing.T) {
	refused := map[string]struct{ head, rest, want string }{
		"a body too long":   {ask("Content-Length: 900000"), strings.Repeat("b", 900_000), "413 body_too_large: the body"},
		"a header too long": {"GET / HTTP/1.1\r\n", strings.Repeat("X: y\r\n", 100_000), "431 header_too_large: the request line"},
		"a malformed one":   {"GET / HTTP/1.1\n", strings.Repeat("b", 900_000), "400 field: a line"},
		"a polite end":      {ask("Connection: close"), strings.Repeat(ask(), 10_000), "200"},
	}
	for name, r := range refused {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			c := s.client(t)
			c.send(r.head)
			c.send(r.rest)
			c.receive(r.want)
			c.receiveEnd()
			_ = c.Close()
			s.awaitConnections(t, 0)
		})
	}
	t.Run("the client never closes", func(t *testing.T) {
		t.Parallel()
		s := serve(t)
		c := s.client(t)
		c.send(ask("Content-Length: 65537"))
		c.receive("413 body_too_large: the body")
		c.receiveEnd()
		s.awaitShepherd(t)
		if n := s.connections(); n != 1 {
			t.Fatalf("%d connections, want 1: the server did not wait for the client", n)
		}
		s.told()
		s.clock.move(3 * time.Second)
		s.awaitConnections(t, 0)
		if bad, _ := s.told(); len(bad) > 0 {
			t.Errorf("counted once more: %v", bad)
		}
	})
}
