package wire

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestDeadlinesOfRequests sends the beginning of a part of a request, and then a
// byte of it each second. What is whole after ten seconds is answered; what is
// not is cut, however steadily it comes, and counted.
func TestDeadlinesOfRequests(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("b", 20)
	tests := []struct{ name, before, slow, want string }{
		{"a header", "", sentinel, "healthy"},
		{"a header that begins like the preface", "", ask(), "200"},
		{"a header that goes on like the preface", "", request("PRI * HTTP/1.1"), "404 path: there is"},
		{"a header after another", ask(), ask(), "200"},
		{"an empty line before a header", "", "\r\n" + ask(), "200"},
		{"a body", ask("Content-Length: 20"), body, "200"},
		{"a chunk", ask("Transfer-Encoding: chunked"), "000014;extension\r\n" + body + "\r\n0\r\n\r\n", "200"},
		{"chunks", ask("Transfer-Encoding: chunked"), strings.Repeat("1\r\nx\r\n", 3) + "0\r\n\r\n", "200"},
		{"a trailer", ask("Transfer-Encoding: chunked") + "0\r\n", "X-Foo: bar-and-more\r\n\r\n", "200"},
	}
	for _, test := range tests {
		for _, late := range []bool{false, true} {
			name := test.name + map[bool]string{false: " in time", true: " late"}[late]
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := serve(t)
				c := s.client(t)
				s.awaitConnections(t, 1)
				if test.before != "" {
					c.sendRead(test.before)
				}
				if test.before == ask() {
					c.receive("200")
				}
				const seconds = 10
				for i := range seconds {
					c.sendRead(test.slow[i : i+1])
					s.clock.move(time.Second)
				}
				s.awaitShepherd(t)
				s.decider.take()
				if late {
					s.clock.move(time.Millisecond)
					c.receiveEnd()
					c.checkTold(ReasonTimeout)
					return
				}
				c.send(test.slow[seconds:])
				c.receive(test.want)
			})
		}
	}
}

// checkTold checks which bad requests were counted, and that nothing was asked.
func (c *client) checkTold(want ...Reason) {
	c.t.Helper()
	if bad, _ := c.s.told(); !slices.Equal(bad, want) {
		c.t.Errorf("bad requests counted: %v, want %v", bad, want)
	}
	if asked := c.s.decider.take(); len(asked) > 0 {
		c.t.Errorf("asked %q", asked)
	}
}

// TestPausesOfASender holds that a sender may pause for longer than a tick at
// any byte.
func TestPausesOfASender(t *testing.T) {
	t.Parallel()
	for _, text := range []string{ask(), bare("PRI * HTTP/1.1", "Host: h"), sentinel} {
		for _, n := range []int{1, 2, 10} {
			s := serve(t)
			t.Run("after "+text[:n], func(t *testing.T) {
				t.Parallel()
				c := s.client(t)
				s.awaitConnections(t, 1)
				c.sendRead(text[:n])
				s.awaitShepherd(t)
				c.sendRead(text[n : n+5])
				s.awaitShepherd(t)
				c.send(text[n+5:])
				if _, err := c.in.Peek(1); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// TestHeaderAndBodyHaveEachTheirTime takes nine seconds for each part of two
// requests.
func TestHeaderAndBodyHaveEachTheirTime(t *testing.T) {
	t.Parallel()
	s := serve(t)
	c := s.client(t)
	s.awaitConnections(t, 1)
	head := ask("Content-Length: 10")
	for range 2 {
		for _, part := range []string{head[:10], head[10:] + "he", "llohello"} {
			c.sendRead(part)
			s.clock.move(9 * time.Second)
			s.awaitShepherd(t)
		}
		c.receive("200")
	}
}

func TestIdleDeadline(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{
		"a new connection":       "",
		"after an answer":        ask(),
		"after a body":           ask("Content-Length: 5") + "hello",
		"after the longest ones": ask("X-Fill: "+strings.Repeat("f", 10_000), "Content-Length: 65536") + strings.Repeat("b", MaxBody),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			c := s.client(t)
			s.awaitConnections(t, 1)
			if before != "" {
				c.sendRead(before)
				c.receive("200")
			}
			s.clock.move(5 * time.Minute)
			s.awaitShepherd(t)
			if s.connections() != 1 {
				t.Fatal("an idle connection is cut too early")
			}
			s.decider.take()
			s.told()
			s.clock.move(time.Millisecond)
			c.receiveEnd()
			c.checkTold()
		})
	}
}

// TestWriteDeadline asks without reading the answers, until nothing can be sent
// any more.
func TestWriteDeadline(t *testing.T) {
	t.Parallel()
	s := serve(t)
	c := s.client(t)
	_ = c.SetReadBuffer(4 << 10)
	requests := []byte(strings.Repeat("GET / HTTP/1.1\r\nHost: h\r\n\r\n", 1000))
	for rest := requests; ; {
		reads := s.clock.reads.Load()
		_ = c.SetWriteDeadline(time.Now().Add(500 * time.Millisecond))
		n, err := c.Write(rest)
		if errors.Is(err, os.ErrDeadlineExceeded) && s.clock.reads.Load() == reads { // and is not just slow
			break
		} else if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		if rest = rest[n:]; len(rest) == 0 {
			rest = requests
		}
	}
	s.clock.move(10 * time.Second)
	s.awaitShepherd(t)
	if s.connections() != 1 {
		t.Fatal("a peer that does not read is cut too early")
	}
	s.told()
	s.clock.move(time.Millisecond)
	s.awaitConnections(t, 0)
	c.checkTold(ReasonTimeout)
}

// TestMaxConnections: those who do not get in wait, and get in when one leaves.
func TestMaxConnections(t *testing.T) {
	t.Parallel()
	s := serve(t, func(o *Options) { o.MaxConnections = 2 })
	first, second := s.client(t), s.client(t)
	for _, c := range []*client{first, second} {
		c.send(ask())
		c.receive("200")
	}
	third, fourth := s.client(t), s.client(t)
	third.send(ask())
	fourth.send(ask())
	s.awaitShepherd(t)
	s.awaitShepherd(t)
	if asked := s.decider.take(); len(asked) != 2 {
		t.Fatalf("asked %d times, want 2: more get in than may", len(asked))
	}
	_ = first.Close()
	third.receive("200")
	_ = third.Close()
	fourth.receive("200")
	second.send(ask())
	second.receive("200")
}
