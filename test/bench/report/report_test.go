package report

import (
	"bytes"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"
	"time"
)

func TestSpread(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   []float64
		want Spread
	}{
		{nil, Spread{}},
		{[]float64{3}, Spread{3, 3, 3}},
		{[]float64{9, 1, 4}, Spread{4, 1, 9}},
		{[]float64{9, 1, 4, 5}, Spread{4.5, 1, 9}},
		{[]float64{2, 2, 2, 100}, Spread{2, 2, 100}},
	} {
		before := append([]float64{}, c.in...)
		if got := SpreadOf(c.in); got != c.want {
			t.Errorf("%v: %+v", c.in, got)
		}
		for i := range before {
			if c.in[i] != before[i] {
				t.Errorf("%v was changed to %v", before, c.in)
			}
		}
	}
}

// rounds makes a scenario from CPU times, Levee's and another server's in turn.
func rounds(name, other string, cpu ...float64) *Scenario {
	s := &Scenario{Name: name, Title: "title of " + name, Servers: []string{"levee", other}, Mallocs: 0.25}
	for i := 0; i < len(cpu); i += 2 {
		s.Rounds = append(s.Rounds, map[string]Sample{
			"levee": {CPU: cpu[i], PerSecond: 1e6 / cpu[i], Server: 1, Load: 0.5},
			other:   {CPU: cpu[i+1], PerSecond: 1e6 / cpu[i+1], Server: 1, Load: 0.5},
		})
	}
	return s
}

// Ratios are taken within a round: that the machine was twice as slow in one of
// them changes nothing.
func TestRatioIsOfARound(t *testing.T) {
	t.Parallel()
	s := rounds("h1", "nginx", 10, 20, 100, 200, 11, 21, 0, 5)
	s.Rounds = append(s.Rounds, map[string]Sample{"levee": {CPU: 1}}) // nothing to compare with
	got := s.Ratio("nginx", "levee")
	if got.Median != 2 || got.Max != 2 || math.Abs(got.Min-21.0/11) > 1e-9 {
		t.Errorf("%+v", got)
	}
	if s.Ratio("haproxy", "levee") != (Spread{}) {
		t.Error("a server that was never asked has a ratio")
	}
	if cpu := s.CPU("nginx"); cpu != (Spread{20.5, 5, 200}) {
		t.Errorf("%+v", cpu)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	scenarios := []*Scenario{rounds("h1", "nginx", 10, 10), rounds("pipelined", "nginx", 10, 49), rounds("h1", "haproxy", 10, 13.5)}
	var got []string
	for _, v := range Judge(Bars, scenarios) {
		got = append(got, v.Scenario+" "+v.Of+" "+v.Word())
	}
	if want := "h1 nginx met, pipelined nginx MISSED, h1 haproxy met"; strings.Join(got, ", ") != want {
		t.Errorf("got %v", got)
	}
}

func page() *Page {
	return &Page{
		Machine: []string{"a machine"}, Method: []string{"a method"}, Base: "levee",
		Scenarios: []*Scenario{rounds("h1", "nginx", 10, 15), rounds("h2c-32", "nginx", 2, 20)},
		Latencies: []Latency{{Server: "nginx", Rate: 1000, Slow: 7, Cut: 3, P50: 1500 * time.Nanosecond, P99: time.Millisecond}},
		Idle:      []Idle{{Server: "levee", Connections: 1024, Before: 1 << 20, After: 5 << 20}},
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := page().Markdown(&b, "engine.png"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"- a machine\n", "- a method\n", "![CPU time for a request](engine.png)",
		"| h1 | nginx | levee | 1.50 | 1.50–1.50 | ≥ 1.00 | met |", "| h2c-32 | nginx | levee | 10.00 | 10.00–10.00 | ≥ 6.00 | met |",
		"## h1: title of h1", "| levee | 10.00 | – | – | 100000 | 100 % | 50 % |", "| nginx | 15.00 | 1.50 | 1.50–1.50 | 66667 | 100 % | 50 % |",
		"levee allocated 0.250 heap objects for a request.", "| nginx | 1000 | 7 | 3 | 2 µs | 1000 µs |",
		"| levee | 1024 | 1.0 MiB | 5.0 MiB | 4.0 KiB |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, b.String())
		}
	}
}

// What was not measured is not mentioned.
func TestMarkdownOfNothing(t *testing.T) {
	t.Parallel()
	p := &Page{Base: "levee"}
	var b strings.Builder
	if err := p.Markdown(&b, ""); err != nil {
		t.Fatal(err)
	}
	if b.String() != "# The attempt engine, measured\n\n" || !p.Empty() || page().Empty() {
		t.Errorf("%q", b.String())
	}
	p.Scenarios = []*Scenario{rounds("h1", "nginx")}
	if len(p.Verdicts()) != 0 {
		t.Error("a verdict without a round")
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := page().Summary(&b); err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"h1 levee 10.00 µs – 0.250 mallocs", "h1 nginx 15.00 µs 1.50", "latency nginx p50 2 µs p99 1000 µs 7 slow clients",
		"idle levee 4.0 KiB a connection 1024 of them", "h1 nginx / levee 1.50 bar ≥ 1.00 met", "h2c-32 nginx / levee 10.00 bar ≥ 6.00 met",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("the summary lacks %q:\n%s", want, b.String())
		}
	}
}

// The bars are as long as the figures: one scale for all.
func TestChart(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := page().Chart(&b); err != nil {
		t.Fatal(err)
	}
	chart, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	lengths := func(of color.Color) (found []int) {
		const left = margin + labelWidth
		r, g, bl, _ := of.RGBA()
		inBar := false
		for y := range chart.Bounds().Dy() {
			n := 0
			for x := left; x < chart.Bounds().Dx(); x++ {
				if cr, cg, cb, _ := chart.At(x, y).RGBA(); cr == r && cg == g && cb == bl {
					n++
				}
			}
			if n > 50 && !inBar {
				found = append(found, n)
			}
			inBar = n > 50
		}
		return found
	}
	mine, others := lengths(ours), lengths(theirs)
	if len(mine) != 2 || len(others) != 2 {
		t.Fatalf("bars of %v and %v", mine, others)
	}
	unit := float64(others[1]) / 20
	for _, bar := range []struct {
		length int
		cpu    float64
	}{{mine[0], 10}, {others[0], 15}, {mine[1], 2}} {
		if math.Abs(float64(bar.length)-bar.cpu*unit) > 1 {
			t.Errorf("%v µs are %d pixels, and 20 are %d", bar.cpu, bar.length, others[1])
		}
	}
}
