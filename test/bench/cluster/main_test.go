package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A short run of a hop and of two cluster sizes. It binds this process to a core,
// so there is no other test of this kind in the package.
func TestMeasure(t *testing.T) {
	out := t.TempDir()
	o, err := parse([]string{"-rounds", "2", "-seconds", "0.5", "-only", "hop-h1,hop-h2c-32,scaling,saturated-h1", "-out", out})
	if err != nil {
		t.Fatal(err)
	}
	o.fill, o.sizes = 200*time.Millisecond, []int{1, 2}
	if err := measure(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(out, "cluster.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"## hop-h1:", "## hop-h2c-32:", "## scaling:", "## saturated-h1:", "| direct | ", "| proxy + limiter | ", "| limiter behind | ",
		"| 1 limiter | ", "| 2 limiters | ", "| hop-h1 | direct | proxy + limiter | ", "(cluster.png)",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if strings.Contains(string(page), "0.00 | 0.00 |") || strings.Contains(string(page), "hop-h2c-8") {
		t.Errorf("a figure is missing, or one is there that was not asked for:\n%s", page)
	}
	if chart, err := os.Stat(filepath.Join(out, "cluster.png")); err != nil || chart.Size() < 1000 {
		t.Errorf("the chart: %v", err)
	}
}

func TestParse(t *testing.T) {
	o, err := parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	if o.rounds != 9 || o.length() != 1500*time.Millisecond || len(o.only) != len(hops)+len(scalings) || !o.wants("saturated-h1") || len(o.sizes) != 4 {
		t.Errorf("by default: %+v", o)
	}
	o, err = parse([]string{"-only", "hop-h1,scaling", "-seconds", "2"})
	if err != nil || !o.wants("hop-h1") || !o.wants("scaling") || o.wants("scaling-d2") || o.length() != 2*time.Second {
		t.Errorf("%+v, %v", o, err)
	}
	for _, bad := range [][]string{{"-rounds", "0"}, {"-seconds", "0"}, {"-seconds", "100"}, {"-only", "h1"}, {"hop-h1"}, {"-nonsense"}} {
		if o, err := parse(bad); err == nil {
			t.Errorf("%v: taken as %+v", bad, o)
		}
	}
}

// Every scenario belongs to clusters that are started.
func TestScalingsAreRun(t *testing.T) {
	runs := 0
	for _, factor := range factors {
		for _, s := range scalings {
			if s.factor == factor {
				runs++
			}
		}
	}
	if runs != len(scalings) {
		t.Errorf("%d of %d scenarios are run", runs, len(scalings))
	}
}
