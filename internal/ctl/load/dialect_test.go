package load

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http2/hpack"
)

// An answer is taken once it is whole, wherever it is cut.
func TestReadAnswer(t *testing.T) {
	const text = "HTTP/1.1 429 Too Many Requests\r\nDate: now\r\nContent-Length: 5\r\nRetry-After: 1\r\n\r\nlater"
	for cut := range len(text) {
		if a, err := readAnswer([]byte(text[:cut])); err != nil || a.size != 0 {
			t.Fatalf("cut at %d: %+v, %v", cut, a, err)
		}
	}
	a, err := readAnswer([]byte(text + "HTTP/1.1"))
	if err != nil || a.status != 429 || a.size != len(text) || a.closes {
		t.Errorf("%+v, %v", a, err)
	}
	a, err = readAnswer([]byte("HTTP/1.1 200 OK\r\nCONNECTION: Close\r\ncontent-length:0\r\n\r\n"))
	if err != nil || a.status != 200 || !a.closes {
		t.Errorf("%+v, %v", a, err)
	}
	for text, want := range map[string]string{
		"SSH-2.0-OpenSSH_9.2p1\r\n\r\n":                           "no answer of HTTP/1.1",
		"HTTP/1.1 100 Continue\r\n\r\n":                           "no final status",
		"HTTP/1.1 2x0 OK\r\n\r\n":                                 "no final status",
		"HTTP/1.1 200 OK\r\n\r\n":                                 "unknown length",
		"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n":         "length of the body",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n":   "transfer coding",
		"HTTP/1.1 200 OK\r\nA: " + strings.Repeat("a", maxHead+1): "no end",
	} {
		if _, err := readAnswer([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

func FuzzReadAnswer(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 204 \r\nConnection: close\r\n\r\nHTTP"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if a, err := readAnswer(in); err == nil && (a.size < 0 || a.size > len(in)) {
			t.Errorf("%+v of %d", a, len(in))
		}
	})
}

// What is spelled is what another decoder reads, with and without a table.
func TestSpelling(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, p := range []Plan{
		{Host: "h:1", Resource: "r"}, {Host: "h:1", Resource: long, Prefix: "a/b"}, {Host: "h:1", Resource: "r", Prefix: long, Method: "GET"},
	} {
		s := newSpelling(&p)
		want := []string{":method=POST", ":scheme=http", ":path=/attempt", ":authority=h:1"}
		if p.Prefix != "" {
			want = append(want, "x-prefix="+p.Prefix)
		}
		if p.Method != "" {
			want = append(want, "x-method="+p.Method)
		}
		decoder := hpack.NewDecoder(tableSize, nil)
		for i, block := range [][]byte{s.plain, s.first, s.brief, s.brief} {
			resource := fmt.Sprint(p.Resource, "-", i)
			fields, err := decoder.DecodeFull(appendText(slices.Clone(block), resource))
			var got []string
			for _, f := range fields {
				got = append(got, f.Name+"="+f.Value)
			}
			if err != nil || !slices.Equal(got, append(slices.Clone(want), "x-resource="+resource)) {
				t.Errorf("block %d: %v, %v", i, got, err)
			}
		}
	}
}

func FuzzHear(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x01\x01\x05\x00\x00\x00\x01\x88"))
	f.Add([]byte("\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00"))
	f.Add([]byte("\x00\x00\x04\x03\x00\x00\x00\x00\x01\x00\x00\x00\x08"))
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, cut := newHTTP2(newSpelling(&Plan{}), 1), newHTTP2(newSpelling(&Plan{}), 1)
		var a, b heard
		used, err := whole.hear(in, &a)
		first, err2 := cut.hear(in[:len(in)/2], &b)
		if err2 == nil {
			var more int
			more, err2 = cut.hear(in[first:], &b)
			first += more
		}
		if used > len(in) || (err == nil) != (err2 == nil) || err == nil && (used != first || !slices.Equal(a.answers, b.answers)) {
			t.Errorf("whole: %d %v %v, cut: %d %v %v", used, a.answers, err, first, b.answers, err2)
		}
	})
}
