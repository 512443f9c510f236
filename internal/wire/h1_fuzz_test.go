package wire

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
)

// understood is what a reader makes of one request.
type understood struct {
	method  string
	path    path
	size    int // of the whole request, in bytes
	bad     bool
	attempt string
}

// dry is the connection below an http1 in memory: what is there has come, and
// nothing else will.
type dry struct{}

func (dry) Control(func(uintptr)) error    { return net.ErrClosed }
func (dry) Read(func(uintptr) bool) error  { return io.EOF }
func (dry) Write(func(uintptr) bool) error { return net.ErrClosed }

// inMemory returns an HTTP/1.x connection that has received b.
func inMemory(s *Server, b []byte) *http1 {
	c := &conn{s: s, tcp: &net.TCPConn{}, raw: dry{}, prep: s.prepared.Load(), in: b, w: len(b)}
	return newHTTP1(c, never)
}

func offline(d attempt.Decider) *Server {
	s := &Server{o: Options{
		Decider: d,
		Clock:   func() int64 { return 1 },
		Health:  func() (bool, string) { return true, healthLine },
		Headers: func() Headers { return HeadersRetryAfter },
		Observe: func(int, time.Duration) {},
		Verbose: func() bool { return false },
		Bad:     func(Reason) {},
	}}
	s.prepared.Store(prepare(time.Unix(0, 0)))
	return s
}

// next reads one request as the server does, and says what it makes of it. ok is
// false where the server would end the connection or wait for more.
func (h *http1) next() (u understood, ok bool) {
	before := len(h.c.unread())
	head := h.c.unread()
	n, bad := endOfHead(head, &h.scanned)
	if bad != nil || n == 0 {
		return u, false
	}
	h.scanned = 0
	h.req.reset()
	if h.req.parse(head[:n]) != nil {
		return u, false
	}
	method, _, _ := strings.Cut(strings.TrimPrefix(string(head[:n]), "\r\n"), " ")
	u = understood{method: method, path: h.req.path, bad: h.req.check() != nil}
	if !u.bad {
		u.attempt = describe(&h.req.Attempt)
	}
	h.c.use(n)
	if bad, err := h.skipBody(); bad != nil || err != nil {
		return u, false
	}
	u.size = before - len(h.c.unread())
	return u, true
}

// FuzzHTTP1 compares what we accept with what net/http makes of the same bytes:
// where a request ends, what it asks for, and on which keys. We may be stricter,
// never laxer: a request that two readers see differently can be smuggled past
// one of them.
func FuzzHTTP1(f *testing.F) {
	for _, seed := range seeds() {
		f.Add([]byte(seed))
	}
	s := offline(&recorder{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > longestFuzz {
			return
		}
		b = spell(b)
		h := inMemory(s, bytes.Clone(b))
		for at := 0; ; {
			ours, ok := h.next()
			if !ok {
				break
			}
			theirs, err := theirNext(b[at:])
			if err != nil {
				if justified(err, &ours) {
					break
				}
				t.Fatalf("net/http refuses what we accept: %v\nours: %+v\n%q", err, ours, b[at:])
			}
			if ours.path != theirs.path && ours.path == pathOther {
				ours.path = theirs.path // we normalise nothing that it does
			}
			if ours != theirs {
				t.Fatalf("ours   %+v\ntheirs %+v\n%q", ours, theirs, b[at:])
			}
			at += ours.size
		}
	})
}

// FuzzHTTP1Cut holds that a connection in memory ends, whatever comes, asks the
// same however it is cut, and never asks for what was not whole.
func FuzzHTTP1Cut(f *testing.F) {
	for _, seed := range seeds() {
		f.Add([]byte(seed), uint16(len(seed)/2))
	}
	f.Fuzz(func(t *testing.T, b []byte, cut uint16) {
		if len(b) > longestFuzz {
			return
		}
		if b = spell(b); int(cut) > len(b) {
			return
		}
		whole, cutOff := &recorder{}, &recorder{}
		inMemory(offline(whole), bytes.Clone(b)).serve()
		inMemory(offline(cutOff), bytes.Clone(b[:cut])).serve()
		if len(cutOff.asked) > len(whole.asked) {
			t.Fatalf("asked %q of a part, %q of the whole", cutOff.asked, whole.asked)
		}
		for i, asked := range cutOff.asked {
			if asked != whole.asked[i] {
				t.Fatalf("asked %q of a part, %q of the whole", cutOff.asked, whole.asked)
			}
		}
		scanned := 0
		for n := range b { // the end of a head is where it is, however it comes
			got, bad := endOfHead(b[:n+1], &scanned)
			if got == 0 && bad == nil {
				continue
			}
			fresh := 0
			if want, wantBad := endOfHead(b, &fresh); got != want || (bad == nil) != (wantBad == nil) {
				t.Fatalf("byte by byte the head ends at %d (%v), at once at %d (%v)", got, bad, want, wantBad)
			}
			break
		}
	})
}

// words are what the octets from 0x80 on stand for in the fuzzer's input: it finds
// combinations of them that it would not find letter by letter.
var words = []string{
	"\r\n", "\r\n\r\n", "\n", "\r", "\x00", ": ", " :", "\t", "\u00a0", ", ", ";", "\r\n ", "\xff",
	"POST /attempt HTTP/1.1\r\nHost: h\r\n", "GET /healthz HTTP/1.1\r\nHost: h\r\n", "HEAD ", "CONNECT ", "OPTIONS * ",
	" HTTP/1.1\r\n", " HTTP/1.0\r\n", " HTTP/1.2\r\n", "http://", "https://", "h:80", "[::1]", "/attempt", "/%61ttempt", "?x=y", "#",
	"Host: h\r\n", "Host:\r\n", "Content-Length: 5\r\n", "Content-Length: 0\r\n", "Content-Length: ", "content-length:",
	"Transfer-Encoding: chunked\r\n", "Transfer-Encoding: ", "chunked", "identity", "Connection: close\r\n", "Connection: ",
	"Trailer: ", "Expect: 100-continue\r\n", "Upgrade: h2c\r\n", "X-Resource: a\r\n", "X-Resource: ", "X-Prefix: /p/\r\n",
	"X-Method: m\r\n", "X-Hits: 2\r\n", "X-Hits: ", "X-Req-Id: i\r\n", "hello", "5\r\nhello\r\n", "0\r\n\r\n", "0\r\n", "00000000000000005",
	"5;x=y\r\n", "0x", "+", "-", "fffffffffffffffff", "1000000",
}

// longestFuzz is the longest input of the fuzzer that is tried. What needs more
// octets than that is in the tables; long inputs only slow it down.
const longestFuzz = 512

// spell writes the fuzzer's input out.
func spell(b []byte) []byte {
	var out []byte
	for _, c := range b {
		if i := int(c) - 0x80; i >= 0 && i < len(words) {
			out = append(out, words[i]...)
		} else {
			out = append(out, c)
		}
	}
	return out
}

// seeds are shapes to begin from: each kind of request, and what has been used to
// smuggle requests past servers.
func seeds() []string {
	chunk := "5\r\nhello\r\n0\r\n\r\n"
	return []string{
		ask(), ask("X-Prefix: /p/q/", "X-Method: GET", "X-Hits: 7", "X-Req-Id: 42"), sentinel,
		ask("Content-Length: 5") + "hello" + ask(),
		ask("Transfer-Encoding: chunked") + "5;x=\"y\"\r\nhello\r\n0;z\r\nX-Resource: b\r\n\r\n" + ask(),
		ask("Transfer-Encoding: chunked", "Trailer: Content-Length") + chunk,
		ask("Expect: 100-continue", "Content-Length: 5") + "hello",
		ask("Content-Length: 15", "Transfer-Encoding: chunked") + chunk,
		ask("Transfer-Encoding: chunked", "Content-Length: 3") + chunk,
		ask("Content-Length: 5", "Content-Length: 6") + "hello",
		ask("Content-Length: 5, 5") + "hello", ask("Content-Length: +5") + "hello",
		ask("Transfer-Encoding: xchunked") + chunk, ask("Transfer-Encoding : chunked") + chunk,
		ask("Transfer-Encoding: chunked", "Transfer-Encoding: x") + chunk,
		ask("Transfer-Encoding:\x0bchunked") + chunk, ask("Transfer-Encoding:\r\n chunked") + chunk,
		ask("X: y\nTransfer-Encoding: chunked") + chunk, ask("X: y\rTransfer-Encoding: chunked") + chunk,
		ask("Transfer-Encoding: chunked") + "5\nhello\n0\n\n", ask("Transfer-Encoding: chunked") + "0x5\r\nhello\r\n0\r\n\r\n",
		ask("Transfer-Encoding: chunked") + "5 ;x\r\nhello\r\n0\r\n\r\n", ask("Transfer-Encoding: chunked") + "10000000000000005\r\nhello\r\n0\r\n\r\n",
		ask("Transfer-Encoding: chunked") + "000\r\n" + bare("Content-Length: 5", "Host: x"),
		request("POST /attempt HTTP/1.0", "Transfer-Encoding: chunked") + chunk,
		request("POST http://h:80/%61ttempt?x HTTP/1.1"), request("CONNECT h:443 HTTP/1.1"), request("OPTIONS * HTTP/1.9"),
		request("POST x?y=http://h/attempt HTTP/1.1"), request("POST http://[::1]/attempt#x HTTP/1.1"),
		bare("POST /attempt HTTP/1.1", "Host:", "X-Resource: \xff\xfe"), bare("POST /attempt HTTP/1.0", "X-Resource: \u00a0"),
		"\r\n" + ask("X-Resource: b") + "\r\n" + ask(), preface, "PRI * HTTP/2.0\r\n\r\nXX",
		"POST /attempt HTTP/1.1\nHost: h\nX-Resource: a\n\n",
	}
}
