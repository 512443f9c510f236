package tree

import (
	"strings"
	"testing"
)

func TestEscape(t *testing.T) {
	for part, want := range map[string]string{
		"":              "",
		"photos":        "photos",
		"A-z.0_9~":      "A-z.0_9~",
		"a/b":           "a%2Fb",
		"100%":          "100%25",
		"квота":         "%D0%BA%D0%B2%D0%BE%D1%82%D0%B0",
		"\x00\xff \n":   "%00%FF%20%0A",
		"quota":         "%71uota",
		"sublimit":      "%73ublimit",
		"quotas":        "quotas",
		"Quota":         "Quota",
		"a/quota":       "a%2Fquota",
		"{\"rate\": 1}": "%7B%22rate%22%3A%201%7D",
	} {
		got := Escape(part)
		if got != want {
			t.Errorf("Escape(%q) = %q, want %q", part, got, want)
		}
		if back, err := Unescape(got); err != nil || back != part {
			t.Errorf("Unescape(%q) = %q, %v, want %q", got, back, err, part)
		}
	}
}

func TestUnescape(t *testing.T) {
	for text, want := range map[string]string{
		"a/b%2fc%2Fd": "a/b/c/d", // either case of digit, plain slashes stay
		"%71uota":     "quota",
		"%2525":       "%25", // decoded once
		"+":           "+",   // no form encoding
		"%00":         "\x00",
	} {
		if got, err := Unescape(text); err != nil || got != want {
			t.Errorf("Unescape(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestUnescapeErrors(t *testing.T) {
	for text, named := range map[string]string{
		"%zz":     `"%zz"`,
		"a%2":     `"%2"`,
		"a%":      `"%"`,
		"%2Fb%g0": `"%g0"`,
		"%%25":    `"%%2"`,
		"% 1":     `"% 1"`,
	} {
		got, err := Unescape(text)
		if err == nil || !strings.Contains(err.Error(), named+" is no percent-encoding") {
			t.Errorf("Unescape(%q) = %q, %v; want an error that names %s", text, got, err, named)
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "a/b", "quota", "%zz", "\xff\x00", "日本"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, part string) {
		coded := Escape(part)
		if strings.ContainsAny(coded, "/ \n\x00") || coded == "quota" || coded == "sublimit" {
			t.Fatalf("Escape(%q) = %q is not one plain segment", part, coded)
		}
		if back, err := Unescape(coded); err != nil || back != part {
			t.Fatalf("Unescape(Escape(%q)) = %q, %v", part, back, err)
		}
	})
}
