package file

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestBroken lists texts that are no tree, and what the message must hold: the
// line and the reason.
func TestBroken(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"syntax", "limit:\n  key_default: {rate: 1\nfactor: 2\n", "line 2: did not find expected ',' or '}' in the block that starts here"},
		{"syntax on the first line", "]\n", "line 1: did not find expected node content"},
		{"syntax deep down", "limit:\n  key_default: {rate: 1}\n  key:\n    a: ]\n", "line 4: did not find expected node content"},
		{"indentation", "limit:\n  key:\n    a: {}\n   b: {}\n", "line 2: did not find expected key in the block that starts here"},
		{"a colon too many", "limit:\n  key_default: rate: 1\n", "line 2: mapping values are not allowed in this context"},
		{"a tab", "limit:\n\tkey: {}\n", "line 2: found character that cannot start any token"},
		{"a list", "- limit\n", "line 1: the file must be a mapping with the keys limit, factor, observer; this is a list"},
		{"a scalar", "\n\nhello\n", "line 3: the file must be a mapping with the keys limit, factor, observer; this is a single value"},
		{"two documents", "limit:\n---\nfactor:\n", "line 2: a second YAML document starts here"},
		{"a broken second document", "limit:\n---\n{\n", "did not find expected node content"},
		{"a key twice", "limit:\n  key:\n    a: {}\n    b: {}\n    a: {}\n", `line 5: the key "a" is already given on line 3`},
		{"a key twice in a quota", "limit:\n  key_default:\n    rate: 1\n    rate: 2\n", `line 4: the key "rate" is already given on line 3`},
		{"a key twice in two spellings", "factor:\n  key:\n    1: 1\n    '1': 1\n", `line 4: the key "1" is already given on line 3`},
		{
			"two ways to one path", "limit:\n  subkey_default:\n    albums/GET: {rate: 1, burst: 0}\n    albums:\n      GET: {rate: 2, burst: 0}\n",
			"line 5: limit/subkey_default/albums/GET is already given on line 3",
		},
		{"a mapping as a key", "limit:\n  {a: b}: c\n", "line 2: a key must be a single text"},
		{"an unknown anchor", "limit: *nowhere\n", "unknown anchor 'nowhere' referenced"},
		{"an alias inside itself", "limit: &a\n  b: *a\n", "line 2: nested more than 100 levels deep"},
		{"an alias inside itself in a value", "limit:\n  key_default: &a\n    b: *a\n", "line 3: nested more than 100 levels deep"},
		{"a merge inside itself", "limit: &a\n  <<: *a\n", "line 2: nested more than 100 levels deep"},
		{"a merge of a number", "limit:\n  <<: 5\n", "line 2: << takes a mapping"},
		{"a merge of numbers", "limit:\n  <<: [5]\n", "line 2: << takes a mapping"},
		{"a tag", "limit:\n  key_default: {rate: !bignum 5}\n", "line 2: the YAML tag !bignum means nothing here"},
		{"a set", "limit:\n  key: !!set {a, b}\n", "line 2: the YAML tag !!set means nothing here"},
		{"a number that is none", "limit:\n  key_default: {rate: !!int ten}\n", `line 2: "ten" is not a number`},
		{"a truth that is none", "limit:\n  key_default: {shadow: !!bool maybe}\n", `line 2: "maybe" is not true or false`},
		{"not UTF-8", "limit:\n  key:\n    \xff: {}\n", "line 3: byte 0xff is not UTF-8"},
		{"a control character", "limit:\n  key: \x00\n", "line 2: control character 0x00"},
		{"deep nesting", strings.Repeat("{a: ", 101) + strings.Repeat("}", 101), "line 1: nested more than 100 levels deep"},
		{"a long path", "a:\n  ? " + strings.Repeat("x", maxPath) + "\n  : 1\n", "line 3: the path is longer than 16 KiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			entries, err := Parse([]byte(tt.text))
			if err == nil {
				t.Fatalf("no error, entries %v", entries)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %q, want %q in it", err, tt.want)
			}
			if len(entries) != 0 {
				t.Errorf("half a tree was returned: %v", entries)
			}
		})
	}
}

// TestBombs are short texts that describe trees without end. They must be
// refused, with little work.
func TestBombs(t *testing.T) {
	// doubling writes 30 lines, each of which uses the one before it twice.
	doubling := func(format string) string {
		var b strings.Builder
		for i := 1; i <= 30; i++ {
			fmt.Fprintf(&b, format, i, i-1)
		}
		return b.String()
	}
	var aliases strings.Builder
	for i := range 400 {
		fmt.Fprintf(&aliases, "n%d: *big, ", i)
	}
	bombs := map[string]string{
		"levels": "a0: &a0 {x: }\n" + doubling("a%[1]d: &a%[1]d {p: *a%[2]d, q: *a%[2]d}\n"),
		"values": "limit:\n  key_default:\n    a0: &a0 [x]\n" + doubling("    a%[1]d: &a%[1]d [*a%[2]d, *a%[2]d]\n"),
		"merges": "a0: &a0 {x: }\n" + doubling("a%[1]d: &a%[1]d {<<: [*a%[2]d, *a%[2]d]}\n"),
		"text":   "big: &big " + strings.Repeat("x", 1<<20) + "\nobserver: {" + aliases.String() + "}\n",
	}
	for name, text := range bombs {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			_, err := Parse([]byte(text))
			if err == nil {
				t.Fatal("accepted")
			}
			t.Logf("refused after %v: %v", time.Since(began).Round(time.Millisecond), err)
			if !strings.Contains(err.Error(), "line ") || !strings.Contains(err.Error(), "aliases expand") && !strings.Contains(err.Error(), "larger than") {
				t.Errorf("the error is %q", err)
			}
		})
	}
}

// TestTooLarge keeps a file that nobody meant from being read into memory
// several times over.
func TestTooLarge(t *testing.T) {
	_, err := Parse([]byte(strings.Repeat("#", MaxSize+1)))
	if err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("the error is %v", err)
	}
}
