package wire

import "testing"

func TestRequestLine(t *testing.T) {
	const notALine = "400 request_line: the request line is not METHOD TARGET HTTP/1.1 | closed"
	const noVersion = "400 request_line: the request line does not end with HTTP/1.1 | closed"
	const noTarget = "400 request_line: the request target has a character that must be percent-encoded | closed"
	try(t, []exchange{
		{"an attempt", ask(), "200 | open", "a"},
		{"two spaces before the target", request("POST  /attempt HTTP/1.1"), notALine, ""},
		{"two spaces before the version", request("POST /attempt  HTTP/1.1"), noVersion, ""},
		{"space at the start", request(" POST /attempt HTTP/1.1"), notALine, ""},
		{"space at the end", request("POST /attempt HTTP/1.1 "), noVersion, ""},
		{"tabs instead of spaces", request("POST\t/attempt\tHTTP/1.1"), notALine, ""},
		{"tab in the target", request("POST /att\tempt HTTP/1.1"), noTarget, ""},
		{"a method alone", request("POST"), notALine, ""},
		{"no target", request("POST HTTP/1.1"), notALine, ""},
		{"HTTP/0.9", request("POST /attempt"), notALine, ""},
		{"an empty method", request("/attempt HTTP/1.1"), notALine, ""},
		{"a method that is no token", request("PO(ST /attempt HTTP/1.1"), notALine, ""},
		{"NUL in the method", request("PO\x00ST /attempt HTTP/1.1"), notALine, ""},
		{"NUL in the target", request("POST /attempt\x00 HTTP/1.1"), noTarget, ""},
		{"NUL in the version", request("POST /attempt HTTP/1.1\x00"), noVersion, ""},
		{"DEL in the target", request("POST /attempt\x7f HTTP/1.1"), noTarget, ""},
		{"bare CR in the method", request("POST\r /attempt HTTP/1.1"), notALine, ""},
		{"bare CR in the target", request("POST /att\rempt HTTP/1.1"), noTarget, ""},
		{"bare CR after the version", request("POST /attempt HTTP/1.1\r"), noVersion, ""},
		{"bare LF", "POST /attempt HTTP/1.1\nHost: h\r\nX-Resource: a\r\n\r\n", "400 field: a line ends with LF alone | closed", ""},
		{"something after the version", request("POST /attempt HTTP/1.1 x"), noVersion, ""},
		{"a request line that a field follows without a line end", "POST /attempt HTTP/1.1Host: h\r\n\r\n", noVersion, ""},
	})
}

func TestVersions(t *testing.T) {
	const noVersion = "400 request_line: the request line does not end with HTTP/1.1 | closed"
	const another = "505 version: HTTP/1.1, HTTP/1.0, and HTTP/2 with prior knowledge | closed"
	try(t, []exchange{
		{"1.0", request("POST /attempt HTTP/1.0"), "200 | closed", "a"},
		{"1.2 is spoken to as 1.1", request("POST /attempt HTTP/1.2"), "200 | open", "a"},
		{"1.9 is spoken to as 1.1", request("POST /attempt HTTP/1.9"), "200 | open", "a"},
		{"0.9", request("POST /attempt HTTP/0.9"), another, ""},
		{"2.0 that is not the preface", request("POST /attempt HTTP/2.0"), another, ""},
		{"3.0", request("POST /attempt HTTP/3.0"), another, ""},
		{"a preface that ends differently", "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", another, ""},
		{"a request that begins like the preface", request("PRI * HTTP/1.1"), "404 path: there is nothing here | open", ""},
		{"small letters", request("POST /attempt http/1.1"), noVersion, ""},
		{"another protocol", request("POST /attempt ICAP/1.0"), noVersion, ""},
		{"no minor version", request("POST /attempt HTTP/1"), noVersion, ""},
		{"an empty minor version", request("POST /attempt HTTP/1."), noVersion, ""},
		{"two digits", request("POST /attempt HTTP/1.10"), noVersion, ""},
		{"leading zero", request("POST /attempt HTTP/01.1"), noVersion, ""},
		{"a comma", request("POST /attempt HTTP/1,1"), noVersion, ""},
		{"a sign", request("POST /attempt HTTP/1.+"), noVersion, ""},
		{"a letter", request("POST /attempt HTTP/x.1"), noVersion, ""},
	})
}

func TestTargets(t *testing.T) {
	const noTarget = "400 request_line: the request target has a character that must be percent-encoded | closed"
	const nothing = "404 path: there is nothing here; ask POST /attempt | open"
	const noEncoding = "400 request_line: the request target has a % that is no percent-encoding | closed"
	const noAuthority = "400 request_line: the request target names no host | closed"
	try(t, []exchange{
		{"query", request("POST /attempt?resource=b&x HTTP/1.1"), "200 | open", "a"},
		{"empty query", request("POST /attempt? HTTP/1.1"), "200 | open", "a"},
		{"query with a broken percent", request("POST /attempt?%zz HTTP/1.1"), "200 | open", "a"},
		{"query with another path", request("POST /attempt?/x://h/healthz HTTP/1.1"), "200 | open", "a"},
		{"percent-encoded letter", request("POST /%61ttempt HTTP/1.1"), "200 | open", "a"},
		{"all of the name percent-encoded", request("POST /%61%74%74%65%6D%70%74 HTTP/1.1"), "200 | open", "a"},
		{"percent-encoded question mark", request("POST /attempt%3Fx HTTP/1.1"), nothing, ""},
		{"percent-encoded slash at the start", request("POST %2Fattempt HTTP/1.1"), nothing, ""},
		{"percent-encoded slash at the end", request("POST /attempt%2F HTTP/1.1"), nothing, ""},
		{"percent-encoded NUL", request("POST /attempt%00 HTTP/1.1"), nothing, ""},
		{"encoded twice", request("POST /%2561ttempt HTTP/1.1"), nothing, ""},
		{"broken percent", request("POST /attempt%zz HTTP/1.1"), noEncoding, ""},
		{"cut percent", request("POST /attempt%6 HTTP/1.1"), noEncoding, ""},
		{"slash at the end", request("POST /attempt/ HTTP/1.1"), nothing, ""},
		{"two slashes", request("POST //attempt HTTP/1.1"), nothing, ""},
		{"dots are not resolved", request("POST /x/../attempt HTTP/1.1"), nothing, ""},
		{"capital letters", request("POST /Attempt HTTP/1.1"), nothing, ""},
		{"the root", request("POST / HTTP/1.1"), nothing, ""},
		{"parameter", request("POST /attempt;v=1 HTTP/1.1"), nothing, ""},
		{"fragment", request("POST /attempt#x HTTP/1.1"), nothing, ""},
		{"no slash", request("POST attempt HTTP/1.1"), nothing, ""},
		{"asterisk", request("OPTIONS * HTTP/1.1"), nothing, ""},
		{"authority of CONNECT", request("CONNECT example.com:443 HTTP/1.1"), nothing, ""},
		{"authority with another method", request("POST example.com:80 HTTP/1.1"), nothing, ""},
		{"absolute", request("POST http://example.com/attempt HTTP/1.1"), "200 | open", "a"},
		{"absolute with port and query", request("POST http://example.com:5454/attempt?x=/y HTTP/1.1"), "200 | open", "a"},
		{"absolute with an IPv6 address", request("POST http://[::1]:5454/attempt HTTP/1.1"), "200 | open", "a"},
		{"absolute in capital letters", request("POST HTTP://EXAMPLE.COM/attempt HTTP/1.1"), "200 | open", "a"},
		{"absolute https", request("POST https://example.com/attempt HTTP/1.1"), "200 | open", "a"},
		{"absolute, another path", request("POST http://example.com/attempt/ HTTP/1.1"), nothing, ""},
		{"absolute, no path", request("POST http://example.com HTTP/1.1"), nothing, ""},
		{"absolute, only a query", request("POST http://example.com?/attempt HTTP/1.1"), nothing, ""},
		{"absolute, the path in the authority", request("POST http://attempt HTTP/1.1"), nothing, ""},
		{"absolute, another scheme", request("POST ftp://example.com/attempt HTTP/1.1"), nothing, ""},
		{"absolute, no scheme", request("POST ://example.com/attempt HTTP/1.1"), nothing, ""},
		{"absolute, hidden in a query", request("POST x?y=http://example.com/attempt HTTP/1.1"), nothing, ""},
		{"absolute, no host", request("POST http:///attempt HTTP/1.1"), noAuthority, ""},
		{"absolute, a port alone", request("POST http://:80/attempt HTTP/1.1"), noAuthority, ""},
		{"absolute, user and password", request("POST http://user:secret@example.com/attempt HTTP/1.1"), noAuthority, ""},
		{"UTF-8", request("POST /attémpt HTTP/1.1"), noTarget, ""},
		{"UTF-8 in the query", request("POST /attempt?é HTTP/1.1"), noTarget, ""},
		{"octets that are no UTF-8", request("POST /attempt\xff HTTP/1.1"), noTarget, ""},
	})
}

func TestMethodsAndPaths(t *testing.T) {
	const onlyPost = "405 method: attempts are made with POST | open"
	const onlyGet = "405 method: health is asked with GET or HEAD | open"
	const nothing = "404 path: there is nothing here; ask POST /attempt | open"
	try(t, []exchange{
		{"GET of an attempt", request("GET /attempt HTTP/1.1"), onlyPost, ""},
		{"HEAD of an attempt", request("HEAD /attempt HTTP/1.1"), "HEAD 405 method: | open", ""},
		{"PUT of an attempt", request("PUT /attempt HTTP/1.1"), onlyPost, ""},
		{"OPTIONS of an attempt", request("OPTIONS /attempt HTTP/1.1"), onlyPost, ""},
		{"a method in small letters", request("post /attempt HTTP/1.1"), onlyPost, ""},
		{"a method nobody knows", request("M-SEARCH!#$%&'*+-.^_`|~09 /attempt HTTP/1.1"), onlyPost, ""},
		{"405 before 400", bare("GET /attempt HTTP/1.1", "Host: h", "X-Hits: x"), onlyPost, ""},
		{"GET of the health", request("GET /healthz HTTP/1.1"), "healthy | open", ""},
		{"GET of the health with a query", request("GET /healthz?verbose HTTP/1.1"), "healthy | open", ""},
		{"HEAD of the health", request("HEAD /healthz HTTP/1.1"), "HEAD 200 | open", ""},
		{"POST of the health", request("POST /healthz HTTP/1.1"), onlyGet, ""},
		{"GET of another path", request("GET /metrics HTTP/1.1"), nothing, ""},
		{"HEAD of another path", request("HEAD / HTTP/1.1"), "HEAD 404 path: | open", ""},
		{"404 before 400", bare("POST /x HTTP/1.1", "Host: h", "X-Hits: x"), nothing, ""},
		{"404 with a body", request("PUT /x HTTP/1.1", "Content-Length: 5") + "hello", nothing, ""},
	})
}
