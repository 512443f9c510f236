package ctl

import (
	"maps"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/levee-project/levee/internal/storage/edit"
	"github.com/levee-project/levee/internal/storage/file"
	"github.com/levee-project/levee/internal/tree"
)

// made is the tree after steps, which must fit it.
func made(t *testing.T, tr *tree.Tree, steps []step) *tree.Tree {
	t.Helper()
	next := maps.Clone(tr.Entries)
	for _, s := range steps {
		old, there := next[s.Key]
		if there != (s.Old != nil) || there && old != *s.Old {
			t.Fatalf("%s does not fit: %v", s.line(), tr.Entries)
		}
		if s.New == nil {
			delete(next, s.Key)
		} else {
			next[s.Key] = *s.New
		}
	}
	return &tree.Tree{Entries: next}
}

// TestExportIsTheIdentity exports random trees and applies that to themselves and
// to nothing: what is exported then is the same text, and there is no difference.
func TestExportIsTheIdentity(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		tr := randomTree(rng)
		entries, _ := inForce(tr)
		text, err := edit.Render(entries)
		if err != nil {
			t.Fatal(err)
		}
		read, err := file.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		wanted := &tree.Tree{Entries: read}
		for _, from := range []*tree.Tree{tr, {Entries: map[string]string{}}} {
			next := made(t, from, newPlanner(from).become(wanted, true))
			entries, left := inForce(next)
			again, err := edit.Render(entries)
			if err != nil || string(again) != string(text) || len(left) > 0 {
				t.Fatalf("%v: %v, left out %v\n%s\nbecame\n%s", tr.Entries, err, left, text, again)
			}
			if steps := newPlanner(next).become(wanted, true); len(steps) > 0 {
				t.Fatalf("%v: still to do: %v", tr.Entries, steps)
			}
		}
	}
}

// However an entry is spelled, one spelling is left once its value has changed,
// and none once it was removed.
func TestOneSpellingIsLeft(t *testing.T) {
	const key, q = "limit/key/a%2Fb/quota", `{"rate": 7, "burst": 7}`
	for _, spellings := range [][]string{
		nil, {key}, {"limit/key/a/b/quota"}, {"limit/key/a/b/quota", key}, {"limit/key/a%2fb/quota", "limit/key/a/b/quota"},
	} {
		tr := &tree.Tree{Entries: map[string]string{"factor/default": "1"}}
		for _, s := range spellings {
			tr.Entries[s] = `{"rate": 1, "burst": 1}`
		}
		set := made(t, tr, newPlanner(tr).set(key, q))
		if len(set.Entries) != 2 || set.Entries[key] != q {
			t.Errorf("%v: set leaves %v", spellings, set.Entries)
		}
		gone := made(t, tr, newPlanner(tr).remove(key))
		if len(gone.Entries) != 1 {
			t.Errorf("%v: remove leaves %v", spellings, gone.Entries)
		}
	}
}

func TestCanonical(t *testing.T) {
	for key, want := range map[string]string{
		"limit/key/a/b/quota":          "limit/key/a%2Fb/quota",
		"limit/key/a/sublimit/b/c":     "limit/key/a/sublimit/b%2Fc",
		"limit/subkey_default/b%2fc":   "limit/subkey_default/b%2Fc",
		"factor/key/%78":               "factor/key/x",
		"observer/%6f":                 "observer/o",
		"observer/a/b":                 "observer/a%2Fb",
		"observer/%zz":                 "observer/%zz",
		"observer/":                    "observer/",
		"limit/key/%zz/quota":          "limit/key/%zz/quota",
		"limit/key/a/sublimit/b/quota": "limit/key/a/sublimit/b/quota", // two readings
		"unknown":                      "unknown",
	} {
		if got := canonical(key); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

func TestSameValue(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{`{"rate": 1, "burst": 2}`, `{"rate":1,"burst":2}`, true},
		{`{"rate": 1, "burst": 2}`, `{"burst":2,"rate":1}`, true},
		{`{"rate": 1, "burst": 2, "shadow": false}`, `{"burst":2,"rate":1}`, true},
		{`{"rate": 1, "burst": 2}`, `{"rate": 10, "burst": 2}`, false},
		{`2`, ` 2`, false},
		{`junk`, `junk`, true},
	} {
		if got := same(tt.a, tt.b); got != tt.want {
			t.Errorf("%s, %s: %v", tt.a, tt.b, got)
		}
	}
}

// The manual's formula, and groups that are no larger than their burst allows.
func TestSize(t *testing.T) {
	for _, tt := range []struct {
		rps         string
		group       int
		rate, burst string
		better      int // 0 for none
	}{
		{"6000", 4, "6600", "165", 0},
		{"100", 1, "110", "11", 0},
		{"100", 4, "110", "2.75", 1},
		{"1000", 8, "1100", "13.75", 6},
		{"5", 2, "5.5", "0.275", 1},
	} {
		rps, _ := new(big.Rat).SetString(tt.rps)
		s := sizeFor(rps, tt.group, nil)
		s.addBetter(rps)
		better := 0
		if s.Better != nil {
			better = s.Better.Group
			if s.Better.Rejected >= s.Rejected {
				t.Errorf("%s in %d: better rejects %v rather than %v", tt.rps, tt.group, s.Better.Rejected, s.Rejected)
			}
		}
		if s.Rate != tt.rate || s.Burst != tt.burst || better != tt.better {
			t.Errorf("%s in %d: %+v, better %d", tt.rps, tt.group, s, better)
		}
	}
	if s := sizeFor(big.NewRat(1, 1e7), 1, nil); s.Rejected != 0 {
		t.Errorf("one in months: %+v", s)
	}
}

// Odd parts of keys cannot make up lines or hide in them.
func TestShow(t *testing.T) {
	for part, want := range map[string]string{
		"photos": "photos", "a/b": "a/b", "ключ": "ключ", "": `""`, "a b": `"a b"`, "a\nb": `"a\nb"`, "\xff": `"\xff"`, "\u202e": `"\u202e"`, "\x1b[0m": `"\x1b[0m"`,
	} {
		if got := show(part); got != want {
			t.Errorf("%q: %s, want %s", part, got, want)
		}
	}
	if line := (step{Op: "add", Key: "k", New: new(string)}).line(); line != `add k ""` {
		t.Error(line)
	}
	text := "two\nlines"
	if line := (step{Op: "delete", Key: "k", Old: &text}).line(); strings.Contains(line, "\n") {
		t.Error(line)
	}
}
