package graphite

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// safeName appends the name of a metric or of a tag. A dot would be a step in
// Graphite's tree, and all but letters, digits and the underscore may mean
// something in a query.
func safeName(b []byte, name string) []byte {
	for _, r := range name {
		switch {
		case r == '_' || r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b = append(b, byte(r))
		default:
			b = append(b, '_')
		}
	}
	return b
}

// plainValue has the marks that stand for themselves in a tag's value. Missing
// are white space, which ends a field of the line, the semicolon, which ends a
// tag, braces and quotes, from which carbon would conclude another format, and
// what a query would expand.
const plainValue = "-_.:/+@%,=#!&()<>"

// safeValue appends the value of a tag, which is not empty. Letters of any
// script stay.
func safeValue(b []byte, value string) []byte {
	for i, r := range value {
		switch {
		case r == '~' && i > 0: // carbon refuses it at the start only
			b = append(b, '~')
		case r == utf8.RuneError: // also what is not UTF-8, on which carbon hangs up
			b = append(b, '_')
		case unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || strings.ContainsRune(plainValue, r):
			b = utf8.AppendRune(b, r)
		default:
			b = append(b, '_')
		}
	}
	return b
}

// ownTag is the tag for a label: another name where Graphite or the bridge has
// one of that name.
func ownTag(label string, taken []Tag) string {
	if label == "name" {
		return "exported_name"
	}
	for _, t := range taken {
		if t.Name == label {
			return "exported_" + label
		}
	}
	return label
}
