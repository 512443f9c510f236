package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzFile feeds the reader of files. Whatever the file holds, the reader does
// not panic, each mistake is one line that matches ErrInvalid and begins with
// the file's name, and values that it accepts are valid.
func FuzzFile(f *testing.F) {
	for name := range exampleOf {
		text, err := os.ReadFile(filepath.Join(examples, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range []string{
		"", "---\n---", "- a", "verbose: \"true\"", "a: &a [*a]", "storage-addrs: &a [*a, *b]", "? [a]\n: b", "<<: *x", "gc-period: 0",
		"verbose: !!binary dHJ1ZQ==", "max-keys: !!int \"a\nb\"", "\xff\xfe", "max-keys: 0o7", "gc-period: !!float 0", "%YAML 9.9\n---\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l := new(Limiter)
		s := newSet(limiterBinary)
		l.define(s)
		s.applyYAML("fuzz.yaml", text)
		for _, err := range s.errs {
			if !errors.Is(err, ErrInvalid) || !strings.HasPrefix(err.Error(), "fuzz.yaml:") || strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("%q", err)
			}
		}
		valid := bind(limiterBinary, l)
		for name := range s.from {
			if err := valid.flags.Lookup(name).Value.(setting).valid(); err != nil {
				t.Errorf("%s was accepted: %v", name, err)
			}
		}
	})
}

// FuzzArgs feeds the reader of command lines, one argument a line.
func FuzzArgs(f *testing.F) {
	for _, text := range []string{"", "--verbose", "--max-keys\n5", "-h", "--\nx", "--gc-perod\nx", "---", "--=", "-=\n-", "--storage-addrs=\n--storage-addrs=,"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := newSet(limiterBinary)
		new(Limiter).define(s)
		new(command).define(s)
		s.apply(s.readArgs(strings.Split(text, "\n")), everything)
		for _, err := range s.errs {
			if !errors.Is(err, ErrInvalid) || strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("%q", err)
			}
		}
	})
}
