package wire

import (
	"bytes"

	"github.com/levee-project/levee/internal/hpack"
)

// fields are those of a request over HTTP/2. Its bytes are on the desk.
type fields struct {
	head
	pseudo    uint8 // which pseudo-header fields have come: bits by hpack.Name
	regular   bool  // a field has come after which there can be no pseudo-header
	connect   bool
	malformed bool
	authority []byte
}

func (r *fields) reset() {
	*r = fields{}
	r.head.reset()
}

const (
	seenMethod    = 1 << hpack.Method
	seenPath      = 1 << hpack.Path
	seenScheme    = 1 << hpack.Scheme
	seenAuthority = 1 << hpack.Authority
)

// field takes a field of a request. What makes the request malformed is in RFC
// 9113, sections 8.2 and 8.3.
func (h *http2) field(name hpack.Name, _, value []byte, valid bool) {
	r := &h.req
	if !valid {
		r.malformed = true
		return
	}
	if name.Pseudo() {
		r.setPseudo(name, value, h.desk)
		return
	}
	r.regular = true
	switch name {
	case hpack.Other:
	case hpack.XResource:
		r.set(partResource, h.desk.put(value))
	case hpack.XPrefix:
		r.set(partPrefix, h.desk.put(value))
	case hpack.XMethod:
		r.set(partMethod, h.desk.put(value))
	case hpack.XReqID:
		r.set(partReqID, h.desk.put(value))
	case hpack.XHits:
		r.set(partHits, value)
	case hpack.ContentLength:
		r.setLength(value)
	case hpack.Expect:
		r.expect = r.expect || isName(value, "100-continue")
	case hpack.Host:
		r.hosts++
		r.malformed = r.malformed || len(value) == 0 || !isHost(value) ||
			r.pseudo&seenAuthority != 0 && !bytes.EqualFold(value, r.authority)
	case hpack.TE:
		r.malformed = r.malformed || string(value) != "trailers"
	default:
		r.malformed = r.malformed || name.ConnectionSpecific()
	}
}

// setPseudo takes a pseudo-header field.
func (r *fields) setPseudo(name hpack.Name, value []byte, d *desk) {
	bit := uint8(1) << name
	if r.regular || r.pseudo&bit != 0 || len(value) == 0 {
		r.malformed = true
		return
	}
	r.pseudo |= bit
	switch name {
	case hpack.Method:
		r.setMethod(value)
	case hpack.Path:
		r.setPath(value)
	case hpack.Authority:
		r.authority = d.put(value)
		r.malformed = r.malformed || !isHost(value)
	case hpack.Scheme:
		r.malformed = r.malformed || !isToken(value)
	default:
		r.malformed = true
	}
}

func (r *fields) setMethod(value []byte) {
	r.method = methodOf(value)
	r.connect = string(value) == "CONNECT"
	r.malformed = r.malformed || !isToken(value)
}

func (r *fields) setPath(value []byte) {
	if string(value) == "/attempt" {
		r.path = pathAttempt
		return
	}
	for _, c := range value {
		if c <= ' ' || c >= 0x7f {
			r.malformed = true
			return
		}
	}
	if value[0] == '/' {
		r.malformed = r.malformed || r.setTarget(value) != nil
		return
	}
	r.malformed = r.malformed || string(value) != "*"
}

// complete reports whether nothing is missing in a request without trailers;
// end says that it has no content either.
func (r *fields) complete(end bool) bool {
	const usual = seenMethod | seenPath | seenScheme
	switch {
	case r.connect:
		if r.pseudo != seenMethod|seenAuthority {
			return false
		}
	case r.pseudo&usual != usual, r.pseudo&seenAuthority == 0 && r.hosts == 0:
		return false
	}
	return r.hosts <= 1 && !r.badLength && (!end || r.length <= 0)
}

// trailerField checks a field of the trailers. It says nothing about the request.
func (h *http2) trailerField(name hpack.Name, _, _ []byte, valid bool) {
	if !valid || name.Pseudo() || name.ConnectionSpecific() {
		h.req.malformed = true
	}
}
