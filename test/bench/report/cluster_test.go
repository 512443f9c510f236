package report

import (
	"bytes"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// clusterPage is a hop that costs as much as may be, and clusters whose cost grows
// too much.
func clusterPage() *ClusterPage {
	hop := &Scenario{Name: "hop-h1", Title: "a hop", Servers: []string{Direct, Proxied, Behind}, Rounds: []map[string]Sample{
		{Direct: {CPU: 6.5, PerSecond: 1000, Server: 1, Load: 0.5}, Proxied: {CPU: 10, Proxies: 8, PerSecond: 500}, Behind: {CPU: 2}},
	}}
	scaling := &Scenario{Name: "scaling", Title: "more limiters", Servers: []string{Limiters(1), Limiters(8)}, Rounds: []map[string]Sample{
		{Limiters(1): {CPU: 2, Proxies: 1}, Limiters(8): {CPU: 2.22, Proxies: 1}},
		{Limiters(1): {CPU: 20, Proxies: 10}, Limiters(8): {CPU: 22.2, Proxies: 10}},
	}}
	return &ClusterPage{Machine: []string{"a machine"}, Method: []string{"a method"}, Scenarios: []*Scenario{hop, scaling}}
}

func TestJudgeClusters(t *testing.T) {
	t.Parallel()
	var got []string
	for _, v := range clusterPage().Verdicts() {
		got = append(got, v.Scenario+" "+v.Bound()+" "+v.Word())
	}
	if want := "hop-h1 ≥ 0.65 met, hop-h1 ≤ 0.35 met, scaling ≤ 1.10 MISSED"; strings.Join(got, ", ") != want {
		t.Errorf("got %v", got)
	}
	for _, c := range []struct {
		behind float64
		met    bool
	}{{3.5, true}, {3.51, false}} {
		s := &Scenario{Name: "x", Rounds: []map[string]Sample{{Direct: {CPU: 10}, Behind: {CPU: c.behind}}}}
		if v := Judge([]Bar{{Scenario: "x", Of: Behind, To: Direct, AtMost: 0.35}}, []*Scenario{s}); len(v) != 1 || v[0].Met != c.met {
			t.Errorf("%v: %+v", c.behind, v)
		}
	}
}

func TestClusterMarkdown(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := clusterPage().Markdown(&b, "cluster.png"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"- a machine\n", "- a method\n", "![CPU time for a request](cluster.png)",
		"| hop-h1 | direct | proxy + limiter | 0.65 | 0.65–0.65 | ≥ 0.65 | met |",
		"| scaling | 8 limiters | 1 limiter | 1.11 | 1.11–1.11 | ≤ 1.10 | MISSED |",
		"## hop-h1: a hop", "| direct | 6.50 | 0.00 | 6.50 | – | – | 1000 | 100 % | 50 % |",
		"| proxy + limiter | 10.00 | 8.00 | 2.00 | 1.54 | 1.54–1.54 | 500 |", "| 8 limiters | 12.21 | 5.50 | 6.71 | 1.11 |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, b.String())
		}
	}
}

func TestClusterSummary(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := clusterPage().Summary(&b); err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"hop-h1 proxy + limiter 10.00 s 8.00 s 2.00 s 1.54", "scaling 1 limiter 11.00 s 5.50 s 5.50 s –",
		"hop-h1 limiter behind / direct 0.31 bar ≤ 0.35 met", "scaling 8 limiters / 1 limiter 1.11 bar ≤ 1.10 MISSED",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("the summary lacks %q:\n%s", want, b.String())
		}
	}
}

// A bar is the limiters' part and behind it the proxies'.
func TestClusterChart(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := clusterPage().Chart(&b); err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	pixels := func(of color.RGBA) (n int) { // in the middle of the second bar
		const y = margin + titleHeight + groupTitle + barHeight + barGap + barHeight/2
		for x := margin + labelWidth; x < chartWidth; x++ {
			if picture.At(x, y) == of {
				n++
			}
		}
		return n
	}
	limiters, proxies := pixels(ours), pixels(ahead)
	if limiters < 50 || math.Abs(float64(proxies)/float64(limiters)-4) > 0.05 {
		t.Errorf("2 µs are %d pixels, 8 are %d", limiters, proxies)
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	for _, c := range []struct {
		name    string
		charted bool
	}{{"with", true}, {"without", false}} {
		paths, err := Write(dir, c.name, page(), c.charted)
		if err != nil || len(paths) == 0 || paths[0] != filepath.Join(dir, c.name+".md") {
			t.Fatalf("%v, %v", paths, err)
		}
		text, err := os.ReadFile(paths[0])
		if err != nil || strings.Contains(string(text), c.name+".png") != c.charted {
			t.Errorf("%s, %v", text, err)
		}
		if _, err := os.Stat(filepath.Join(dir, c.name+".png")); (err == nil) != c.charted || len(paths) == 2 != c.charted {
			t.Errorf("%s: %v, %v", c.name, paths, err)
		}
	}
	file := filepath.Join(dir, "with.md")
	if _, err := Write(file, "x", page(), false); err == nil {
		t.Error("a file is taken for a directory")
	}
}
