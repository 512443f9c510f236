package wire

import (
	"slices"
	"strings"
	"testing"

	xhttp2 "golang.org/x/net/http2"
)

// A malformed request is reset. The connection, and what the two ends know of
// each other's header fields, goes on.
func TestHTTP2MalformedRequests(t *testing.T) {
	with := func(pairs ...string) []string {
		return append(slices.Concat(usual, []string{"x-resource", "r"}), pairs...)
	}
	var table []dialogue
	for _, row := range []struct {
		name   string
		fields []string
	}{
		{"no fields", nil},
		{"no :method", replaced(":method", "")},
		{"no :scheme", replaced(":scheme", "")},
		{"no :path", replaced(":path", "")},
		{"neither :authority nor host", replaced(":authority", "")},
		{"two :method", append([]string{":method", "POST"}, usual...)},
		{"two :path", append([]string{":path", "/attempt"}, usual...)},
		{"two :scheme", append([]string{":scheme", "http"}, usual...)},
		{"two :authority", append([]string{":authority", "levee"}, usual...)},
		{"a :status", append([]string{":status", "200"}, usual...)},
		{"a :protocol", append([]string{":protocol", "websocket"}, usual...)},
		{"a pseudo-header without a name", append([]string{":", "x"}, usual...)},
		{"a pseudo-header after a field", append(replaced(":authority", ""), "x-resource", "r", ":authority", "levee")},
		{"an empty :path", append([]string{":path", ""}, replaced(":path", "")...)},
		{"an empty :method", append([]string{":method", ""}, replaced(":method", "")...)},
		{"an empty :authority", append([]string{":authority", ""}, replaced(":authority", "")...)},
		{"an empty host", append(replaced(":authority", ""), "host", "")},
		{":method with a space", replaced(":method", "PO ST")},
		{":path with a space", replaced(":path", "/attempt x")},
		{":path with a bare byte above 0x7f", replaced(":path", "/\xff")},
		{":path without a slash", replaced(":path", "attempt")},
		{":path with what is no percent-encoding", replaced(":path", "/%zz")},
		{":scheme with a space", replaced(":scheme", "ht tp")},
		{":authority with a user", replaced(":authority", "user@levee")},
		{"CONNECT with a path", replaced(":method", "CONNECT")},
		{"CONNECT without authority", []string{":method", "CONNECT"}},
		{"a host that differs", with("host", "other")},
		{"two hosts", with("host", "levee", "host", "levee")},
		{"a name in upper case", with("X-Prefix", "p")},
		{"a name with a space", with("x prefix", "p")},
		{"an empty name", with("", "p")},
		{"a value with LF", with("x-prefix", "a\nb")},
		{"a value with CR", with("x-prefix", "a\rb")},
		{"a value with NUL", with("x-prefix", "a\x00b")},
		{"a value with a space before it", with("x-prefix", " p")},
		{"a value with a tab behind it", with("x-prefix", "p\t")},
		{"connection", with("connection", "close")},
		{"keep-alive", with("keep-alive", "1")},
		{"proxy-connection", with("proxy-connection", "keep-alive")},
		{"transfer-encoding", with("transfer-encoding", "chunked")},
		{"upgrade", with("upgrade", "h2c")},
		{"te: gzip", with("te", "gzip")},
		{"content-length with a sign", with("content-length", "+0")},
		{"an empty content-length", with("content-length", "")},
		{"two content-lengths", with("content-length", "0", "content-length", "0")},
		{"content-length without content", with("content-length", "1")},
	} {
		table = append(table, dialogue{
			name: row.name,
			send: func(w *script) {
				w.headers(1, true, row.fields...)
				w.ask(3, "x-resource", "next", "x-prefix", "p")
			},
			want: "1: " + malform + " | 3: " + accepted, asked: "next prefix=p", bad: "h2_stream",
		})
	}
	converse(t, append(table, dialogue{
		name: "a stream that depends on itself",
		send: func(w *script) {
			must(w.WriteHeaders(xhttp2.HeadersFrameParam{
				StreamID: 1, EndHeaders: true, EndStream: true, Priority: xhttp2.PriorityParam{StreamDep: 1},
				BlockFragment: w.fields(append(usual, "x-resource", "r")...),
			}))
			w.ask(3, "x-resource", "r")
		},
		want: "1: " + malform + " | 3: " + accepted, asked: "r", bad: "h2_stream",
	}))
}

// The fields of a whole request become an attempt, or an answer that says what is
// wrong.
func TestHTTP2Requests(t *testing.T) {
	whole := func(name, want, asked, bad string, fields ...string) dialogue {
		return dialogue{
			name: name, want: want, asked: asked, bad: bad,
			send: func(w *script) { w.headers(1, true, fields...) },
		}
	}
	good := func(name, asked string, pairs ...string) dialogue {
		return whole(name, "1: "+accepted, asked, "", slices.Concat(usual, pairs)...)
	}
	refused := func(name, status, text, bad string, fields ...string) dialogue {
		return whole(name, "1: "+status+`, "`+text+`\n" end`, "", bad, fields...)
	}
	ask := func(pairs ...string) []string { return slices.Concat(usual, pairs) }
	long := strings.Repeat("k", 1025)
	const (
		elsewhere = "there is nothing here; ask POST /attempt"
		hits      = "X-Hits is not a whole number from 0 to 1000000"
	)
	converse(t, []dialogue{
		good("a resource", "r", "x-resource", "r"),
		good("everything", "r prefix=p/q method=GET hits=7 id=abc", "x-resource", "r", "x-prefix", "/p/q/", "x-method", "GET", "x-hits", "7", "x-req-id", "abc"),
		good("a key of 1,024 bytes", long[1:], "x-resource", long[1:]),
		good("any octets", "\xff\x01 \u00e9 hits=0", "x-resource", "\xff\x01 \u00e9", "x-hits", "0"),
		good("an id given twice", "r id=b", "x-resource", "r", "x-req-id", "a", "x-req-id", "b"),
		good("fields of no interest", "r", "te", "trailers", "content-length", "0", "expect", "100-continue",
			"trailer", "x", "host", "LEVEE", "cookie", "a=b", "cookie", "c=d", "x-resource", "r", "x", ""),
		whole("host for :authority", "1: "+accepted, "r", "", append(replaced(":authority", ""), "host", "levee:5454", "x-resource", "r")...),
		whole("a query", "1: "+accepted, "r", "", append(replaced(":path", "/attempt?x=%zz"), "x-resource", "r")...),
		whole("a path in percent-encoding", "1: "+accepted, "r", "", append(replaced(":path", "/%61ttempt"), "x-resource", "r")...),
		whole("another scheme", "1: "+accepted, "r", "", append(replaced(":scheme", "https"), "x-resource", "r")...),
		whole("an unknown expectation", "1: "+accepted, "r", "", ask("x-resource", "r", "expect", "miracles")...),
		whole("rejected", "1: 429 retry-after=2 end", "rejected", "", ask("x-resource", "rejected")...),
		whole("failed", `1: 500, "the quotas are not loaded\n" end`, "failed", "", ask("x-resource", "failed")...),
		whole("health", "1: "+healthy, "", "", health...),
		whole("health by HEAD", "1: 200 end", "", "", replaced(":method", "HEAD", ":path", "/healthz")...),

		refused("no resource", "400", "X-Resource is missing or empty", "no_resource", usual...),
		refused("an empty resource", "400", "X-Resource is missing or empty", "no_resource", ask("x-resource", "")...),
		refused("a resource given twice", "400", "X-Resource is given more than once", "repeated_field", ask("x-resource", "r", "x-resource", "r")...),
		refused("hits given twice", "400", "X-Hits is given more than once", "repeated_field", ask("x-resource", "r", "x-hits", "1", "x-hits", "1")...),
		refused("a key too long", "400", "X-Prefix is longer than 1024 bytes", "key_too_long", ask("x-resource", "r", "x-prefix", long)...),
		refused("hits in hexadecimal", "400", hits, "hits", ask("x-resource", "r", "x-hits", "0x1")...),
		refused("too many hits", "400", hits, "hits", ask("x-resource", "r", "x-hits", "1000001")...),
		refused("another path", "404", elsewhere, "path", replaced(":path", "/attempt/")...),
		refused("*", "404", elsewhere, "path", replaced(":method", "OPTIONS", ":path", "*")...),
		refused("GET of an attempt", "405 allow=POST", "attempts are made with POST", "method", replaced(":method", "GET")...),
		refused("POST of health", "405 allow=GET, HEAD", "health is asked with GET or HEAD", "method", replaced(":path", "/healthz")...),
		whole("HEAD of an attempt", "1: 405 allow=POST end", "", "method", replaced(":method", "HEAD")...),
	})
}

// The fields with an answer.
func TestHTTP2AnswerFields(t *testing.T) {
	for _, test := range []struct {
		headers  Headers
		resource string
		want     string
	}{
		{HeadersRetryAfter, "r", `200 end`},
		{HeadersNone, "rejected", `429 end`},
		{HeadersRateLimit, "r", `200 ratelimit-policy="resource";q=0;w=0 ratelimit="resource";r=0;t=0 end`},
		{HeadersRateLimit, "rejected", `429 retry-after=2 ratelimit-policy="resource";q=0;w=0 ratelimit="resource";r=0;t=0 end`},
	} {
		s := serve(t, func(o *Options) { o.Headers = func() Headers { return test.headers } })
		w := newScript()
		w.ask(1, "x-resource", test.resource)
		c := s.dialHTTP2(t, w)
		var fields []string
		c.until(func(f xhttp2.Frame) bool {
			h, ok := f.(*xhttp2.MetaHeadersFrame)
			if ok {
				for _, field := range h.RegularFields() {
					fields = append(fields, field.Name+": "+field.Value)
				}
			}
			return ok
		})
		if got, want := c.transcript(), "1: "+test.want; got != want {
			t.Errorf("%s, %s: received %s, want %s", test.headers, test.resource, got, want)
		}
		date := "date: " + string(s.prepared.Load().date)
		if !slices.Contains(fields, "content-length: 0") || !slices.ContainsFunc(fields, func(f string) bool { return len(f) == len(date) && f[:6] == "date: " }) {
			t.Errorf("%s, %s: fields %q", test.headers, test.resource, fields)
		}
	}
}
