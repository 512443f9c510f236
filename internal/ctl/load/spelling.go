package load

// spelling is how attempts are written as header blocks of HTTP/2 (RFC 7541). What
// is the same in all of them enters the server's dynamic table with the first, and
// is referred to by the others. Nothing is Huffman coded: copying is cheaper, on
// both sides.
type spelling struct {
	first []byte // up to the resource
	brief []byte // the same, in the words of the table
	plain []byte // the same, without a table
	size  int    // of the table (RFC 7541, section 4.1)
}

// field is a field whose name may be one of the static table.
type field struct {
	index byte // in the static table, 0 if it is not there
	name  string
	value string
}

const (
	tableSize     = 4096 // of the dynamic table, unless the server says otherwise
	entryOverhead = 32   // what counts for an entry beside its bytes
	firstDynamic  = 62   // the index of what entered the table last
	stored        = 0x40 // a literal that enters the table
	indexed       = 0x80
	shortIndex    = 0x0f // an index from there on is written as a difference
)

func newSpelling(p *Plan) *spelling {
	var s spelling
	fields := []field{{4, ":path", "/attempt"}, {1, ":authority", p.Host}}
	for _, f := range []field{{0, "x-prefix", p.Prefix}, {0, "x-method", p.Method}} {
		if f.value != "" {
			fields = append(fields, f)
		}
	}
	for _, block := range []*[]byte{&s.first, &s.brief, &s.plain} {
		*block = []byte{indexed | 3, indexed | 6} // :method POST, :scheme http
	}
	for i, f := range fields {
		s.first = f.append(s.first, stored)
		s.plain = f.append(s.plain, 0)
		s.brief = append(s.brief, indexed|byte(firstDynamic+len(fields)-i))
		s.size += len(f.name) + len(f.value) + entryOverhead
	}
	resource := field{name: "x-resource"}
	s.size += len(resource.name) + maxResource + entryOverhead
	s.first = resource.appendName(s.first, stored)
	s.plain = resource.appendName(s.plain, 0)
	s.brief = append(s.brief, shortIndex, firstDynamic-shortIndex)
	return &s
}

// maxResource bounds a resource with its number, in bytes.
const maxResource = 1100

// append appends a literal; how is stored or 0.
func (f field) append(out []byte, how byte) []byte {
	return appendText(f.appendName(out, how), f.value)
}

func (f field) appendName(out []byte, how byte) []byte {
	if f.index != 0 {
		return append(out, how|f.index)
	}
	return appendText(append(out, how), f.name)
}

// appendText appends a string literal, whose length has a prefix of 7 bits (RFC
// 7541, sections 5.1 and 5.2).
func appendText[T string | []byte](out []byte, text T) []byte {
	const most = 0x7f
	n := len(text)
	if n < most {
		return append(append(out, byte(n)), text...)
	}
	out = append(out, most)
	for n -= most; n >= 0x80; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(append(out, byte(n)), text...)
}
