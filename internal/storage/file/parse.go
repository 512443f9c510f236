package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// MaxSize is the largest storage file that is read, in bytes.
const MaxSize = 64 << 20

// Parse turns the text of a storage file into the entries of the tree, keyed
// without the root prefix. Errors name the line; text with an error yields
// nothing, since half a tree may lack the half that limits. An empty text is an
// empty tree. Whether the values make sense is not looked at.
func Parse(text []byte) (map[string]string, error) {
	root, err := document(text)
	if err != nil || root == nil {
		return map[string]string{}, err
	}
	f := newFlattener(len(text))
	if err := f.root(root); err != nil {
		return map[string]string{}, err
	}
	return f.entries, nil
}

// document returns the one document of the text, nil if it has no content.
func document(text []byte) (*yaml.Node, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("larger than %d MiB", MaxSize>>20)
	}
	if err := readable(text); err != nil {
		return nil, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var first, second yaml.Node
	if err := dec.Decode(&first); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, syntaxError(err)
	}
	if err := dec.Decode(&second); err == nil {
		return nil, fmt.Errorf("line %d: a second YAML document starts here; the file must be one", second.Line)
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxError(err)
	}
	return first.Content[0], nil
}

// readable finds the bytes that no YAML text has, and their line, which the
// YAML reader does not tell.
func readable(text []byte) error {
	line := 1
	for rest := text; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && n == 1:
			return fmt.Errorf("line %d: byte 0x%02x is not UTF-8 text", line, rest[0])
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0x7f:
			return fmt.Errorf("line %d: control character 0x%02x is not allowed in YAML", line, r)
		case r == '\n':
			line++
		}
		rest = rest[n:]
	}
	return nil
}

// syntaxError makes one form of what the YAML reader says. The reader leaves
// the line out when it is the first, and counts lines from 0 for the problems
// of structure that are listed here; those it reports at the line where the
// unfinished block starts.
func syntaxError(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if strings.HasPrefix(text, "unknown anchor") {
		return errors.New(text)
	}
	line := 1
	if n, _ := fmt.Sscanf(text, "line %d:", &line); n == 1 {
		_, text, _ = strings.Cut(text, ": ")
		switch text {
		case "did not find expected key", "did not find expected '-' indicator",
			"did not find expected ',' or ']'", "did not find expected ',' or '}'":
			return fmt.Errorf("line %d: %s in the block that starts here", line+1, text)
		case "did not find expected node content", "did not find expected <document start>", "found undefined tag handle":
			line++
		}
	}
	return fmt.Errorf("line %d: %s", line, text)
}
