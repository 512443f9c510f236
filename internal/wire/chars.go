package wire

import (
	"encoding/binary"
)

// class says what a byte may be part of (RFC 9110, sections 5.5 and 5.6.2).
type class uint8

const (
	inToken class = 1 << iota
	inHost        // reg-name, IP literal and port (RFC 3986, section 3.2)
)

// classes and lower are indexed by byte.
var (
	classes = makeClasses()
	lower   = makeLower()
)

func makeClasses() (t [256]class) {
	for c := range 256 {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if letter {
			t[c] = inToken | inHost
		}
	}
	for _, c := range "!#$%&'*+-.^_`|~" {
		t[c] |= inToken
	}
	for _, c := range "-._~!$&'()*+,;=%:[]" {
		t[c] |= inHost
	}
	return t
}

func makeLower() (t [256]byte) {
	for c := range 256 {
		t[c] = byte(c)
		if c >= 'A' && c <= 'Z' {
			t[c] = byte(c) + 'a' - 'A'
		}
	}
	return t
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isToken reports whether b is a method or a field name.
func isToken(b []byte) bool { return len(b) > 0 && all(b, inToken) }

// isHost reports whether b may be the value of Host; an empty one may.
func isHost(b []byte) bool { return all(b, inHost) }

func all(b []byte, k class) bool {
	for _, c := range b {
		if classes[c]&k == 0 {
			return false
		}
	}
	return true
}

// isName reports whether name is want, which is in lower case, in any case.
func isName(name []byte, want string) bool {
	if len(name) != len(want) {
		return false
	}
	for i, c := range name {
		if lower[c] != want[i] {
			return false
		}
	}
	return true
}

// trimBlank cuts spaces and tabs at both ends.
func trimBlank(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// hasControl reports whether b has a control character other than a tab. It
// looks at eight bytes at a time.
func hasControl(b []byte) bool {
	for ; len(b) >= 8; b = b[8:] {
		if mayHaveControl(binary.LittleEndian.Uint64(b)) && anyControl(b[:8]) {
			return true
		}
	}
	return anyControl(b)
}

// mayHaveControl is true if one of eight bytes is below 0x20, or is 0x7f; it may
// be true for others, too.
func mayHaveControl(x uint64) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	low := (x - ones*0x20) &^ x & tops
	del := x ^ ones*0x7f
	return low|((del-ones)&^del&tops) != 0
}

func anyControl(b []byte) bool {
	for _, c := range b {
		if c < 0x20 && c != '\t' || c == 0x7f {
			return true
		}
	}
	return false
}
