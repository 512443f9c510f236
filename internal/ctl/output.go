package ctl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"go.yaml.in/yaml/v3"

	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/tree"
)

// print writes a result: v as JSON or YAML, or as a person reads it.
func (t *tool) print(v any, table func(w io.Writer)) error {
	conf, err := t.conf()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	switch conf.Output {
	case config.OutputJSON:
		err = writeJSON(&b, v)
	case config.OutputYAML:
		err = writeYAML(&b, v)
	default:
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		table(w)
		err = w.Flush()
	}
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	if _, err := t.out.Write(trimmed(b.Bytes())); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}

// trimmed is a text without white space at the end of its lines, which a last
// column that is empty leaves.
func trimmed(text []byte) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(text) {
		b.Write(bytes.TrimRight(line, " \n"))
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// writeYAML goes by way of JSON, so that both have the same names and order.
func writeYAML(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return err
	}
	plain(&doc)
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(&doc); err != nil {
		return err
	}
	return enc.Close()
}

// plain takes the style of JSON off a document.
func plain(n *yaml.Node) {
	n.Style = 0
	for _, c := range n.Content {
		plain(c)
	}
}

// row writes the cells of a table's line.
func row(w io.Writer, cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = fmt.Sprint(c)
	}
	_, _ = fmt.Fprintln(w, strings.Join(texts, "\t")) // a buffer takes everything
}

// show is [tree.Show].
func show(part string) string { return tree.Show(part) }

// plural is "1 entry", "2 entries".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n) + " " + many
}

// tableLines are lines of a label and a text, aligned among themselves.
type tableLines [][2]string

func (l *tableLines) add(label, text string) { *l = append(*l, [2]string{label, text}) }

func (l tableLines) write(w io.Writer) {
	width := 0
	for _, line := range l {
		width = max(width, len(line[0]))
	}
	for _, line := range l {
		_, _ = fmt.Fprintf(w, "%-*s  %s\n", width, line[0], line[1]) // a buffer takes everything
	}
}
