package wire

import (
	"fmt"
	"strings"
	"testing"

	xhttp2 "golang.org/x/net/http2"
)

// A request with content is decided when the last of it has come, and the content
// is ignored.
func TestHTTP2Content(t *testing.T) {
	full := func(w *script, id uint32, n int) {
		for ; n > 0; n -= 16384 {
			w.data(id, false, min(n, 16384))
		}
	}
	converse(t, []dialogue{
		{
			name: "some",
			send: func(w *script) {
				w.head(1, "x-resource", "r", "content-length", "8")
				w.data(1, false, 3)
				w.data(1, true, 5)
			},
			want: "1: " + accepted, asked: "r",
		},
		{
			name: "none after all",
			send: func(w *script) {
				w.head(1, "x-resource", "r")
				w.data(1, true, 0)
			},
			want: "1: " + accepted, asked: "r",
		},
		{
			name: "not all of it",
			send: func(w *script) {
				w.head(1, "x-resource", "r")
				w.data(1, false, 5)
			},
		},
		{
			name: "of two requests in turn",
			send: func(w *script) {
				w.head(1, "x-resource", "a", "x-prefix", "p")
				w.head(3, "x-resource", "b")
				w.data(3, false, 5)
				w.data(1, false, 5)
				w.ask(5, "x-resource", "c")
				w.data(3, true, 5)
				w.data(1, true, 5)
			},
			want: "1: " + accepted + " | 3: " + accepted + " | 5: " + accepted, asked: "a prefix=p | b | c",
		},
		{
			name: "with padding",
			send: func(w *script) {
				w.head(1, "x-resource", "r", "content-length", "4")
				must(w.WriteDataPadded(1, false, []byte("ab"), make([]byte, 255)))
				must(w.WriteDataPadded(1, false, nil, nil))
				must(w.WriteDataPadded(1, true, []byte("cd"), make([]byte, 1)))
			},
			want: "1: " + accepted, asked: "r",
		},
		{
			name: "more than its length says",
			send: func(w *script) {
				w.head(1, "x-resource", "r", "content-length", "4")
				w.data(1, false, 5)
				w.data(1, true, 5)
				w.ask(3, "x-resource", "r")
			},
			want: "1: " + malform + " | 3: " + accepted, asked: "r", bad: "h2_stream",
		},
		{
			name: "more than its length says, at once",
			send: func(w *script) {
				w.head(1, "x-resource", "r", "content-length", "4")
				w.data(1, false, 5)
			},
			want: "1: " + malform, bad: "h2_stream",
		},
		{
			name: "less than its length says",
			send: func(w *script) {
				w.head(1, "x-resource", "r", "content-length", "4")
				w.data(1, true, 3)
			},
			want: "1: " + malform, bad: "h2_stream",
		},
		{
			name: "64 KiB",
			send: func(w *script) {
				w.head(1, "x-resource", "r")
				full(w, 1, MaxBody)
				w.data(1, true, 0)
			},
			want: "1: +32768, +32768, 200 end | +32768, +32768", asked: "r",
		},
		{
			name: "more than 64 KiB, as its length says",
			send: func(w *script) {
				w.head(1, "x-resource", "r", "content-length", "65537", "expect", "100-continue")
				w.data(1, false, 10) // it is under way
				w.data(1, true, 10)
				w.ask(3, "x-resource", "r")
			},
			want: "1: 413, \"the body is longer than 64 KiB\\n\" end, RST NO_ERROR | 3: " + accepted, asked: "r", bad: "body_too_large",
		},
		{
			name: "more than 64 KiB, as it turns out",
			send: func(w *script) {
				w.head(1, "x-resource", "r")
				full(w, 1, MaxBody)
				w.data(1, false, 1)
				w.data(1, false, 10) // it is under way
				w.ask(3, "x-resource", "r")
			},
			want:  "1: +32768, +32768, 413, \"the body is longer than 64 KiB\\n\" end, RST NO_ERROR | 3: " + accepted + " | +32768, +32768",
			asked: "r", bad: "body_too_large",
		},
		{
			name: "more than 64 KiB, with its last frame",
			send: func(w *script) {
				w.head(1, "x-resource", "r")
				full(w, 1, MaxBody)
				w.data(1, true, 1)
			},
			want: "1: +32768, +32768, 413, \"the body is longer than 64 KiB\\n\" end | +32768, +32768", bad: "body_too_large",
		},
		{
			name: "of a request for health",
			send: func(w *script) {
				w.headers(1, false, health...)
				w.data(1, true, 100)
			},
			want: "1: " + healthy,
		},
		{
			name: "of a request that is refused",
			send: func(w *script) {
				w.head(1)
				w.data(1, true, 100)
			},
			want: `1: 400, "X-Resource is missing or empty\n" end`, bad: "no_resource",
		},
		{
			name: "that is asked for",
			send: func(w *script) {
				w.head(1, "x-resource", "r", "expect", "100-continue")
				w.data(1, true, 1)
			},
			want: "1: 100, 200 end", asked: "r",
		},
		{
			name: "of CONNECT, which does not wait for an end",
			send: func(w *script) { w.headers(1, false, ":method", "CONNECT", ":authority", "levee") },
			want: `1: 404, "there is nothing here; ask POST /attempt\n" end, RST NO_ERROR`, bad: "path",
		},
		{
			name: "that ends while a refusal waits for a window",
			send: func(w *script) {
				w.settings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize})
				w.head(1, "content-length", "100000")
				w.data(1, true, 10)
				w.update(1, 100)
				w.head(3, "content-length", "100000")
				w.headers(3, true, "x", "y")
				w.update(3, 100)
			},
			want: "1: 413, \"the body is longer than 64 KiB\\n\" end | 3: 413, \"the body is longer than 64 KiB\\n\" end",
			bad:  "body_too_large | body_too_large",
		},
		{
			name: "after a refusal that waits for a window, up to the window of the stream",
			send: func(w *script) {
				w.settings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize})
				w.head(1, "content-length", "100000")
				full(w, 1, 65535)
				w.head(3, "content-length", "100000")
				full(w, 3, 65536)
				w.update(1, 100)
			},
			want: "1: 413, \"the body is longer than 64 KiB\\n\" end, RST NO_ERROR | 3: 413, RST FLOW_CONTROL_ERROR | " +
				"+32768, +32767, +32768, +32768",
			bad: "body_too_large | body_too_large | h2_flow_control",
		},
	})
}

func TestHTTP2Trailers(t *testing.T) {
	converse(t, []dialogue{
		{
			name: "say nothing about the attempt",
			send: func(w *script) {
				w.head(1, "x-resource", "r")
				w.data(1, false, 4)
				w.headers(1, true, "x-prefix", "p", "x-hits", "many", "x-checksum", "1")
			},
			want: "1: " + accepted, asked: "r",
		},
		{
			name: "cannot give a resource",
			send: func(w *script) {
				w.head(1)
				w.headers(1, true, "x-resource", "r")
			},
			want: `1: 400, "X-Resource is missing or empty\n" end`, bad: "no_resource",
		},
		{
			name: "after less content than announced",
			send: func(w *script) {
				w.head(1, "x-resource", "r", "content-length", "5")
				w.data(1, false, 4)
				w.headers(1, true, "x", "y")
			},
			want: "1: " + malform, bad: "h2_stream",
		},
		{
			name: "without an end",
			send: func(w *script) {
				w.head(1, "x-resource", "r")
				w.headers(1, false, "x", "y")
				w.ask(3, "x-resource", "r", "x", "y")
			},
			want: "1: " + malform + " | 3: " + accepted, asked: "r", bad: "h2_stream",
		},
		{
			name: "with a pseudo-header",
			send: func(w *script) {
				w.head(1, "x-resource", "r")
				w.headers(1, true, ":method", "POST")
			},
			want: "1: " + malform, bad: "h2_stream",
		},
		{
			name: "with a name in upper case",
			send: func(w *script) {
				w.head(1, "x-resource", "r")
				w.headers(1, true, "X", "y")
			},
			want: "1: " + malform, bad: "h2_stream",
		},
		{
			name: "with a field of the connection",
			send: func(w *script) {
				w.head(1, "x-resource", "r")
				w.headers(1, true, "connection", "close")
			},
			want: "1: " + malform, bad: "h2_stream",
		},
		{
			name: "that are too large",
			send: func(w *script) {
				w.head(1, "x-resource", "r")
				w.headers(1, true, "x", strings.Repeat("y", MaxHeader))
				w.ask(3, "x-resource", "r")
			},
			want:  `1: 431, "the request line and fields are longer than 16 KiB\n" end | 3: ` + accepted,
			asked: "r", bad: "header_too_large",
		},
		{
			name: "that cannot be decoded",
			send: func(w *script) {
				w.head(1, "x-resource", "r")
				w.frame(frameHeaders, flagEndHeaders|flagEndStream, 1, "\xff\xff\xff\xff\xff\x0f")
			},
			want: "GOAWAY 1 COMPRESSION_ERROR, closed", bad: "h2_compression",
		},
	})
}

// A header list that is too large costs only its request, and what it brought to
// the table is known.
func TestHTTP2LargeFields(t *testing.T) {
	const refused = `431, "the request line and fields are longer than 16 KiB\n" end`
	large := strings.Repeat("z", MaxHeader)
	converse(t, []dialogue{
		{
			name: "one large field",
			send: func(w *script) {
				w.ask(1, "x-resource", "r", "x", large, "x-prefix", "known")
				w.ask(3, "x-resource", "r", "x-prefix", "known")
			},
			want: "1: " + refused + " | 3: " + accepted, asked: "r prefix=known", bad: "header_too_large",
		},
		{
			name: "many small fields",
			send: func(w *script) {
				var pairs []string
				for range MaxHeader / 33 {
					pairs = append(pairs, "x", "")
				}
				w.ask(1, append(pairs, "x-resource", "r")...)
			},
			want: "1: " + refused, bad: "header_too_large",
		},
		{
			name: "in many frames",
			send: func(w *script) {
				block := w.fields(append(usual, "x", strings.Repeat("\x01", 20000))...) // does not shrink
				must(w.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1, EndStream: true, BlockFragment: block[:16384]}))
				must(w.WriteContinuation(1, true, block[16384:]))
				w.ask(3, "x-resource", "r")
			},
			want: "1: " + refused + " | 3: " + accepted, asked: "r", bad: "header_too_large",
		},
		{
			name: "of a request whose content is to come",
			send: func(w *script) {
				w.head(1, "x", large)
				w.data(1, true, 100) // it is under way
				w.ask(3, "x-resource", "r")
			},
			want: "1: " + refused + ", RST NO_ERROR | 3: " + accepted, asked: "r", bad: "header_too_large",
		},
		{
			name: "of a HEAD",
			send: func(w *script) { w.headers(1, true, append(replaced(":method", "HEAD"), "x", large)...) },
			want: "1: 431 end", bad: "header_too_large",
		},
		{
			name: "a block of over 64 KiB",
			send: func(w *script) {
				w.frame(frameHeaders, 0, 1, strings.Repeat("\x00", 16384))
				for range 4 {
					w.frame(frameContinuation, 0, 1, strings.Repeat("\x00", 16384))
				}
			},
			want: "GOAWAY 0 ENHANCE_YOUR_CALM, closed", bad: "h2_flood",
		},
	})
}

// What is sent on a stream depends on what was sent before.
func TestHTTP2StreamStates(t *testing.T) {
	long := func(resource string) string { return resource + " id=" + strings.Repeat("z", 10_000) }
	converse(t, []dialogue{
		{
			name: "a number that is not higher",
			send: func(w *script) {
				w.headers(5, true, health...)
				w.headers(3, true, health...)
			},
			want: "5: " + healthy + " | GOAWAY 5 STREAM_CLOSED, closed", bad: "h2_framing",
		},
		{
			name: "numbers that are left out",
			send: func(w *script) {
				w.ask(7, "x-resource", "a")
				w.ask(maxStream, "x-resource", "b")
			},
			want: fmt.Sprintf("7: %s | %d: %s", accepted, maxStream, accepted), asked: "a | b",
		},
		{
			name: "HEADERS after the end",
			send: func(w *script) {
				w.headers(1, true, health...)
				w.headers(1, true, "x", "y")
			},
			want: "1: " + healthy + " | GOAWAY 1 STREAM_CLOSED, closed", bad: "h2_framing",
		},
		{
			name: "DATA after the end",
			send: func(w *script) {
				w.headers(1, true, health...)
				w.data(1, true, 4)
				w.ask(3, "x-resource", "r")
			},
			want: "1: " + healthy + ", RST STREAM_CLOSED | 3: " + accepted, asked: "r", bad: "h2_stream",
		},
		{
			name: "DATA and HEADERS after a reset by the server",
			send: func(w *script) {
				w.headers(1, false, append(usual, "Upper", "case")...)
				w.data(1, false, 4)
				w.headers(1, true, "x-prefix", "known")
				w.data(1, true, 4)
				w.ask(3, "x-resource", "r", "x-prefix", "known")
			},
			want: "1: " + malform + " | 3: " + accepted, asked: "r prefix=known", bad: "h2_stream",
		},
		{
			name: "a reset before the end",
			send: func(w *script) {
				w.head(1, "x-resource", "r")
				w.data(1, false, 4)
				w.reset(1)
				w.ask(3, "x-resource", "s")
			},
			want: "3: " + accepted, asked: "s",
		},
		{
			name: "a reset at once",
			send: func(w *script) {
				w.ask(1, "x-resource", "r")
				w.ask(3, "x-resource", "s")
				w.ask(5, "x-resource", "t")
				w.reset(1)
			},
			want: "3: " + accepted + " | 5: " + accepted, asked: "s | t", cuts: true,
		},
		{
			name: "DATA after a reset by the client",
			send: func(w *script) {
				w.head(1, "x-resource", "r")
				w.reset(1)
				w.data(1, true, 4)
			},
			want: "1: RST STREAM_CLOSED", bad: "h2_stream",
		},
		{
			name: "250 streams, and one more",
			send: func(w *script) {
				for i := range uint32(251) {
					w.head(2*i+1, "x-resource", "r")
				}
				w.data(499, true, 1)
			},
			want: "499: " + accepted + " | 501: RST REFUSED_STREAM", asked: "r",
		},
		{
			name: "fewer streams with more to remember",
			send: func(w *script) {
				id := uint32(1)
				for range maxKept / 10_000 {
					w.head(id, "x-resource", "r", "x-req-id", strings.Repeat("z", 10_000))
					id += 2
				}
				w.head(id, "x-resource", "r", "x-req-id", strings.Repeat("z", 10_000))
				w.data(1, true, 1)
				w.ask(id+2, "x-resource", "s", "x-req-id", strings.Repeat("z", 10_000))
				w.head(id+4, "x-resource", "t", "x-req-id", strings.Repeat("z", 10_000))
				w.data(id+4, true, 0)
			},
			want:  "1: " + accepted + " | 51: RST REFUSED_STREAM | 53: " + accepted + " | 55: " + accepted,
			asked: long("r") + " | " + long("s") + " | " + long("t"),
		},
		{
			name: "what a refused request brought to the table",
			send: func(w *script) {
				for i := range uint32(250) {
					w.head(2*i+1, "x-resource", "r")
				}
				w.ask(501, "x-resource", "r", "x-prefix", "known")
				w.reset(1)
				w.ask(503, "x-resource", "r", "x-prefix", "known")
			},
			want: "501: RST REFUSED_STREAM | 503: " + accepted, asked: "r prefix=known",
		},
	})
}

// Streams that are over do not count, however many ended together.
func TestHTTP2StreamsAreForgotten(t *testing.T) {
	late := &tardy{recorder: &recorder{}}
	s := serve(t, func(o *Options) { o.Decider = late })
	w := newScript()
	c := s.dialHTTP2(t, w)
	id := uint32(1)
	const n = 2*batchSize + 9
	for range 5 {
		for i := range uint32(n) {
			w.head(id+2*i, "x-resource", "r")
		}
		for i := range uint32(n) {
			w.data(id+2*i, true, 1)
		}
		id += 2 * n
		c.send(w)
		c.settle()
		late.wg.Wait()
		c.settle()
		if got := strings.Count(c.transcript(), accepted); got != n {
			t.Fatalf("%d of %d were answered", got, n)
		}
	}
	for range maxStreams {
		w.head(id, "x-resource", "r")
		id += 2
	}
	w.ask(id, "x-resource", "r")
	c.send(w)
	if got, want := c.settle().transcript(), fmt.Sprintf("%d: RST REFUSED_STREAM", id); got != want {
		t.Errorf("received %s, want %s", got, want)
	}
}
