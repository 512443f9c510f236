package hpack

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	oracle "golang.org/x/net/http2/hpack"
)

// split cuts a fuzzer's input into blocks: a byte for the length, then as much.
func split(in []byte) (blocks [][]byte) {
	for len(in) > 0 {
		n := min(int(in[0]), len(in)-1)
		blocks = append(blocks, in[1:1+n])
		in = in[1+n:]
	}
	return blocks
}

// join is the inverse of split.
func join(blocks ...[]byte) (in []byte) {
	for _, block := range blocks {
		in = append(append(in, byte(len(block))), block...)
	}
	return in
}

// FuzzDecoder decodes any blocks as one session, together with the oracle: equal
// fields, or both refuse. These differences are accepted, and end the session:
//
//   - Integers. The RFC leaves the limits to the decoder (5.1): ours are five bytes
//     and 32 bits, the oracle's nine bytes.
//   - A size update after a field. The RFC forbids it (4.2); the oracle lets it
//     pass while its table is empty.
//   - A second size update at the start of a block. The RFC demands that decoders
//     take it (4.2); the oracle refuses it while its table is not empty.
//
// Two more decoders see the same blocks under small limits on the list: their
// tables stay in step, and what they emit is the start of the whole list.
func FuzzDecoder(f *testing.F) {
	for _, c := range clients {
		f.Add(join(c.session(8, false)...))
	}
	for _, in := range []string{
		"3fe101 20 82", "4101 61 be", "2a 3fe11f 4101 61 4101 62 bf", "400000 400000 be bf",
		"41 8cf1e3c2e5f23a6ba0ab90f4ff be", "ff808000", "ff8080808000", "3f0c 40016100 7e0162",
		"40 01 61 84 fffffff3", "40 03 20 61 20 04 20 00 0d 0a",
	} {
		f.Add(join(unhex(f, in), unhex(f, "be")))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		ours, theirs := New(), oracle.NewDecoder(DefaultTableSize, nil)
		limited := map[int]*Decoder{0: New(), 100: New()}
		for i, block := range split(in) {
			want, theirErr := theirs.DecodeFull(block)
			got, err := collect(ours, block, 1<<30)
			checkMemory(t, ours)
			for maxList, d := range limited {
				checkLimited(t, d, block, maxList, got, err)
				if err == nil && !slices.Equal(tableLines(d), tableLines(ours)) {
					t.Fatalf("block %d: the table under a limit of %d is out of step", i, maxList)
				}
			}
			if err != nil && !errors.Is(err, ErrCompression) {
				t.Fatalf("block %d: error %v", i, err)
			}
			if accepted(block, err, theirErr) {
				return
			}
			if (err == nil) != (theirErr == nil) {
				t.Fatalf("block %d, %x: error %v, want %v", i, block, err, theirErr)
			}
			if err != nil {
				return
			}
			checkFields(t, got, want)
		}
	})
}

// accepted reports a difference that FuzzDecoder lists.
func accepted(block []byte, err, theirErr error) bool {
	switch {
	case errors.Is(err, errInteger), errors.Is(err, errUpdatePlace):
		return true
	case err == nil && theirErr != nil:
		return strings.Contains(theirErr.Error(), "MUST occur at the beginning") &&
			block[0] >= sizeUpdate && block[0] < stored
	}
	return false
}

// checkLimited decodes a block under a limit, and compares with what came of it
// without one.
func checkLimited(t *testing.T, d *Decoder, block []byte, maxList int, whole []field, wholeErr error) {
	t.Helper()
	want, left := len(whole), maxList
	for i, f := range whole {
		if left -= len(f.name) + len(f.value) + fieldOverhead; left < 0 {
			want = i
			break
		}
	}
	if wholeErr == nil && want < len(whole) {
		wholeErr = ErrTooLarge
	}
	got, err := collect(d, block, maxList)
	if !errors.Is(err, wholeErr) || !slices.Equal(got, whole[:want]) {
		t.Fatalf("list of %d: %+v, %v; want %+v, %v", maxList, got, err, whole[:want], wholeErr)
	}
}

func checkFields(t *testing.T, got []field, want []oracle.HeaderField) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d fields, want %d", len(got), len(want))
	}
	for i, f := range got {
		valid := plainlyValidName(want[i].Name) && plainlyValidValue(want[i].Value)
		if w := (field{classify([]byte(want[i].Name)), want[i].Name, want[i].Value, valid}); f != w {
			t.Fatalf("field %d: %+v, want %+v", i, f, w)
		}
	}
}

// FuzzEncoder lets the oracle's encoder speak, with fields and table sizes drawn
// from the input, and wants the fields back. The client may use less of the table
// than it is allowed, and is told of a new size now and then.
func FuzzEncoder(f *testing.F) {
	for _, seed := range []string{
		"", "one block", "\x00\x10some \x01\x00sizes \x02 and \x03 fields \xff\xff\xff",
		strings.Repeat("\x04\x05\x14\x15\x24", 40), strings.Repeat("\x00\x01\x84\x23\x00\xff\x85\x23", 20),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		enc := oracle.NewEncoder(&out)
		d := New()
		var want []oracle.HeaderField
		for s := (script{in}); len(s.rest) > 0; {
			switch op := s.next(); op & 3 {
			case 0: // between two blocks; there are no empty ones
				if out.Len() == 0 {
					resize(d, enc, op>>2, uint16(s.next())<<6)
					continue
				}
				got, err := collect(d, out.Bytes(), 1<<30)
				if err != nil {
					t.Fatal(err)
				}
				checkFields(t, got, want)
				checkMemory(t, d)
				out.Reset()
				want = nil
			default:
				field := s.field(op)
				mustWrite(enc, field)
				field.Sensitive = false
				want = append(want, field)
			}
		}
	})
}

// resize changes sizes between two blocks, or does not.
func resize(d *Decoder, enc *oracle.Encoder, how byte, size uint16) {
	switch how & 3 {
	case 0:
		enc.SetMaxDynamicTableSize(uint32(size)) // as far as its limit allows
	case 1:
		d.SetTableSize(size)
		enc.SetMaxDynamicTableSizeLimit(uint32(size))
		enc.SetMaxDynamicTableSize(uint32(size)) // the limit alone would not have it say the lowest size
	}
}

// script draws from a fuzzer's input.
type script struct{ rest []byte }

func (s *script) next() byte {
	if len(s.rest) == 0 {
		return 0
	}
	b := s.rest[0]
	s.rest = s.rest[1:]
	return b
}

func (s *script) text(n int) string {
	n = min(n, len(s.rest))
	text := string(s.rest[:n])
	s.rest = s.rest[n:]
	return text
}

func (s *script) field(op byte) oracle.HeaderField {
	names := []string{":path", "x-resource", "x-req-id", "content-length", "other", "X-Upper", ":odd"}
	f := oracle.HeaderField{Sensitive: op&0x80 != 0}
	if i := int(op >> 2 & 7); i < len(names) {
		f.Name = names[i]
	} else {
		f.Name = s.text(int(s.next()) % 40)
	}
	switch op & 3 {
	case 1:
		f.Value = s.text(int(s.next()) % 40)
	case 2:
		f.Value = fmt.Sprintf("%016x", uint(s.next())*0x123456789)
	case 3:
		f.Value = strings.Repeat(s.text(3), int(s.next()))
	}
	return f
}
