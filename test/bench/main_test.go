package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A short run of everything, Levee against net/http. It binds this process to a
// core, so there is no other test of this kind in the package.
func TestMeasure(t *testing.T) {
	out := t.TempDir()
	o, err := parse([]string{"-rounds", "2", "-seconds", "0.1", "-targets", "levee,nethttp", "-out", out})
	if err != nil {
		t.Fatal(err)
	}
	o.idle, o.slow, o.fill = 300, 50, 100*time.Millisecond
	if err := measure(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(out, "engine.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"## h1:", "## pipelined:", "## h2c-1:", "## h2c-8:", "## h2c-32:", "heap objects for a request",
		"| h1 | nethttp | ", "(engine.png)", "## Latency", "| 50 |", "## Idle", "| nethttp | 300 |",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if chart, err := os.Stat(filepath.Join(out, "engine.png")); err != nil || chart.Size() < 1000 {
		t.Errorf("the chart: %v", err)
	}
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &set); err != nil || set.Count() != 1 {
		t.Errorf("the load may use %d cores, %v", set.Count(), err)
	}
}

func TestParse(t *testing.T) {
	o, err := parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	if o.rounds != 9 || o.length() != 1500*time.Millisecond || len(o.targets) != 4 || len(o.only) != 8 || !o.wants("idle") {
		t.Errorf("by default: %+v", o)
	}
	o, err = parse([]string{"-only", "h1,slow", "-seconds", "2"})
	if err != nil || !o.wants("h1") || !o.wants("slow") || o.wants("idle") || o.length() != 2*time.Second {
		t.Errorf("%+v, %v", o, err)
	}
	for _, bad := range [][]string{
		{"-rounds", "0"}, {"-seconds", "0"}, {"-seconds", "100"}, {"-only", "h3"}, {"-targets", "levee,apache"}, {"h1"}, {"-nonsense"},
	} {
		if o, err := parse(bad); err == nil {
			t.Errorf("%v: taken as %+v", bad, o)
		}
	}
}
