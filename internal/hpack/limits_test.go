package hpack

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"unsafe"

	oracle "golang.org/x/net/http2/hpack"
)

// encode spells fields, name and value in turn, with the oracle's encoder.
func encode(enc *oracle.Encoder, out *bytes.Buffer, parts ...string) []byte {
	out.Reset()
	for i := 0; i < len(parts); i += 2 {
		mustWrite(enc, oracle.HeaderField{Name: parts[i], Value: parts[i+1]})
	}
	return bytes.Clone(out.Bytes())
}

func TestListTooLarge(t *testing.T) {
	// Three fields of 1 + 1 + 32 bytes; the last one is an index.
	block := unhex(t, "40 01 61 01 62  00 01 63 01 64  be")
	all := []string{"a: b", "c: d", "a: b"}
	for _, c := range []struct {
		maxList, emitted int
		err              error
	}{
		{1 << 20, 3, nil},
		{102, 3, nil},
		{101, 2, ErrTooLarge},
		{68, 2, ErrTooLarge},
		{67, 1, ErrTooLarge},
		{34, 1, ErrTooLarge},
		{33, 0, ErrTooLarge},
		{0, 0, ErrTooLarge},
	} {
		d := New()
		fields, err := collect(d, block, c.maxList)
		if !errors.Is(err, c.err) || (c.err == nil) != (err == nil) {
			t.Errorf("list of %d: error %v, want %v", c.maxList, err, c.err)
		}
		if errors.Is(err, ErrCompression) {
			t.Errorf("list of %d: %v ends the connection", c.maxList, err)
		}
		var lines []string
		for _, f := range fields {
			lines = append(lines, f.line())
		}
		if !slices.Equal(lines, all[:c.emitted]) {
			t.Errorf("list of %d: %q, want %q", c.maxList, lines, all[:c.emitted])
		}
		if got := tableLines(d); !slices.Equal(got, []string{"a: b"}) {
			t.Errorf("list of %d: table %q is out of step", c.maxList, got)
		}
	}
}

// A small field after the one that was too much is not emitted either: a list
// with a hole must not pass for a whole one.
func TestNothingAfterTooLarge(t *testing.T) {
	block := unhex(t, "00 01 61 03 626262  00 01 63 00")
	if fields, err := collect(New(), block, 35); !errors.Is(err, ErrTooLarge) || len(fields) != 0 {
		t.Errorf("got %+v, %v", fields, err)
	}
}

func TestRefusedStreamNeedsNoEmit(t *testing.T) {
	d := New()
	if err := d.Decode(unhex(t, "4101 61 be"), 0, nil); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v", err)
	}
	if got := tableLines(d); !slices.Equal(got, []string{":authority: a"}) {
		t.Errorf("table %q", got)
	}
	if err := d.Decode(nil, 0, nil); err != nil {
		t.Errorf("empty block: %v", err)
	}
}

func TestSetTableSize(t *testing.T) {
	const update100, update200, update4096, update8192 = "3f45", "3fa901", "3fe11f", "3fe13f"
	for name, c := range map[string]struct {
		sizes []uint16 // acknowledged before the block
		block string
		want  error
	}{
		"unchanged":                        {nil, "82", nil},
		"unchanged, reduced freely":        {nil, update100, nil},
		"smaller, obeyed":                  {[]uint16{100}, update100 + "82", nil},
		"smaller, obeyed with less":        {[]uint16{200}, update100, nil},
		"smaller, ignored":                 {[]uint16{100}, "82", errUpdateMissing},
		"smaller, ignored by an empty one": {[]uint16{100}, "", errUpdateMissing},
		"smaller, too late":                {[]uint16{100}, "82" + update100, errUpdateMissing},
		"smaller, not small enough":        {[]uint16{100}, update200, errUpdateSize},
		"smaller, then more":               {[]uint16{100}, update100 + update200, errUpdateSize},
		"none at all":                      {[]uint16{0}, "20 82", nil},
		"down and up":                      {[]uint16{100, 4096}, update100 + update4096, nil},
		"down and up, low point unsaid":    {[]uint16{100, 4096}, update4096, errUpdateSize},
		"down and up, nothing said":        {[]uint16{100, 4096}, "82", errUpdateMissing},
		"down, then less far":              {[]uint16{100, 200}, update100 + update200, nil},
		"down, then less far, unsaid":      {[]uint16{100, 200}, update200, errUpdateSize},
		"down twice":                       {[]uint16{200, 100}, update100, nil},
		"down twice, once obeyed":          {[]uint16{200, 100}, update200, errUpdateSize},
		"larger, unused":                   {[]uint16{8192}, "82", nil},
		"larger, used":                     {[]uint16{8192}, update8192, nil},
		"larger twice, used":               {[]uint16{5000, 8192}, update8192, nil},
		"not yet larger":                   {nil, update8192, errUpdateSize},
	} {
		t.Run(name, func(t *testing.T) {
			d := New()
			for _, n := range c.sizes {
				d.SetTableSize(n)
			}
			_, err := collect(d, unhex(t, c.block), 1<<20)
			if !errors.Is(err, c.want) || (c.want == nil) != (err == nil) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if err != nil {
				return
			}
			if _, err := collect(d, unhex(t, "82"), 1<<20); err != nil {
				t.Errorf("the next block: %v", err)
			}
		})
	}
}

func TestReset(t *testing.T) {
	d := New()
	d.SetTableSize(60000)
	var out bytes.Buffer
	enc := oracle.NewEncoder(&out)
	enc.SetMaxDynamicTableSizeLimit(60000)
	enc.SetMaxDynamicTableSize(60000)
	for i := range 1500 {
		if _, err := collect(d, encode(enc, &out, "x-req-id", fmt.Sprint(i)), 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	d.SetTableSize(10)
	d.Reset()
	checkMemory(t, d)
	if fields, err := collect(d, unhex(t, "be"), 1<<20); !errors.Is(err, errIndex) {
		t.Errorf("an entry of the last connection: %+v, %v", fields, err)
	}
	d.Reset()
	runSession(t, d, []step{
		{"4101 63 be", []string{":authority: c", ":authority: c"}, []string{":authority: c"}, 43},
		{"3fe11f be", []string{":authority: c"}, []string{":authority: c"}, 43},
	})
}

// The bounds that doc.go gives. The table's arrays may be those of a size that
// the client has yet to reduce.
func checkMemory(t testing.TB, d *Decoder) {
	t.Helper()
	bound := max(d.limit, d.table.max)
	if len(d.table.text) > int(bound) || cap(d.table.text) > int(bound)*5/4+firstText {
		t.Errorf("text of %d bytes, capacity %d, in a table of %d", len(d.table.text), cap(d.table.text), bound)
	}
	if n := len(d.table.entries); n&(n-1) != 0 || n > max(firstEntries, 2*int(bound)/fieldOverhead) {
		t.Errorf("ring of %d entries in a table of %d", n, bound)
	}
	if cap(d.scratch) > keepScratch {
		t.Errorf("scratch of %d bytes was kept", cap(d.scratch))
	}
	var size uint32
	for i := range d.table.count {
		name, value := d.table.parts(d.table.entry(i))
		size += uint32(len(name) + len(value) + fieldOverhead)
	}
	if size != d.table.size || size > d.table.max {
		t.Errorf("table counts %d bytes, holds %d, of %d", d.table.size, size, d.table.max)
	}
}

func TestMemoryIdle(t *testing.T) {
	if size := unsafe.Sizeof(Decoder{}); size > 128 {
		t.Errorf("a Decoder is %d bytes", size)
	}
	d := New()
	if cap(d.table.text)+cap(d.table.entries)+cap(d.scratch) != 0 {
		t.Error("a Decoder that has seen nothing holds memory")
	}
	if _, err := collect(d, unhex(t, "828684"), 1<<20); err != nil || cap(d.table.text)+cap(d.scratch) != 0 {
		t.Errorf("a block without literals takes memory (error %v)", err)
	}
}

// The scratch serves one field, not all of a block.
func TestScratchIsReused(t *testing.T) {
	d := New()
	block := bytes.Repeat(unhex(t, "04 86 60694969ad3f"), 1000) // :path: /attempt
	if fields, err := collect(d, block, 1<<20); err != nil || len(fields) != 1000 {
		t.Fatal(len(fields), err)
	}
	if n := cap(d.scratch); n == 0 || n > 32 {
		t.Errorf("scratch of %d bytes for fields of 8", n)
	}
}

// Entries of all sizes, so that the text slides, grows and is filled to the
// brim, in tables whose size goes up and down.
func TestMemoryBusy(t *testing.T) {
	var out bytes.Buffer
	enc := oracle.NewEncoder(&out)
	enc.SetMaxDynamicTableSizeLimit(1<<16 - 1)
	d := New()
	for _, size := range []uint16{4096, 65535, 8192, 100, 0, 31, 32, 33, 1000, 4096} {
		d.SetTableSize(size)
		enc.SetMaxDynamicTableSize(uint32(size))
		for i := range 400 {
			value := string(bytes.Repeat([]byte{'!' + byte(i%90)}, i*i%(1+int(size))))
			block := encode(enc, &out, "x-resource", value, "x-req-id", value[:len(value)/3], "", "", "x-resource", value)
			fields, err := collect(d, block, 1<<20)
			if err != nil {
				t.Fatalf("size %d, block %d: %v", size, i, err)
			}
			if len(fields) != 4 || fields[0].value != value || fields[1].value != value[:len(value)/3] || fields[3].value != value {
				t.Fatalf("size %d, block %d: got %+v", size, i, fields)
			}
			if checkMemory(t, d); t.Failed() {
				t.Fatalf("size %d, block %d", size, i)
			}
		}
	}
}

func TestNoAllocations(t *testing.T) {
	for _, c := range clients {
		blocks := c.session(2000, false)
		d, emit := New(), func(Name, []byte, []byte, bool) {}
		for _, block := range blocks[:1000] {
			if err := d.Decode(block, 1<<14, emit); err != nil {
				t.Fatal(err)
			}
		}
		rest := blocks[1000:]
		if n := testing.AllocsPerRun(len(rest)-1, func() {
			if err := d.Decode(rest[0], 1<<14, emit); err != nil {
				t.Error(err)
			}
			rest = rest[1:]
		}); n != 0 {
			t.Errorf("%s: %v allocations in a block", c.name, n)
		}
	}
	d, malformed, good := New(), []byte{0x80}, []byte{0x82}
	if n := testing.AllocsPerRun(100, func() {
		if err := d.Decode(malformed, 1<<14, nil); !errors.Is(err, ErrCompression) {
			t.Error(err)
		}
		if err := d.Decode(good, 0, nil); !errors.Is(err, ErrTooLarge) {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations in two errors", n)
	}
}
