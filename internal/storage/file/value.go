package file

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// value is the entry's value: a scalar's text as spelled, anything else as
// JSON, which is how other stores hold it.
func (f *flattener) value(n *yaml.Node, depth int) (string, error) {
	switch {
	case isNull(n):
		return "null", nil
	case n.Kind == yaml.ScalarNode:
		return n.Value, nil
	}
	var b bytes.Buffer
	if err := f.render(&b, n, depth); err != nil {
		return "", err
	}
	return b.String(), nil
}

// render writes a node as JSON.
func (f *flattener) render(b *bytes.Buffer, n *yaml.Node, depth int) error {
	line := n.Line
	n, err := f.visit(n, depth)
	if err != nil {
		return err
	}
	switch n.Kind {
	case yaml.MappingNode:
		err = f.renderMapping(b, n, depth)
	case yaml.SequenceNode:
		err = f.renderList(b, n, depth)
	default:
		var text string
		if text, err = scalar(n); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		b.WriteString(text)
	}
	if f.size+b.Len() > maxTree {
		return errTooBig(line)
	}
	return err
}

func (f *flattener) renderMapping(b *bytes.Buffer, n *yaml.Node, depth int) error {
	members, err := f.members(n, depth)
	if err != nil {
		return err
	}
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoted(m.name))
		b.WriteByte(':')
		if err := f.render(b, m.value, depth+1); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func (f *flattener) renderList(b *bytes.Buffer, n *yaml.Node, depth int) error {
	b.WriteByte('[')
	for i, item := range n.Content {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := f.render(b, item, depth+1); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

// scalar is a YAML scalar in JSON.
func scalar(n *yaml.Node) (string, error) {
	switch n.ShortTag() {
	case "!!null":
		return "null", nil
	case "!!bool":
		var v bool
		if err := n.Decode(&v); err != nil {
			return "", fmt.Errorf("%q is not true or false", n.Value)
		}
		return fmt.Sprint(v), nil
	case "!!int", "!!float":
		return number(n)
	}
	return quoted(n.Value), nil
}

// number keeps the spelling of what JSON can spell, so that 0.1 stays 0.1, and
// converts what it cannot (1_000, .5, 0x10). Not-a-number and the infinities
// have no JSON form and neither has a number with a leading zero, which is
// octal to one reader and decimal to another; they are passed on as written for
// the reader of the value to reject.
func number(n *yaml.Node) (string, error) {
	digits := strings.TrimLeft(n.Value, "+-")
	switch {
	case json.Valid([]byte(n.Value)):
		return n.Value, nil
	case strings.EqualFold(digits, ".nan"):
		return "NaN", nil
	case strings.EqualFold(digits, ".inf"):
		return strings.TrimSuffix(n.Value, digits) + "Infinity", nil
	case len(digits) > 1 && digits[0] == '0' && (digits[1] == '_' || '0' <= digits[1] && digits[1] <= '9'):
		return n.Value, nil
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return "", fmt.Errorf("%q is not a number", n.Value)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("%q is not a number: %w", n.Value, err)
	}
	return string(text), nil
}

// quoted is a JSON string, without the escapes that only HTML needs.
func quoted(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return `""` // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}
