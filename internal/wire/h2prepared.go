package wire

import (
	"encoding/binary"
	"strconv"

	"github.com/levee-project/levee/internal/attempt"
)

// framesOfSecond are the answers over HTTP/2 as far as all within one second are
// the same. Our side of header compression uses no dynamic table, so they are the
// same on all connections, too.
type framesOfSecond struct {
	// HEADERS frames on stream 0, whole when no field is added.
	accepted, rejected []byte
	date               []byte // the field
}

// Representations of fields (RFC 7541, section 6 and appendix A). Names are in
// the static table; a value follows, never Huffman coded: copying is cheaper on
// both sides, and the bytes saved are few.
const (
	fieldStatus200     = "\x88"
	fieldStatus        = "\x08"
	fieldAllow         = "\x0f\x07"
	fieldContentLength = "\x0f\x0d"
	fieldContentType   = "\x0f\x10"
	fieldDate          = "\x0f\x12"
	fieldRetryAfter    = "\x0f\x26"
	// Names that are spelt out.
	fieldPolicy    = "\x00\x10ratelimit-policy"
	fieldRateLimit = "\x00\x09ratelimit"
)

func prepareFrames(date []byte) framesOfSecond {
	f := framesOfSecond{date: appendField(nil, fieldDate, string(date))}
	whole := func(status string) []byte {
		b := frame{kind: frameHeaders, flags: flagEndHeaders | flagEndStream}.append(nil)
		b = append(b, status...)
		b = append(b, f.date...)
		b = appendField(b, fieldContentLength, "0")
		setLength(b)
		return b
	}
	f.accepted = whole(fieldStatus200)
	f.rejected = whole(string(appendField(nil, fieldStatus, "429")))
	return f
}

// appendField writes a field whose value is shorter than 127 bytes.
func appendField(b []byte, name, value string) []byte {
	b = append(b, name...)
	b = append(b, byte(len(value)))
	return append(b, value...)
}

// appendNumber writes a field whose value is a number.
func appendNumber(b []byte, name string, n int64) []byte {
	b, at := openField(b, name)
	return closeField(strconv.AppendInt(b, n, 10), at)
}

// openField begins a field whose value, shorter than 127 bytes, the caller
// appends before closeField.
func openField(b []byte, name string) (opened []byte, at int) {
	b = append(b, name...)
	at = len(b)
	return append(b, 0), at
}

func closeField(b []byte, at int) []byte {
	b[at] = byte(len(b) - at - 1)
	return b
}

// setLength completes a frame that is all of b, and short.
func setLength(b []byte) {
	binary.BigEndian.PutUint16(b[1:], uint16(len(b)-frameHeader))
}

// appendOutcomeFrame answers an attempt over HTTP/2. It is not for failures,
// which have a text.
func (p *prepared) appendOutcomeFrame(b []byte, stream uint32, o *attempt.Outcome, h Headers) []byte {
	start := len(b)
	if o.Result == attempt.Accepted {
		b = append(b, p.frames.accepted...)
	} else {
		b = append(b, p.frames.rejected...)
		if o.RetryAfter > 0 && h != HeadersNone {
			b = appendNumber(b, fieldRetryAfter, seconds(o.RetryAfter))
		}
	}
	if describes(o, h) {
		var at int
		b, at = openField(b, fieldPolicy)
		b = closeField(appendPolicy(b, o), at)
		b, at = openField(b, fieldRateLimit)
		b = closeField(appendRemaining(b, o), at)
	}
	return setFrame(b, start, stream)
}

// setFrame completes the frame that begins at start and is the last in b.
func setFrame(b []byte, start int, stream uint32) []byte {
	f := b[start:]
	setLength(f)
	binary.BigEndian.PutUint32(f[5:], stream)
	return b
}

// appendLineFrame writes the HEADERS frame of an answer with a line of text.
func (p *prepared) appendLineFrame(b []byte, r *reply) []byte {
	start := len(b)
	f := frame{kind: frameHeaders, flags: flagEndHeaders}
	if r.bodiless {
		f.flags |= flagEndStream
	}
	b = f.append(b)
	b = appendNumber(b, fieldStatus, int64(r.status))
	b = append(b, p.frames.date...)
	b = appendField(b, fieldContentType, "text/plain; charset=utf-8")
	b = appendNumber(b, fieldContentLength, int64(len(r.text)+1))
	if r.allow != "" {
		b = appendField(b, fieldAllow, r.allow)
	}
	return setFrame(b, start, r.id)
}

// appendContinue gives leave to send the content of a request.
func appendContinue(b []byte, stream uint32) []byte {
	start := len(b)
	b = frame{kind: frameHeaders, flags: flagEndHeaders}.append(b)
	return setFrame(appendField(b, fieldStatus, "100"), start, stream)
}
