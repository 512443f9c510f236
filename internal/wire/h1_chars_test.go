package wire

import (
	"bytes"
	"testing"
)

// TestHasControl tries each octet at each place of a word of eight, among
// neighbours that may carry or borrow.
func TestHasControl(t *testing.T) {
	for _, around := range []byte{'a', ' ', '\t', '!', 0x7e, 0x80, 0xa0, 0xff} {
		for length := 1; length <= 17; length++ {
			for at := range length {
				for c := range 256 {
					b := bytes.Repeat([]byte{around}, length)
					b[at] = byte(c)
					want := c < 0x20 && c != '\t' || c == 0x7f
					if got := hasControl(b); got != want {
						t.Fatalf("hasControl(%q) = %t", b, got)
					}
				}
			}
		}
	}
}

// TestTokens holds which octets names of fields and methods may have (RFC 9110,
// section 5.6.2).
func TestTokens(t *testing.T) {
	const others = "!#$%&'*+-.^_`|~"
	for c := range 256 {
		b := byte(c)
		want := b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || bytes.IndexByte([]byte(others), b) >= 0
		if got := isToken([]byte{b}); got != want {
			t.Errorf("isToken(%q) = %t", b, got)
		}
	}
	if isToken(nil) {
		t.Error("nothing is no token")
	}
}
