package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/levee-project/levee/internal/hrw"
)

// kind says what may be written for an option whose value has the type T.
type kind[T any] struct {
	// word stands for the value in --help.
	word string
	// expect completes "expected ..." for a person.
	expect string
	// tag is the YAML type that a file must use.
	tag string
	// parse reads the value, and says false when it is not one.
	parse func(string) (T, bool)
	// format is the inverse of parse.
	format func(T) string
}

// The YAML types of the values.
const (
	yamlText   = "!!str"
	yamlSwitch = "!!bool"
	yamlNumber = "!!int"
)

// words is a kind of text whose only rule is ok.
func words(word, expect string, ok func(string) bool) kind[string] {
	return kind[string]{
		word: word, expect: expect, tag: yamlText,
		parse:  func(s string) (string, bool) { return s, ok(s) },
		format: func(s string) string { return s },
	}
}

// printable reports whether s is text that fits on one line.
func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// text is any text on one line, also none.
func text() kind[string] { return words("TEXT", "text on one line", printable) }

// path names a file. It is not looked at here: a file that is missing now may
// be there at the start.
func path() kind[string] { return words("FILE", "the path of a file", printable) }

// longestID bounds names that travel in gossip messages and metric labels.
const longestID = 128

// identifier is a name that is one segment of a path, or nothing.
func identifier() kind[string] {
	return words("NAME", fmt.Sprintf("a name of at most %d bytes without spaces and slashes", longestID),
		func(s string) bool {
			return len(s) <= longestID && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
				return r == '/' || unicode.IsSpace(r) || !unicode.IsGraphic(r)
			})
		})
}

// boolean is a switch.
func boolean() kind[bool] {
	return kind[bool]{
		word: "bool", expect: "true or false", tag: yamlSwitch,
		parse: func(s string) (bool, bool) {
			b, err := strconv.ParseBool(s)
			return b, err == nil
		},
		format: strconv.FormatBool,
	}
}

// count is a whole number from 0.
func count() kind[int] {
	return kind[int]{
		word: "NUMBER", expect: "a whole number of at least 0", tag: yamlNumber,
		parse: func(s string) (int, bool) {
			n, err := strconv.Atoi(s)
			return n, err == nil && n >= 0
		},
		format: strconv.Itoa,
	}
}

// weight is a whole number from 1 to hrw.MaxWeight.
func weight() kind[int] {
	k := count()
	k.expect = "a whole number from 1 to " + strconv.Itoa(hrw.MaxWeight)
	k.parse = func(s string) (int, bool) {
		n, err := strconv.Atoi(s)
		return n, err == nil && n >= 1 && n <= hrw.MaxWeight
	}
	return k
}

// duration is a time of at least the given one, in Go's spelling.
func duration(least time.Duration) kind[time.Duration] {
	expect := "a duration such as 15s, 10m or 1h"
	if least > 0 {
		expect += ", at least " + formatDuration(least)
	}
	return kind[time.Duration]{
		word: "DURATION", expect: expect, tag: yamlText,
		parse: func(s string) (time.Duration, bool) {
			d, err := time.ParseDuration(s)
			return d, err == nil && d >= least
		},
		format: formatDuration,
	}
}

// formatDuration spells a duration as a person would: 1h, not 1h0m0s.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// oneOf is one of a few words.
func oneOf[T ~string](choices ...T) kind[T] {
	names := make([]string, len(choices))
	for i, c := range choices {
		names[i] = string(c)
	}
	return kind[T]{
		word: "WORD", expect: "one of " + strings.Join(names, ", "), tag: yamlText,
		parse:  func(s string) (T, bool) { return T(s), slices.Contains(names, s) },
		format: func(t T) string { return string(t) },
	}
}
