package load

import (
	"bufio"
	"bytes"
	"net/http"
	"testing"
)

func TestAnswer1(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in     string
		status, size int
		fails        bool
	}{
		{"empty body", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, 38, false},
		{"the next one behind it", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 ", 200, 38, false},
		{"body", "HTTP/1.1 429 No\r\ncontent-length: 5\r\nX: y\r\n\r\nlater", 429, 49, false},
		{"no reason", "HTTP/1.1 200\r\nCONTENT-LENGTH:0\r\n\r\n", 200, 34, false},
		{"204 has no length", "HTTP/1.1 204 No Content\r\nServer: nginx\r\n\r\n", 204, 42, false},
		{"head is not whole", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r", 0, 0, false},
		{"body is not whole", "HTTP/1.1 429 No\r\ncontent-length: 5\r\n\r\nlate", 0, 0, false},
		{"no length", "HTTP/1.1 200 OK\r\nServer: x\r\n\r\n", 0, 0, true},
		{"length is no number", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", 0, 0, true},
		{"huge length", "HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n", 0, 0, true},
		{"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 0, 0, true},
		{"another version", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", 0, 0, true},
		{"not final", "HTTP/1.1 100 Continue\r\n\r\n", 0, 0, true},
		{"no answer", "\r\n\r\n", 0, 0, true},
		{"status is cut", "HTTP/1.1 20\r\n\r\n", 0, 0, true},
	} {
		status, size, err := answer1([]byte(c.in))
		if status != c.status || size != c.size || (err != nil) != c.fails {
			t.Errorf("%s: got %d, %d octets, %v", c.name, status, size, err)
		}
	}
}

// The question is what net/http reads it as.
func TestQuestion1(t *testing.T) {
	t.Parallel()
	h := newHTTP1("127.0.0.1:80")
	var out []byte
	for n, want := range []struct {
		key               int
		id                uint64
		resource, spelled string
	}{
		{0, 1, "tenant-000000", "0000000000000001"},
		{99_999, 0xfedcba9876543210, "tenant-099999", "fedcba9876543210"},
		{123_456, 0, "tenant-123456", "0000000000000000"},
	} {
		var number uint32
		if out, number = h.ask(out[:0], want.key, want.id); number != uint32(n+1) {
			t.Errorf("question %d has number %d", n+1, number)
		}
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(out)))
		if err != nil {
			t.Fatal(err)
		}
		if r.Method != http.MethodPost || r.URL.Path != "/attempt" || r.Host != "127.0.0.1:80" || r.ContentLength != 0 ||
			r.Header.Get("X-Resource") != want.resource || r.Header.Get("X-Req-Id") != want.spelled ||
			r.Header.Get("X-Prefix") != "checkout-api" || r.Header.Get("X-Method") != "GET" {
			t.Errorf("read as %+v", r)
		}
	}
}

// No octets make the parser panic, and it never takes more than there is.
func FuzzAnswer1(f *testing.F) {
	f.Add([]byte("HTTP/1.1 429 No\r\ncontent-length: 5\r\n\r\nlater"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		status, size, err := answer1(in)
		if size < 0 || size > len(in) {
			t.Errorf("takes %d of %d octets", size, len(in))
		}
		if size > 0 && (err != nil || status < 200 || status > 599) {
			t.Errorf("status %d, %v", status, err)
		}
	})
}
