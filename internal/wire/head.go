package wire

import (
	"bytes"
	"net/url"
)

type method uint8

const (
	methodOther method = iota
	methodPost
	methodGet
	methodHead
)

func methodOf(name []byte) method {
	switch string(name) {
	case "POST":
		return methodPost
	case "GET":
		return methodGet
	case "HEAD":
		return methodHead
	default:
		return methodOther
	}
}

type path uint8

const (
	pathOther path = iota
	pathAttempt
	pathHealth
)

// head is a request's line and fields, as far as they matter here.
type head struct {
	question
	method    method
	path      path
	http10    bool
	close     bool  // Connection: close
	keepAlive bool  // Connection: keep-alive
	expect    bool  // Expect: 100-continue
	chunked   bool  // the one transfer coding there is
	codings   int   // Transfer-Encoding fields
	hosts     int   // Host fields
	length    int64 // Content-Length; -1 = none
	badLength bool
}

func (r *head) reset() {
	*r = head{length: -1}
	r.question.reset()
}

// parse reads a whole head, up to and with its empty line. What it returns ends
// the connection.
func (r *head) parse(b []byte) *refusal {
	if string(b[:2]) == "\r\n" { // one empty line before the request is overlooked (RFC 9112, 2.2)
		b = b[2:]
	}
	end := bytes.IndexByte(b, '\n')
	if bad := r.requestLine(b[:end-1]); bad != nil {
		return bad
	}
	for b = b[end+1:]; ; b = b[end+1:] {
		if end = bytes.IndexByte(b, '\n'); end <= 1 {
			return r.framing()
		}
		if bad := r.field(b[:end-1]); bad != nil {
			return bad
		}
	}
}

// The request line that nearly all requests have.
const usualLine = "POST /attempt HTTP/1.1"

func (r *head) requestLine(line []byte) *refusal {
	if string(line) == usualLine {
		r.method, r.path = methodPost, pathAttempt
		return nil
	}
	name, rest, ok := bytes.Cut(line, []byte{' '})
	target, version, ok2 := bytes.Cut(rest, []byte{' '})
	if !ok || !ok2 || !isToken(name) || len(target) == 0 {
		return malformed(ReasonRequestLine, "the request line is not METHOD TARGET HTTP/1.1")
	}
	r.method = methodOf(name)
	if bad := r.setVersion(version); bad != nil {
		return bad
	}
	for _, c := range target {
		if c <= ' ' || c >= 0x7f {
			return malformed(ReasonRequestLine, "the request target has a character that must be percent-encoded")
		}
	}
	return r.setTarget(target)
}

// setVersion takes HTTP/1.0 and HTTP/1.x; a higher minor version means that its
// sender understands 1.1 (RFC 9110, 2.5).
func (r *head) setVersion(v []byte) *refusal {
	const prefix = "HTTP/"
	if len(v) != len(prefix)+3 || string(v[:len(prefix)]) != prefix || !isDigit(v[5]) || v[6] != '.' || !isDigit(v[7]) {
		return malformed(ReasonRequestLine, "the request line does not end with HTTP/1.1")
	}
	if v[5] != '1' {
		return &refusal{
			status: 505, reason: ReasonVersion, close: true,
			text: "HTTP/1.1, HTTP/1.0, and HTTP/2 with prior knowledge are spoken here",
		}
	}
	r.http10 = v[7] == '0'
	return nil
}

// setTarget takes /path?query, and http://authority/path?query.
func (r *head) setTarget(target []byte) *refusal {
	p := target
	if p[0] != '/' {
		scheme, rest, ok := bytes.Cut(p, []byte("://"))
		if !ok || !isName(scheme, "http") && !isName(scheme, "https") {
			return nil // * of OPTIONS, host:port of CONNECT: no path of ours
		}
		end := bytes.IndexAny(rest, "/?")
		if end < 0 {
			end = len(rest)
		}
		if !isAuthority(rest[:end]) {
			return malformed(ReasonRequestLine, "the request target names no host")
		}
		p = rest[end:]
	}
	p, _, _ = bytes.Cut(p, []byte{'?'})
	if bytes.IndexByte(p, '%') >= 0 {
		text, err := url.PathUnescape(string(p))
		if err != nil {
			return malformed(ReasonRequestLine, "the request target has a % that is no percent-encoding")
		}
		p = []byte(text)
	}
	r.path = pathOf(p)
	return nil
}

// isAuthority reports whether b is a host with or without a port. Hardly any
// client sends one in a request target, so that is left to a careful library.
func isAuthority(b []byte) bool {
	u, err := url.Parse("//" + string(b))
	return err == nil && u.Hostname() != "" && u.User == nil && isHost(b)
}

func pathOf(p []byte) path {
	switch string(p) {
	case "/attempt":
		return pathAttempt
	case "/healthz":
		return pathHealth
	default:
		return pathOther
	}
}

// field takes one field line, without its end.
func (r *head) field(line []byte) *refusal {
	if line[0] == ' ' || line[0] == '\t' {
		return malformed(ReasonField, "a field is continued on a second line")
	}
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 {
		return malformed(ReasonField, "a field has no name")
	}
	name, value := line[:colon], trimBlank(line[colon+1:])
	if hasControl(value) {
		return malformed(ReasonField, "a field's value has a control character")
	}
	switch {
	case isName(name, "x-resource"):
		r.set(partResource, value)
	case isName(name, "x-prefix"):
		r.set(partPrefix, value)
	case isName(name, "x-method"):
		r.set(partMethod, value)
	case isName(name, "x-req-id"):
		r.set(partReqID, value)
	case isName(name, "x-hits"):
		r.set(partHits, value)
	case isName(name, "host"):
		r.hosts++
		if !isHost(value) {
			return malformed(ReasonHost, "Host is not a host and port")
		}
	case isName(name, "content-length"):
		r.setLength(value)
	case isName(name, "transfer-encoding"):
		r.setCoding(value)
	case isName(name, "connection"):
		r.setConnection(value)
	case isName(name, "expect"):
		r.expect = r.expect || isName(value, "100-continue")
	case !isToken(name):
		return malformed(ReasonField, "a field's name has a character that names cannot have")
	}
	return nil
}

func (r *head) setConnection(value []byte) {
	for len(value) > 0 {
		var option []byte
		option, value, _ = bytes.Cut(value, []byte{','})
		option = trimBlank(option)
		r.close = r.close || isName(option, "close")
		r.keepAlive = r.keepAlive || isName(option, "keep-alive")
	}
}

func (r *head) setLength(value []byte) {
	if r.length >= 0 || len(value) == 0 {
		r.badLength = true
		return
	}
	n := int64(0)
	for _, c := range value {
		if !isDigit(c) {
			r.badLength = true
			return
		}
		n = min(n*10+int64(c-'0'), MaxBody+1) // what is over the bound need not be exact
	}
	r.length = n
}

func (r *head) setCoding(value []byte) {
	r.codings++
	r.chunked = isName(value, "chunked")
}

// framing checks what the fields say together about where the request ends. A
// request about which two readers could disagree is refused, because one of
// them might stand before us.
func (r *head) framing() *refusal {
	switch {
	case r.hosts > 1:
		return malformed(ReasonHost, "Host is given more than once")
	case r.hosts == 0 && !r.http10:
		return malformed(ReasonHost, "Host is missing")
	case r.badLength:
		return malformed(ReasonContentLength, "Content-Length is not one whole number")
	case r.codings == 0:
		return nil
	case r.length >= 0:
		return malformed(ReasonTransferEncoding, "both Content-Length and Transfer-Encoding are given")
	case r.http10:
		return malformed(ReasonTransferEncoding, "HTTP/1.0 has no Transfer-Encoding")
	case r.codings > 1:
		return malformed(ReasonTransferEncoding, "Transfer-Encoding is given more than once")
	case !r.chunked:
		return &refusal{
			status: 501, reason: ReasonTransferEncoding, close: true,
			text: "the only transfer coding understood here is chunked",
		}
	}
	return nil
}

// refusal is what is wrong with a whole request, or nil.
func (r *head) refusal() *refusal {
	switch r.path {
	case pathAttempt:
		if r.method != methodPost {
			return refuseMethod
		}
		return r.check()
	case pathHealth:
		if r.method != methodGet && r.method != methodHead {
			return refuseHealth
		}
		return nil
	default:
		return refusePath
	}
}

// persistence is what becomes of the connection after the answer.
func (r *head) persistence(draining bool) persistence {
	switch {
	case r.close || draining || r.http10 && !r.keepAlive:
		return persistClose
	case r.http10:
		return persistKeep
	default:
		return persistDefault
	}
}
