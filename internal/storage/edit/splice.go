package edit

import "bytes"

// splice carries the difference between two encodings of a document over to the
// text that the first one was read from, whose blank lines and spacing no
// encoding has. It reports false if text and encoding differ in more than white
// space, so that no place in one is known in the other.
func splice(text, before, after []byte) ([]byte, bool) {
	if !bytes.Equal(squeezed(text), squeezed(before)) {
		return nil, false
	}
	old, next := bytes.SplitAfter(before, newline), bytes.SplitAfter(after, newline)
	head, tail := 0, 0
	for head < min(len(old), len(next)) && bytes.Equal(old[head], next[head]) {
		head++
	}
	for tail < min(len(old), len(next))-head && bytes.Equal(old[len(old)-1-tail], next[len(next)-1-tail]) {
		tail++
	}
	from, ok := lineEnd(text, visible(old[:head]))
	if !ok {
		return nil, false
	}
	gone := visible(old[head : len(old)-tail])
	to, ok := lineEnd(text[from:], gone)
	if !ok {
		return nil, false
	}
	to += from
	if gone == 0 {
		to = from
	}
	put := bytes.Join(next[head:len(next)-tail], nil)
	if len(put) == 0 && blankFirst(text[to:]) { // not two gaps where one entry was
		from -= gapBefore(text[:from])
		if bytes.HasSuffix(text[:from], []byte(":\n")) {
			to += bytes.IndexByte(append(text[to:len(text):len(text)], '\n'), '\n') + 1
			to = min(to, len(text))
		}
	}
	return bytes.Join([][]byte{text[:from], put, text[to:]}, nil), true
}

var newline = []byte("\n")

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// squeezed is a text without white space.
func squeezed(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, c := range text {
		if !isSpace(c) {
			out = append(out, c)
		}
	}
	return out
}

// visible counts the octets of lines that are not white space.
func visible(lines [][]byte) (n int) {
	for _, line := range lines {
		n += len(squeezed(line))
	}
	return n
}

// lineEnd returns where the line ends that the first n visible octets end on; it
// reports false if others follow on that line.
func lineEnd(text []byte, n int) (int, bool) {
	i := 0
	for ; n > 0 && i < len(text); i++ {
		if !isSpace(text[i]) {
			n--
		}
	}
	if i == 0 {
		return 0, true
	}
	for ; i < len(text); i++ {
		switch {
		case text[i] == '\n':
			return i + 1, true
		case !isSpace(text[i]):
			return 0, false
		}
	}
	return len(text), true
}

// gapBefore is the length of the blank line that a text ends with, 0 for none.
func gapBefore(text []byte) int {
	lines := bytes.SplitAfter(text, newline)
	if n := len(lines); n > 2 && len(lines[n-1]) == 0 && len(bytes.TrimSpace(lines[n-2])) == 0 {
		return len(lines[n-2])
	}
	return 0
}

// blankFirst says whether a text begins with a blank line, or is at its end.
func blankFirst(text []byte) bool {
	line, _, _ := bytes.Cut(text, newline)
	return len(bytes.TrimSpace(line)) == 0
}
