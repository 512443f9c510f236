package wire

import (
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/levee-project/levee/internal/attempt"
)

// always is a Decider that costs nothing.
type always struct{ outcome attempt.Outcome }

func (a always) Attempt(int64, *attempt.Attempt, attempt.Later) (attempt.Outcome, bool) {
	return a.outcome, true
}

type benchRequest struct{ name, text string }

// benchAttempts are what a careful client sends, what an ordinary one does, and
// what costs more.
var benchAttempts = []benchRequest{
	{"small", bare("POST /attempt HTTP/1.1", "Host: levee:5454", "X-Resource: photos")},
	{"usual", bare("POST /attempt HTTP/1.1", "Host: levee.example.com:5454", "User-Agent: Go-http-client/1.1", "Content-Length: 0",
		"X-Resource: photos", "X-Prefix: albums/2026", "X-Method: GET", "Accept-Encoding: gzip")},
	{"proxied", bare("POST /attempt HTTP/1.1", "Host: levee.example.com:5454", "User-Agent: curl/7.88.1", "Accept: */*",
		"X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: http", "Via: 1.1 edge", "X-Resource: photos", "X-Method: GET",
		"X-Req-Id: 7f1c9a5e-0b1d-4c57-9a55-2f0f5d3c8e10", "X-Hits: 3", "Connection: keep-alive", "Content-Type: application/x-www-form-urlencoded", "Content-Length: 0")},
	{"query", bare("POST /attempt?a=b HTTP/1.1", "Host: levee:5454", "X-Resource: photos")},
	{"body", bare("POST /attempt HTTP/1.1", "Host: levee:5454", "X-Resource: photos", "Content-Length: 5") + "hello"},
	{"chunked", bare("POST /attempt HTTP/1.1", "Host: levee:5454", "X-Resource: photos", "Transfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n\r\n"},
}

// benchRefused are requests that are whole and wrong.
var benchRefused = []benchRequest{
	{"bad", bare("POST /attempt HTTP/1.1", "Host: levee:5454")},
	{"other path", bare("GET /favicon.ico HTTP/1.1", "Host: levee:5454")},
}

var benchOutcomes = []struct {
	name    string
	outcome attempt.Outcome
}{
	{"accepted", attempt.Outcome{Result: attempt.Accepted, Level: attempt.Resource}},
	{"rejected", attempt.Outcome{Result: attempt.Rejected, Level: attempt.Resource, RetryAfter: 1}},
}

// BenchmarkHTTP1 measures a request from its octets to those of its answer, in
// memory and with a decision that costs nothing.
func BenchmarkHTTP1(b *testing.B) {
	for _, r := range slices.Concat(benchAttempts, benchRefused) {
		b.Run(r.name, func(b *testing.B) { benchInMemory(b, r.text, attempt.Outcome{Result: attempt.Accepted}) })
	}
	for _, o := range benchOutcomes {
		b.Run(o.name, func(b *testing.B) { benchInMemory(b, benchAttempts[1].text, o.outcome) })
	}
}

func benchInMemory(b *testing.B, text string, o attempt.Outcome) {
	h := inMemory(offline(always{o}), []byte(text))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		answerAll(b, h)
	}
}

// answerAll answers the requests in h's buffer once more.
func answerAll(tb testing.TB, h *http1) {
	h.c.r, h.c.out = 0, h.c.out[:0]
	for len(h.c.unread()) > 0 {
		n, bad := endOfHead(h.c.unread(), &h.scanned)
		if bad != nil || !h.request(n) {
			tb.Fatal("the connection ends")
		}
	}
}

// TestNoAllocations: an attempt costs no memory, however it is spelled.
func TestNoAllocations(t *testing.T) {
	for _, r := range benchAttempts {
		for _, o := range benchOutcomes {
			h := inMemory(offline(always{o.outcome}), []byte(r.text))
			answerAll(t, h) // grows the buffers
			if n := testing.AllocsPerRun(100, func() { answerAll(t, h) }); n > 0 {
				t.Errorf("%s, %s: %v allocations", r.name, o.name, n)
			}
		}
	}
}

// BenchmarkHTTP1Socket measures a connection to a server on this machine: one
// request at a time, and 16 at once. A time is that of one request.
func BenchmarkHTTP1Socket(b *testing.B) {
	b.Run("one at a time", func(b *testing.B) { benchSocket(b, 1) })
	b.Run("pipelined 16", func(b *testing.B) { benchSocket(b, 16) })
}

func benchSocket(b *testing.B, together int) {
	s := serve(b, func(o *Options) { o.Decider = always{attempt.Outcome{Result: attempt.Accepted}} })
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	requests := []byte(strings.Repeat(benchAttempts[1].text, together))
	answers := make([]byte, together*len(s.prepared.Load().accepted))
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if n%together > 0 {
			continue // asked already
		}
		if _, err := c.Write(requests); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(c, answers); err != nil {
			b.Fatal(err)
		}
	}
}
