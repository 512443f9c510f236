package hpack

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A field whose name is that of the oldest entry, which goes to make room for it,
// just when the text has to slide over that name (RFC 7541 section 4.4).
func TestNameOfEntryThatGoes(t *testing.T) {
	const name = "a-name-of-some-length"
	d := New()
	d.table.setMax(300)
	// store sends a field under the name of the i-th newest entry, or spelt out.
	store := func(i int, text string) string {
		var block []byte
		switch index := staticSize + i; {
		case i == 0:
			block = append([]byte{stored, byte(len(name))}, name...)
		case index < storedMask:
			block = []byte{stored | byte(index)}
		default:
			block = []byte{stored | storedMask, byte(index - storedMask)}
		}
		block = append(append(block, byte(len(text))), text...)
		fields, err := collect(d, block, 1<<10)
		if err != nil || len(fields) != 1 {
			t.Fatal(fields, err)
		}
		return fields[0].line()
	}
	var want []string
	slid := 0
	for i := range 200 {
		oldest, before := int(d.table.count), d.table.slid
		value := strings.Repeat(fmt.Sprint(i%10), 10+i%50)
		line := store(oldest, value)
		if line != name+": "+value {
			t.Fatalf("entry %d is emitted as %q", i, line)
		}
		if d.table.slid != before {
			slid++
		}
		want = append([]string{line}, want...)
		want = want[:d.table.count]
		if got := tableLines(d); !slices.Equal(got, want) {
			t.Fatalf("after entry %d:\n got %q\nwant %q", i, got, want)
		}
	}
	if slid < 10 {
		t.Errorf("the text slid %d times only", slid)
	}
}
