package hpack

import (
	"errors"
	"strings"
	"testing"
)

// Each block is one that a Decoder with an empty table must refuse.
func TestMalformedBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		block string
		want  error
	}{
		"index 0":                             {"80", errIndex},
		"index beyond an empty table":         {"be", errIndex},
		"index beyond one entry":              {"4101 61 be bf", errIndex},
		"the largest index":                   {"ff 80ffffff0f", errIndex},
		"name index beyond, stored":           {"7e 00", errIndex},
		"name index beyond, not stored":       {"0f 2f 00", errIndex},
		"name index beyond, never indexed":    {"1f 2f 00", errIndex},
		"index of over 32 bits":               {"ff 81ffffff0f", errInteger},
		"index of six bytes":                  {"ff 808080808000", errInteger},
		"six bytes, last missing":             {"ff 8080808080", errInteger},
		"length of over 32 bits":              {"00 7f 81ffffff0f", errInteger},
		"update of over 32 bits":              {"3f e1ffffff0f", errInteger},
		"index ends":                          {"ff", errTruncated},
		"index ends later":                    {"ff 80", errTruncated},
		"name index ends":                     {"7f 80", errTruncated},
		"update ends":                         {"3f", errTruncated},
		"no name":                             {"40", errTruncated},
		"name ends":                           {"40 02 61", errTruncated},
		"name's length ends":                  {"40 7f", errTruncated},
		"no value":                            {"40 01 61", errTruncated},
		"no value of an indexed name":         {"41", errTruncated},
		"value ends":                          {"40 01 61 02 62", errTruncated},
		"value of 4 GiB":                      {"41 7f 80ffffff0f 61", errTruncated},
		"Huffman ends":                        {"41 82 1f", errTruncated},
		"end of string alone":                 {"41 84 ffffffff", errHuffman},
		"end of string after a symbol":        {"41 85 1fffffffff", errHuffman},
		"end of string amid symbols":          {"41 8a 1fffffffe3 18c6318c63", errHuffman}, // a, end, nine a
		"padding of 8 bits":                   {"41 81 ff", errHuffman},
		"padding of 8 bits after a symbol":    {"41 82 1fff", errHuffman},
		"padding with a zero":                 {"41 81 1e", errHuffman},
		"padding of zeros":                    {"41 81 00", errHuffman},
		"code cut off":                        {"41 81 fe", errHuffman},
		"long code cut off":                   {"41 83 fffffe", errHuffman},
		"Huffman coded name":                  {"40 81 ff 00", errHuffman},
		"Huffman in a field that is not kept": {"01 81 ff", errHuffman},
		"update above the announced size":     {"3f e21f", errUpdateSize}, // 4097
		"update after a field":                {"82 20", errUpdatePlace},
		"update amid updates and fields":      {"20 82 3f e11f", errUpdatePlace},
	} {
		t.Run(name, func(t *testing.T) {
			block := unhex(t, c.block)
			for _, maxList := range []int{1 << 20, 0} { // also when nothing is emitted
				if _, err := collect(New(), block, maxList); !errors.Is(err, c.want) {
					t.Errorf("list of %d: error %v, want %v", maxList, err, c.want)
				}
			}
			if !errors.Is(c.want, ErrCompression) || !strings.HasPrefix(c.want.Error(), ErrCompression.Error()) {
				t.Errorf("%v is no ErrCompression", c.want)
			}
		})
	}
}

// What looks odd and is allowed.
func TestUnusualBlocks(t *testing.T) {
	for name, s := range map[string]step{
		"nothing":                       {"", nil, []string{}, 0},
		"a size update alone":           {"20", nil, []string{}, 0},
		"updates in a row":              {"20 3f e11f 2a", nil, []string{}, 0},
		"integer in its longest form":   {"3f 8080808000", nil, []string{}, 0},
		"name index past its prefix":    {"0f 21 00", []string{"proxy-authenticate: "}, nil, 0},
		"Huffman coded nothing":         {"41 80", []string{":authority: "}, []string{":authority: "}, 42},
		"padding of 7 bits":             {"41 83 04727f", []string{":authority: 0bd"}, nil, 0},
		"entry larger than the table":   {"2a 41 01 61", []string{":authority: a"}, []string{}, 0},
		"entry as large as the table":   {"3f 0c 41 01 61", []string{":authority: a"}, []string{":authority: a"}, 43},
		"entry that makes itself alone": {"3f 0c 41 01 61 41 01 62", []string{":authority: a", ":authority: b"}, []string{":authority: b"}, 43},
		"name of an entry that goes":    {"3f 0c 40 01 61 00 7e 01 62", []string{"a: ", "a: b"}, []string{"a: b"}, 34},
	} {
		t.Run(name, func(t *testing.T) { runSession(t, New(), []step{s}) })
	}
}
