package hpack

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"
)

// field is a field as a test keeps it.
type field struct {
	class       Name
	name, value string
	valid       bool
}

// line spells a field as the RFC's examples do.
func (f field) line() string { return f.name + ": " + f.value }

// collect decodes a block and returns copies of its fields.
func collect(d *Decoder, block []byte, maxList int) (fields []field, err error) {
	err = d.Decode(block, maxList, func(name Name, raw, value []byte, valid bool) {
		fields = append(fields, field{name, string(raw), string(value), valid})
	})
	return fields, err
}

// tableLines returns the entries of the dynamic table, newest first.
func tableLines(d *Decoder) (lines []string) {
	for i := range d.table.count {
		name, value := d.table.parts(d.table.entry(i))
		lines = append(lines, string(name)+": "+string(value))
	}
	return lines
}

// unhex reads hexadecimal digits with white space anywhere between them.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// step is one block of a session and what it must give.
type step struct {
	block  string   // hexadecimal
	fields []string // in order
	table  []string // afterwards, newest first; not looked at when nil
	size   uint32   // of the table
}

func runSession(t *testing.T, d *Decoder, steps []step) {
	t.Helper()
	for i, s := range steps {
		fields, err := collect(d, unhex(t, s.block), 1<<20)
		if err != nil {
			t.Fatalf("block %d: %v", i, err)
		}
		var lines []string
		for _, f := range fields {
			lines = append(lines, f.line())
			if !f.valid {
				t.Errorf("block %d: %q is said to be invalid", i, f.line())
			}
			if want := classify([]byte(f.name)); f.class != want {
				t.Errorf("block %d: %q has class %d, want %d", i, f.line(), f.class, want)
			}
		}
		if !slices.Equal(lines, s.fields) {
			t.Errorf("block %d:\n got %q\nwant %q", i, lines, s.fields)
		}
		if s.table != nil && (!slices.Equal(tableLines(d), s.table) || d.table.size != s.size) {
			t.Errorf("block %d: table of size %d, want %d:\n got %q\nwant %q", i, d.table.size, s.size, tableLines(d), s.table)
		}
	}
}
