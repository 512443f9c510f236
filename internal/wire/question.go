package wire

import (
	"fmt"

	"github.com/levee-project/levee/internal/attempt"
)

// question gathers the fields of one request that make up an attempt. Its bytes
// are those of the read buffer.
type question struct {
	attempt.Attempt
	seen uint8    // bit i: part i has been given
	bad  *refusal // the first thing that is wrong
}

// part is a field that says something about the attempt.
type part uint8

// The parts. All but the trace id may be given once.
const (
	partResource part = iota
	partPrefix
	partMethod
	partHits
	partReqID
	partCount
)

var partNames = [partCount]string{"X-Resource", "X-Prefix", "X-Method", "X-Hits", "X-Req-Id"}

// The refusals of parts, made once.
var (
	refuseRepeated [partCount]*refusal
	refuseTooLong  [partCount]*refusal
)

func init() {
	for p, name := range partNames {
		refuseRepeated[p] = &refusal{status: 400, reason: ReasonRepeatedField, text: name + " is given more than once"}
		refuseTooLong[p] = &refusal{
			status: 400, reason: ReasonKeyTooLong,
			text: fmt.Sprintf("%s is longer than %d bytes", name, attempt.MaxKeyPart),
		}
	}
}

// reset makes the question ready for the next request.
func (q *question) reset() { *q = question{Attempt: attempt.Attempt{Hits: 1}} }

// refuse keeps the first refusal.
func (q *question) refuse(r *refusal) {
	if q.bad == nil {
		q.bad = r
	}
}

// set takes a field. The value has no white space around it.
func (q *question) set(p part, value []byte) {
	if p == partReqID {
		q.ReqID = value
		return
	}
	if q.seen&(1<<p) != 0 {
		q.refuse(refuseRepeated[p])
		return
	}
	q.seen |= 1 << p
	if p == partHits {
		q.setHits(value)
		return
	}
	if len(value) > attempt.MaxKeyPart {
		q.refuse(refuseTooLong[p])
		return
	}
	switch p {
	case partResource:
		q.Resource = value
	case partPrefix:
		q.Prefix = trimSlashes(value)
	case partMethod:
		q.Method = value
	}
}

// check returns what is wrong with the whole, or nil.
func (q *question) check() *refusal {
	if q.bad == nil && len(q.Resource) == 0 {
		return refuseNoResource
	}
	return q.bad
}

// keep moves the question's bytes into a buffer of its own, and returns that.
func (q *question) keep(buf []byte) []byte {
	buf = buf[:0]
	for _, field := range []*[]byte{&q.Resource, &q.Prefix, &q.Method, &q.ReqID} {
		start := len(buf)
		buf = append(buf, *field...)
		*field = buf[start:len(buf):len(buf)]
	}
	return buf
}

// trimSlashes cuts the slashes at both ends of a prefix; nothing else is
// normalised.
func trimSlashes(p []byte) []byte {
	for len(p) > 0 && p[0] == '/' {
		p = p[1:]
	}
	for len(p) > 0 && p[len(p)-1] == '/' {
		p = p[:len(p)-1]
	}
	return p
}

// setHits reads a whole number from 0 to attempt.MaxHits in decimal digits.
func (q *question) setHits(value []byte) {
	n := uint32(0)
	for _, c := range value {
		if c < '0' || c > '9' {
			q.refuse(refuseHits)
			return
		}
		if n = n*10 + uint32(c-'0'); n > attempt.MaxHits {
			q.refuse(refuseHits)
			return
		}
	}
	if len(value) == 0 {
		q.refuse(refuseHits)
		return
	}
	q.Hits = n
}
