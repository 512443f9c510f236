package tree

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Show is a part of a key as a person reads it: as it is where that is
// unmistakable, else quoted.
func Show(part string) string {
	odd := func(r rune) bool {
		return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == '"' || r == utf8.RuneError
	}
	if part == "" || strings.ContainsFunc(part, odd) {
		return strconv.Quote(part)
	}
	return part
}
