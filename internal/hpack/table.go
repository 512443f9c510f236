package hpack

import "math/bits"

// table is the dynamic table of RFC 7541 section 2.3.2.
//
// The text of the entries, each one's name and then its value, lies in one array
// in the order of their age. Evicting the oldest only forgets it. When the end
// of the array is reached, the text that is left slides to its start. There is
// room then, because each entry counts 32 bytes more than its text: small entries
// leave much of it, so that sliding is rare, and large ones are few.
type table struct {
	text    []byte
	entries []entry // a ring, its length a power of two
	newest  uint32  // position of the newest entry in the ring, modulo its length
	count   uint32  // entries in the table
	size    uint32  // as RFC 7541 section 4.1 counts it
	max     uint32  // bound of size, set by the client within the announced size
	end     uint32  // where in text the next entry's text goes
	slid    uint16  // how far text has slid so far, modulo 65,536
}

// entry describes one entry in 8 bytes.
type entry struct {
	at       uint16 // where its text lies: index in text plus slid, modulo 65,536
	nameLen  uint16
	valueLen uint16
	class    Name
	valid    validity
}

const (
	firstText    = 256 // first size of the text, in bytes
	firstEntries = 16  // first length of the ring
)

// entry returns the i-th newest entry; i is less than count.
func (t *table) entry(i uint32) *entry {
	return &t.entries[(t.newest-i)&uint32(len(t.entries)-1)]
}

// parts returns an entry's text.
func (t *table) parts(e *entry) (name, value []byte) {
	n := int(e.nameLen) + int(e.valueLen)
	text := t.text[e.at-t.slid:][:n:n]
	return text[:e.nameLen:e.nameLen], text[e.nameLen:]
}

// fits reports whether n bytes of text can be added without moving any.
func (t *table) fits(n int) bool { return int(t.end)+n <= len(t.text) }

// setMax changes the bound of the table's size and evicts what exceeds it.
func (t *table) setMax(n uint32) {
	t.max = n
	t.evict(n)
}

// evict forgets the oldest entries until the size is at most n.
func (t *table) evict(n uint32) {
	for t.size > n {
		e := t.entry(t.count - 1)
		t.size -= uint32(e.nameLen) + uint32(e.valueLen) + fieldOverhead
		t.count--
	}
}

// add puts a new entry into the table and evicts old ones to make room. One that
// is larger than the whole table leaves the table empty (RFC 7541 section 4.4).
//
// The parts must not lie in the table's text, unless fits has said that it does
// not move.
func (t *table) add(name, value []byte, class Name, valid validity) {
	size := uint32(len(name) + len(value) + fieldOverhead)
	if size > t.max {
		t.evict(0)
		return
	}
	t.evict(t.max - size)
	n := len(name) + len(value)
	if !t.fits(n) {
		t.makeRoom(n)
	}
	if int(t.count) == len(t.entries) {
		t.resizeEntries(max(firstEntries, 2*len(t.entries)))
	}
	at := t.end
	copy(t.text[at:], name)
	copy(t.text[int(at)+len(name):], value)
	t.end += uint32(n)
	t.size += size
	t.count++
	t.newest++
	e := &t.entries[t.newest&uint32(len(t.entries)-1)]
	e.at = uint16(at) + t.slid
	e.nameLen, e.valueLen = uint16(len(name)), uint16(len(value))
	e.class, e.valid = class, valid
}

// makeRoom makes n bytes of text fit. The live text slides to the start of its
// array, or into a larger one if it would then fill more than half of this one.
// It never needs more than max: the size of the table counts all of it.
func (t *table) makeRoom(n int) {
	into := t.text
	if want := 2 * (len(t.live()) + n); want > len(into) && len(into) < int(t.max) {
		into = make([]byte, min(max(firstText, 1<<bits.Len(uint(want-1))), int(t.max)))
	}
	t.slide(into)
}

// trim gives back memory above what a table of bound bytes needs; its size is
// already within.
func (t *table) trim(bound uint32) {
	if len(t.text) > int(bound) {
		t.slide(make([]byte, bound))
	}
	if n := max(firstEntries, 1<<bits.Len32(bound/fieldOverhead)); len(t.entries) > n {
		t.resizeEntries(n)
	}
}

// live returns the text of all entries, oldest first.
func (t *table) live() []byte {
	if t.count == 0 {
		return nil
	}
	return t.text[t.entry(t.count-1).at-t.slid : t.end]
}

// slide moves the live text to the start of an array, which may be the one that
// it is in.
func (t *table) slide(into []byte) {
	live := t.live()
	copy(into, live)
	t.text = into
	t.slid += uint16(int(t.end) - len(live))
	t.end = uint32(len(live))
}

// resizeEntries makes the ring n long, a power of two and at least count.
func (t *table) resizeEntries(n int) {
	into := make([]entry, n)
	for i := range t.count {
		into[t.count-1-i] = *t.entry(i)
	}
	t.entries = into
	t.newest = t.count - 1
}
