package load

import "golang.org/x/net/http2/hpack"

// encoder writes the head of a question in HPACK (RFC 7541) as the clients of
// x/net and nghttp2 do: every field goes into the dynamic table, values are
// Huffman-coded. So a question is a few indexes and the two values that are
// new; now and then the table has lost one of the others, which then is new
// again. The octets are those of hpack.Encoder, for a tenth of the work: the
// fields are known, and so a search is for a number and not for texts.
type encoder struct {
	fields   [fieldCount]field
	ring     [128]entry // the table; the entry inserted n-th is at n%128
	inserted uint64
	evicted  uint64 // so the table holds those from this one on
	size     int    // of the table, as RFC 7541 section 4.1 counts
	max      int
	update   bool // whether the next head has to say that max has changed
	text     [64]byte
}

// field is a field of the question.
type field struct {
	name     string
	static   int    // index of the name in the static table, 0 if it is not there
	constant string // its value, unless that changes
	last     uint64 // 1 + which entry of the table was the last with this name
	literal  []byte // the coded name
	value    []byte // the coded constant
}

// entry is a field in the table: value is a number that tells it from the others
// of its name.
type entry struct {
	field int
	size  int
	value uint64
}

const (
	fieldPath = iota
	fieldAuthority
	fieldResource
	fieldPrefix
	fieldMethod
	fieldID
	fieldCount
)

// In the static table, and in the patterns of the representations.
const (
	methodPost, schemeHTTP    = 3, 6
	pathName, authorityName   = 5, 1 // :path is both 4 and 5
	staticLength              = 61
	indexed, literalAndInsert = 0x80, 0x40
	sizeUpdate, huffman       = 0x20, 0x80
	entryOverhead             = 32
	defaultTable              = 4096
)

func newEncoder(authority string) *encoder {
	e := &encoder{max: defaultTable}
	e.fields = [fieldCount]field{
		fieldPath:      {name: ":path", static: pathName, constant: target},
		fieldAuthority: {name: ":authority", static: authorityName, constant: authority},
		fieldResource:  {name: "x-resource"},
		fieldPrefix:    {name: "x-prefix", constant: prefix},
		fieldMethod:    {name: "x-method", constant: method},
		fieldID:        {name: "x-req-id"},
	}
	for i := range e.fields {
		f := &e.fields[i]
		f.literal = appendText(nil, f.name)
		f.value = appendText(nil, f.constant)
	}
	return e
}

// question appends the head of a question.
func (e *encoder) question(out []byte, key int, id uint64) []byte {
	if e.update {
		out = appendInt(out, sizeUpdate, 5, e.max)
		e.update = false
	}
	out = append(out, indexed|methodPost, indexed|schemeHTTP)
	out = e.constant(out, fieldPath)
	out = e.constant(out, fieldAuthority)
	out = e.resource(out, key)
	out = e.constant(out, fieldPrefix)
	out = e.constant(out, fieldMethod)
	return e.id(out, id)
}

// constant appends a field that is in the table unless it has dropped out.
func (e *encoder) constant(out []byte, number int) []byte {
	f := &e.fields[number]
	if f.last > e.evicted {
		return appendInt(out, indexed, 7, e.index(f.last-1))
	}
	out = e.name(out, f, len(f.constant))
	out = append(out, f.value...)
	e.insert(number, len(f.constant), 0)
	return out
}

func (e *encoder) resource(out []byte, key int) []byte {
	for n := e.fields[fieldResource].last; n > e.evicted; n-- {
		if at := &e.ring[(n-1)%uint64(len(e.ring))]; at.field == fieldResource && at.value == uint64(key) {
			return appendInt(out, indexed, 7, e.index(n-1))
		}
	}
	text := append(e.text[:0], "tenant-000000"...)
	putDecimal(text[len(text)-keyDigits:], key)
	out = e.name(out, &e.fields[fieldResource], len(text))
	out = appendText(out, string(text))
	e.insert(fieldResource, len(text), uint64(key))
	return out
}

// id appends a value that was never sent before.
func (e *encoder) id(out []byte, id uint64) []byte {
	text := e.text[:idDigits]
	putHex(text, id)
	out = e.name(out, &e.fields[fieldID], len(text))
	out = appendText(out, string(text))
	e.insert(fieldID, len(text), id)
	return out
}

// name appends the beginning of a field that is not in the table. One that is
// larger than the whole table is not going to be.
func (e *encoder) name(out []byte, f *field, valueLength int) []byte {
	pattern, bits := byte(literalAndInsert), 6
	if f.size(valueLength) > e.max {
		pattern, bits = 0, 4
	}
	switch {
	case f.static != 0:
		return appendInt(out, pattern, bits, f.static)
	case f.last > e.evicted:
		return appendInt(out, pattern, bits, e.index(f.last-1))
	default:
		return append(append(out, pattern), f.literal...)
	}
}

// index is that of the entry inserted n-th: the newest comes right after the
// static table.
func (e *encoder) index(n uint64) int { return staticLength + int(e.inserted-n) }

func (e *encoder) insert(number, valueLength int, value uint64) {
	f := &e.fields[number]
	size := f.size(valueLength)
	if size > e.max {
		return
	}
	e.ring[e.inserted%uint64(len(e.ring))] = entry{field: number, size: size, value: value}
	e.inserted++
	e.size += size
	f.last = e.inserted
	e.shrink()
}

// size is that of an entry, by RFC 7541 section 4.1.
func (f *field) size(valueLength int) int { return len(f.name) + valueLength + entryOverhead }

// shrink drops the oldest until the rest fits.
func (e *encoder) shrink() {
	for e.size > e.max {
		e.size -= e.ring[e.evicted%uint64(len(e.ring))].size
		e.evicted++
	}
}

// limit takes what the server lets the table be. A table that was made smaller
// stays so.
func (e *encoder) limit(octets uint32) {
	if octets < uint32(e.max) {
		e.max, e.update = int(octets), true
		e.shrink()
	}
}

// appendInt appends an integer (RFC 7541 section 5.1) behind a pattern.
func appendInt(out []byte, pattern byte, bits, n int) []byte {
	full := 1<<bits - 1
	if n < full {
		return append(out, pattern|byte(n))
	}
	out = append(out, pattern|byte(full))
	for n -= full; n >= 0x80; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n))
}

// appendText appends a text of less than 127 octets, Huffman-coded if that is
// shorter.
func appendText(out []byte, text string) []byte {
	at := len(out)
	out = append(out, 0)
	out = hpack.AppendHuffmanString(out, text)
	if n := len(out) - at - 1; n < len(text) {
		out[at] = huffman | byte(n)
		return out
	}
	out[at] = byte(len(text))
	return append(out[:at+1], text...)
}
