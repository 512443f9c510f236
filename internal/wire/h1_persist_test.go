package wire

import (
	"strings"
	"testing"
)

func TestPersistence(t *testing.T) {
	old := func(fields ...string) string { return request("POST /attempt HTTP/1.0", fields...) }
	try(t, []exchange{
		{"close", ask("Connection: close"), "200 | closed", "a"},
		{"close in any case", ask("cONNECTION: Close"), "200 | closed", "a"},
		{"close in a list", ask("Connection: foo, close ,bar"), "200 | closed", "a"},
		{"close in a second field", ask("Connection: foo", "Connection: close"), "200 | closed", "a"},
		{"close wins", ask("Connection: keep-alive, close"), "200 | closed", "a"},
		{"close within a word", ask("Connection: closed, enclose"), "200 | open", "a"},
		{"empty list", ask("Connection: ,,"), "200 | open", "a"},
		{"keep-alive", ask("Connection: keep-alive"), "200 | open", "a"},
		{"another option", ask("Connection: X-Hits", "X-Hits: 2"), "200 | open", "a hits=2"},
		{"1.0", old(), "200 | closed", "a"},
		{"1.0 keep-alive", old("Connection: keep-alive"), "200 | open", "a"},
		{"1.0 keep-alive in any case, in a list", old("Connection: x,Keep-Alive"), "200 | open", "a"},
		{"1.0 close", old("Connection: close"), "200 | closed", "a"},
		{"1.0 close wins", old("Connection: close, keep-alive"), "200 | closed", "a"},
		{"1.0 by another field", old("Proxy-Connection: keep-alive", "Keep-Alive: timeout=5"), "200 | closed", "a"},
		{"close with 400", ask("X-Hits: x", "Connection: close"), "400 hits: X-Hits | closed", ""},
		{"close with 404", request("GET / HTTP/1.1", "Connection: close"), "404 path: there is | closed", ""},
		{"close with HEAD", request("HEAD /healthz HTTP/1.1", "Connection: close"), "HEAD 200 | closed", ""},
		{"1.0 with HEAD", bare("HEAD /healthz HTTP/1.0"), "HEAD 200 | closed", ""},
		{"1.0 keep-alive with 404", bare("GET / HTTP/1.0", "Connection: keep-alive"), "404 path: there is | open", ""},
		{"upgrade to HTTP/2 is ignored", ask("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"), "200 | open", "a"},
		{"upgrade to a web socket is ignored", request("GET /healthz HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"), "healthy | open", ""},
	})
}

func TestExpect(t *testing.T) {
	try(t, []exchange{
		{"a body that is waited for", ask("Expect: 100-continue", "Content-Length: 5") + "hello", "100? | 200 | open", "a"},
		{"in any case", ask("Expect: 100-Continue", "Content-Length: 5") + "hello", "100? | 200 | open", "a"},
		{"chunks that are waited for", ask("Expect: 100-continue", "Transfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n\r\n", "100? | 200 | open", "a"},
		{"no body", ask("Expect: 100-continue"), "200 | open", "a"},
		{"an empty body", ask("Expect: 100-continue", "Content-Length: 0"), "200 | open", "a"},
		{"a body too long", ask("Expect: 100-continue", "Content-Length: 65537"), "413 body_too_large: the body | closed", ""},
		{"a malformed request", ask("Expect: 100-continue", "Content-Length: x"), "400 content_length: Content-Length | closed", ""},
		{"in 1.0 it is ignored", request("POST /attempt HTTP/1.0", "Expect: 100-continue", "Content-Length: 5") + "hello", "200 | closed", "a"},
		{"an unknown one is ignored", ask("Expect: 200-ok", "Content-Length: 5") + "hello", "200 | open", "a"},
		{"a list is unknown", ask("Expect: 100-continue, x", "Content-Length: 5") + "hello", "200 | open", "a"},
		{"two requests", strings.Repeat(ask("Expect: 100-continue", "Content-Length: 5")+"hello", 2), "100? | 200 | 100? | 200 | open", "a | a"},
	})
}

func TestLeadingEmptyLines(t *testing.T) {
	const twice = "400 request_line: more than one empty line before the request | closed"
	try(t, []exchange{
		{"one", "\r\n" + ask(), "200 | open", "a"},
		{"one between two requests", ask() + "\r\n" + ask(), "200 | 200 | open", "a | a"},
		{"one after a body", ask("Content-Length: 5") + "hello\r\n", "200 | open", "a"},
		{"two", "\r\n\r\n" + ask(), twice, ""},
		{"two between two requests", ask() + "\r\n\r\n" + ask(), "200 | " + twice, "a"},
		{"LF", "\n" + ask(), "400 field: a line ends with LF alone | closed", ""},
		{"CR", "\r" + ask(), "400 request_line: the request line is not | closed", ""},
		{"CR LF LF", "\r\n\n" + ask(), "400 field: a line ends with LF alone | closed", ""},
		{"a space", " \r\n" + ask(), "400 request_line: the request line is not | closed", ""},
	})
}

// TestPipelining checks that answers come in the order of the requests, and that
// nothing is answered after what ends the connection.
func TestPipelining(t *testing.T) {
	of := func(resource string, fields ...string) string {
		return bare(append([]string{"POST /attempt HTTP/1.1", "Host: h", "X-Resource: " + resource}, fields...)...)
	}
	body := of("b", "Content-Length: 5") + "hello"
	chunks := of("c", "Transfer-Encoding: chunked") + "5\r\nhello\r\n0\r\nX-Resource: d\r\n\r\n"
	health := bare("GET /healthz HTTP/1.1", "Host: h")
	head := bare("HEAD /x HTTP/1.1", "Host: h")
	noHost := bare("POST /attempt HTTP/1.1", "X-Resource: a")
	try(t, []exchange{
		{"three", of("x") + of("rejected") + of("y"), "200 | 429 | 200 | open", "x | rejected | y"},
		{"with bodies", body + chunks + of("x"), "200 | 200 | 200 | open", "b | c | x"},
		{"good and bad", of("x") + of("") + of("y", "X-Hits: -") + of("z"), "200 | 400 no_resource: X-Resource | 400 hits: X-Hits | 200 | open", "x | z"},
		{"attempts and health", of("x") + health + of("failed") + head, "200 | healthy | 500 : the quotas | HEAD 404 path: | open", "x | failed"},
		{"fields do not leak into the next", of("x", "X-Prefix: p", "X-Method: m", "X-Hits: 3", "X-Req-Id: i") + of("y"), "200 | 200 | open", "x prefix=p method=m hits=3 id=i | y"},
		{"faults do not leak into the next", of("x", "X-Resource: y") + of("z"), "400 repeated_field: X-Resource | 200 | open", "z"},
		{"nothing after close", of("x", "Connection: close") + of("y"), "200 | closed", "x"},
		{"nothing after 1.0", bare("POST /attempt HTTP/1.0", "X-Resource: x") + of("y"), "200 | closed", "x"},
		{"nothing after a malformed one", of("x") + noHost + of("y"), "200 | 400 host: Host is missing | closed", "x"},
		{"nothing after a bare LF", of("x") + "POST /attempt HTTP/1.1\n" + of("y"), "200 | 400 field: a line | closed", "x"},
		{"nothing after a body too long", of("x") + of("y", "Content-Length: 65537") + of("z"), "200 | 413 body_too_large: the body | closed", "x"},
		{"nothing after a broken chunk", of("x") + of("y", "Transfer-Encoding: chunked") + "z\r\n" + of("z"), "200 | 400 chunk: a chunk's size | closed", "x"},
		{"many", strings.Repeat(of("x"), 200), strings.Repeat("200 | ", 200) + "open", strings.Repeat("x | ", 199) + "x"},
	})
}
