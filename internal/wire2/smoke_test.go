package wire

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
)

type fixed struct{ o attempt.Outcome }

func (f fixed) Attempt(int64, *attempt.Attempt, attempt.Later) (attempt.Outcome, bool) {
	return f.o, true
}

func TestSmoke(t *testing.T) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	s := NewServer(l, Options{
		Decider: fixed{attempt.Outcome{Result: attempt.Accepted}},
		Clock:   func() int64 { return int64(time.Since(began)) },
		Health:  func() (bool, string) { return true, "ready" },
		Headers: func() Headers { return HeadersRetryAfter },
		Observe: func(int, time.Duration) {}, Verbose: func() bool { return false },
		Bad: func(r Reason) { t.Log("bad", r) }, Log: slog.Default(),
		HeaderTimeout: time.Second, BodyTimeout: time.Second, IdleTimeout: time.Second, WriteTimeout: time.Second,
	})
	ended := make(chan error, 1)
	go func() { ended <- s.Serve() }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = c.Write([]byte("POST /attempt HTTP/1.1\r\nHost: a\r\nX-Resource: r\r\n\r\nPOST /attempt HTTP/1.1\r\nHost: a\r\n\r\nPOST /attempt HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nX-Resource: r\r\n\r\n5\r\nhello\r\n0\r\nFoo: bar\r\n\r\nGET /healthz HTTP/1.0\r\n\r\n"))
	b := make([]byte, 4096)
	for {
		n, err := c.Read(b)
		t.Logf("%s %v", b[:n], err)
		if err != nil {
			break
		}
	}
	_ = c.Close()
	if err := s.Drain(context.Background(), 2*time.Second); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
