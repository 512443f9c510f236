package hpack

import "encoding/binary"

// validity remembers which parts of a field have the shape that Emit describes.
type validity uint8

const (
	nameIsValid validity = 1 << iota
	valueIsValid

	fieldIsValid = nameIsValid | valueIsValid
)

// validName reports whether a name has the shape that Emit describes.
func validName(name []byte) bool {
	if len(name) > 0 && name[0] == ':' {
		name = name[1:]
	}
	for _, c := range name {
		if !nameChars[c] {
			return false
		}
	}
	return len(name) > 0
}

// nameChars marks the characters of a token that are no capital letters.
var nameChars = func() (t [256]bool) {
	for _, c := range []byte("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz") {
		t[c] = true
	}
	return t
}()

// validValue reports whether a value has the shape that Emit describes.
func validValue(v []byte) bool {
	if len(v) == 0 {
		return true
	}
	if isBlank(v[0]) || isBlank(v[len(v)-1]) {
		return false
	}
	// Eight bytes at once while none is a control, which is nearly always.
	for len(v) >= 8 && !hasControl(binary.LittleEndian.Uint64(v)) {
		v = v[8:]
	}
	for _, c := range v {
		if c == 0 || c == '\n' || c == '\r' {
			return false
		}
	}
	return true
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// hasControl reports whether any of eight bytes is below 0x20: the subtraction
// borrows into the top bit of such a byte, and of no byte from 0x20 to 0x7f that
// has none below it; bytes above 0x7f are masked out.
func hasControl(eight uint64) bool {
	const ones = 0x0101010101010101
	return (eight-ones*0x20)&^eight&(ones*0x80) != 0
}
