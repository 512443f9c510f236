package quota

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// shapes shows how the entries of the shared tree look, those of other packages
// too, by a pattern in which * stands for one character or more.
var shapes = map[string]string{
	"limit/key_default":      "limit/key_default",
	"limit/subkey_default/*": "limit/subkey_default/<SUBKEY>",
	"limit/key/*/quota":      "limit/key/<KEY>/quota",
	"limit/key/*/sublimit/*": "limit/key/<KEY>/sublimit/<SUBKEY>",
	"factor/default":         "factor/default",
	"factor/key/*":           "factor/key/<KEY>",
	"observer/*":             "observer/<NAME>",
}

// unknownEntry is the error for a key that has no known shape; it names the
// nearest one.
func unknownEntry(key string) error {
	const enough = 256 // bytes; the words that tell entries apart are long past
	key = key[:min(len(key), enough)]
	head, _, _ := strings.Cut(key, "/")
	meant := nearest([]string{"limit", "factor", "observer"}, head)
	if distance(meant, head) > 2 {
		return errors.New("unknown entry: there are entries under limit/, factor/ and observer/")
	}
	var patterns []string
	for pattern := range shapes {
		if strings.HasPrefix(pattern, meant+"/") {
			patterns = append(patterns, pattern)
		}
	}
	slices.Sort(patterns) // of two that are equally near, always the same
	return fmt.Errorf("unknown entry: did you mean %s?", shapes[nearest(patterns, key)])
}

// nearest returns the pattern with the least distance from text.
func nearest(patterns []string, text string) string {
	return slices.MinFunc(patterns, func(a, b string) int {
		return cmp.Compare(distance(a, text), distance(b, text))
	})
}

// distance is the least number of characters to insert, delete or replace that
// makes text fit the pattern (Levenshtein); a * in it fits any run of one or
// more characters for nothing.
func distance(pattern, text string) int {
	row := make([]int, len(text)+1) // for the pattern so far and each beginning of text
	for j := range row {
		row[j] = j
	}
	for i := range len(pattern) {
		before := row[0] // the row above, one to the left
		row[0]++
		for j := range len(text) {
			above := row[j+1]
			switch pattern[i] {
			case '*':
				row[j+1] = min(before, row[j], above+1)
			case text[j]:
				row[j+1] = before
			default:
				row[j+1] = 1 + min(before, row[j], above)
			}
			before = above
		}
	}
	return row[len(text)]
}
