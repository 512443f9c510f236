package wire

import (
	"encoding/binary"
	"strconv"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/hpack"
)

// spelling is how attempts are written on a connection, as fields of a header
// block (RFC 7541). Values are never Huffman coded: copying is cheaper on both
// sides.
type spelling struct {
	// teach is the block of a first request, which is cancelled at once: it brings
	// both sides' tables into the state that the others refer to.
	teach string
	// open has the fields that all attempts have in common.
	open string
	// names are the fields that an attempt may have, up to their value.
	names [partCount]string
	// size is how large a dynamic table it needs (RFC 7541, section 4.1).
	size uint32
}

// Representations that a [Client] uses (RFC 7541, section 6 and appendix A).
const (
	fieldPost        = "\x83"
	fieldSchemeHTTP  = "\x86"
	fieldPath        = "\x04"
	fieldAuthority   = "\x01"
	fieldNamed       = "\x00" // a literal whose name follows
	fieldStored      = 0x40   // added to the three above: it enters the table
	fieldIndexed     = 0x80   // added to an index
	fieldTableSize   = 0x20   // added to the size
	firstDynamic     = 62     // the index of what entered the table last
	fieldOverhead    = 32     // what counts for an entry beside its bytes
	largestPlainName = 0x0f   // an index from there on is written as a difference
)

const attemptPath = "/attempt"

var spelledNames = [partCount]string{"x-resource", "x-prefix", "x-method", "x-hits", "x-req-id"}

// briefSpelling has all names, and the values that do not change, in the dynamic
// table.
func briefSpelling(authority string) *spelling {
	const constants = 2 // entries with a value
	s := &spelling{size: uint32(len(":path"+attemptPath+":authority"+authority) + constants*fieldOverhead)}
	b := []byte(fieldPost + fieldSchemeHTTP)
	b = appendString(append(b, fieldPath[0]|fieldStored), attemptPath)
	b = appendString(append(b, fieldAuthority[0]|fieldStored), authority)
	for p, name := range spelledNames {
		b = appendString(append(b, fieldNamed[0]|fieldStored), name)
		b = appendString(b, taughtValue)
		s.size += uint32(len(name) + len(taughtValue) + fieldOverhead)
		index := firstDynamic + int(partCount) - 1 - p
		s.names[p] = string([]byte{largestPlainName, byte(index - largestPlainName)})
	}
	s.teach = string(b)
	path := firstDynamic + int(partCount) + constants - 1
	s.open = fieldPost + fieldSchemeHTTP + string([]byte{byte(fieldIndexed | path), byte(fieldIndexed | (path - 1))})
	return s
}

// taughtValue is the value of all fields in the first request. It would ask for no
// more than a peek, were anybody to answer it before it is whole.
const taughtValue = "0"

// plainSpelling uses no dynamic table, for a limiter whose table is too small.
func plainSpelling(authority string) *spelling {
	s := &spelling{}
	b := []byte(fieldPost + fieldSchemeHTTP)
	b = appendString(append(b, fieldPath...), attemptPath)
	b = appendString(append(b, fieldAuthority...), authority)
	for p, name := range spelledNames {
		s.names[p] = string(appendString([]byte(fieldNamed), name))
	}
	s.open = string(b)
	s.teach = s.open
	return s
}

// spell chooses a spelling for a limiter that permits a table of a size, and
// appends the request on a stream that makes both sides ready for it. used is the
// spelling so far, or nil.
func (k *clientConn) spell(b []byte, stream, size uint32, used *spelling) (*spelling, []byte) {
	s := used
	switch {
	case used != nil && used.size <= size: // nothing it refers to is lost
	case used == nil && k.client.brief.size <= size:
		s = k.client.brief
	default:
		s = k.client.plain
	}
	start := len(b)
	b = frame{kind: frameHeaders, flags: flagEndHeaders, stream: stream}.append(b)
	if size < hpack.DefaultTableSize { // it has to be said that less is used (section 4.2)
		b = appendInteger(b, fieldTableSize, 0x1f, int(size))
	}
	if s == used {
		b = append(b, s.open...)
	} else {
		b = append(b, s.teach...)
	}
	return s, appendReset(setFrame(b, start, stream), stream, codeCancel)
}

// append writes the HEADERS frame of an attempt, which is spellable.
func (s *spelling) append(b []byte, stream uint32, a *attempt.Attempt) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, frameHeaders, flagEndHeaders|flagEndStream, 0, 0, 0, 0)
	b = append(b, s.open...)
	b = appendString(append(b, s.names[partResource]...), a.Resource)
	if len(a.Prefix) > 0 {
		b = appendPrefix(append(b, s.names[partPrefix]...), a.Prefix)
	}
	if len(a.Method) > 0 {
		b = appendString(append(b, s.names[partMethod]...), a.Method)
	}
	if a.Hits != 1 {
		var at int
		b, at = openField(b, s.names[partHits])
		b = closeField(strconv.AppendUint(b, uint64(a.Hits), 10), at)
	}
	if len(a.ReqID) > 0 {
		b = appendString(append(b, s.names[partReqID]...), a.ReqID[:min(len(a.ReqID), maxReqID)])
	}
	length := len(b) - start - frameHeader
	b[start+1], b[start+2] = byte(length>>8), byte(length)
	binary.BigEndian.PutUint32(b[start+5:], stream)
	return b
}

// maxReqID is how much of a trace id is passed on, in bytes: an attempt always
// fits into a frame, and into what a limiter accepts.
const maxReqID = 8 << 10

// appendString writes a name or a value (RFC 7541, section 5.2).
func appendString[T string | []byte](b []byte, text T) []byte {
	return append(appendLength(b, len(text)), text...)
}

// appendLength begins a name or a value of n bytes.
func appendLength(b []byte, n int) []byte {
	if n < 0x7f {
		return append(b, byte(n))
	}
	return appendInteger(b, 0, 0x7f, n)
}

// appendPrefix writes a prefix. A value must not begin or end with a blank, but a
// prefix may once its slashes are trimmed: it gets a slash there again.
func appendPrefix(b, prefix []byte) []byte {
	before, after := "", ""
	if isBlank(prefix[0]) {
		before = "/"
	}
	if isBlank(prefix[len(prefix)-1]) {
		after = "/"
	}
	b = appendLength(b, len(before)+len(prefix)+len(after))
	b = append(b, before...)
	b = append(b, prefix...)
	return append(b, after...)
}

// appendInteger writes a number in the bits of a mask, and in the bytes after it
// when it does not fit (section 5.1). The other bits are those of the first byte.
func appendInteger(b []byte, first, mask byte, n int) []byte {
	if n < int(mask) {
		return append(b, first|byte(n))
	}
	b = append(b, first|mask)
	for n -= int(mask); n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// spellable reports whether HTTP can carry an attempt.
func spellable(a *attempt.Attempt) bool {
	return len(a.Resource) > 0 && spellableKey(a.Resource) && spellableKey(a.Method) && spellableValue(a.ReqID) &&
		len(a.Prefix) <= attempt.MaxKeyPart && spellableText(a.Prefix)
}

func spellableKey(part []byte) bool { return len(part) <= attempt.MaxKeyPart && spellableValue(part) }

// spellableValue reports whether b may be the value of a field (RFC 9113, section
// 8.2.1).
func spellableValue(b []byte) bool {
	return len(b) == 0 || !isBlank(b[0]) && !isBlank(b[len(b)-1]) && spellableText(b)
}

// spellableText reports whether b may be within the value of a field.
func spellableText(b []byte) bool {
	if !hasControl(b) {
		return true
	}
	for _, c := range b { // other controls may be in it
		if c == 0 || c == '\n' || c == '\r' {
			return false
		}
	}
	return true
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
