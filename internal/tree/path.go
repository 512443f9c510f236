package tree

import (
	"fmt"
	"strings"
)

const upperHex = "0123456789ABCDEF"

// Escape writes one part of an entry's key, opaque octets, in its canonical
// percent-encoding: everything but ASCII letters, digits and - . _ ~ becomes %XX
// with upper-case digits, the slash too, so that the part is one segment. A part
// that is wholly one of the words by which entries are told apart, quota and
// sublimit, has its first letter encoded, so that it is never taken for the word.
// [Unescape] undoes it.
func Escape(part string) string {
	if part == "quota" || part == "sublimit" {
		return fmt.Sprintf("%%%02X%s", part[0], part[1:])
	}
	coded := 0
	for i := range len(part) {
		if !unreserved(part[i]) {
			coded++
		}
	}
	if coded == 0 {
		return part
	}
	out := make([]byte, 0, len(part)+2*coded)
	for i := range len(part) {
		if c := part[i]; unreserved(c) {
			out = append(out, c)
		} else {
			out = append(out, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return string(out)
}

// unreserved says whether RFC 3986 lets c stand for itself anywhere.
func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '-' || c == '.' || c == '_' || c == '~'
}

// Unescape decodes a percent-encoded part of an entry's key into the octets it
// stands for. What is not encoded stands for itself, slashes too. The error
// names the first sequence that is no percent-encoding.
func Unescape(text string) (string, error) {
	first := strings.IndexByte(text, '%')
	if first < 0 {
		return text, nil
	}
	out := append(make([]byte, 0, len(text)), text[:first]...)
	for i := first; i < len(text); i++ {
		if text[i] != '%' {
			out = append(out, text[i])
			continue
		}
		end := min(i+3, len(text))
		hi, lo := -1, -1
		if end == i+3 {
			hi, lo = unhex(text[i+1]), unhex(text[i+2])
		}
		if hi < 0 || lo < 0 {
			return "", fmt.Errorf("%q is no percent-encoding: two hex digits must follow the %%, and a plain %% is written %%25", text[i:end])
		}
		out = append(out, byte(hi<<4|lo))
		i += 2
	}
	return string(out), nil
}

// unhex returns the value of a hex digit, or -1.
func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	default:
		return -1
	}
}
