package report

import "fmt"

// Bar is what Levee has to reach: a bound on how many times the CPU time that one
// server used for a request is that of another, Of's divided by To's.
type Bar struct {
	Scenario, Of, To string
	// AtLeast or AtMost is the bound; the other is 0.
	AtLeast, AtMost float64
}

// Bars are those of the attempt engine.
var Bars = []Bar{
	{Scenario: "h1", Of: "nginx", To: "levee", AtLeast: 1.0},
	{Scenario: "pipelined", Of: "nginx", To: "levee", AtLeast: 5},
	{Scenario: "h2c-1", Of: "nginx", To: "levee", AtLeast: 0.9},
	{Scenario: "h2c-8", Of: "nginx", To: "levee", AtLeast: 3},
	{Scenario: "h2c-32", Of: "nginx", To: "levee", AtLeast: 6},
	{Scenario: "h1", Of: "haproxy", To: "levee", AtLeast: 1.3},
	{Scenario: "h1", Of: "nethttp", To: "levee", AtLeast: 2},
}

// Names of what a proxy hop is measured by.
const (
	// Direct is a limiter that is asked without a proxy.
	Direct = "direct"
	// Proxied is a proxy and the same limiter behind it.
	Proxied = "proxy + limiter"
	// Behind is the limiter's part of that.
	Behind = "limiter behind"
)

// Limiters names a cluster by how many limiters it has.
func Limiters(n int) string {
	if n == 1 {
		return "1 limiter"
	}
	return fmt.Sprintf("%d limiters", n)
}

// ClusterBars are those of the cluster: what a proxy hop may cost, and by how much
// an attempt may become dearer when the limiters become more.
var ClusterBars = []Bar{
	{Scenario: "hop-h1", Of: Direct, To: Proxied, AtLeast: 0.65},
	{Scenario: "hop-h2c-32", Of: Direct, To: Proxied, AtLeast: 0.65},
	{Scenario: "hop-h1", Of: Behind, To: Direct, AtMost: 0.35},
	{Scenario: "hop-h2c-32", Of: Behind, To: Direct, AtMost: 0.35},
	{Scenario: "scaling", Of: Limiters(8), To: Limiters(1), AtMost: 1.10},
	{Scenario: "scaling-d2", Of: Limiters(8), To: Limiters(1), AtMost: 1.10},
}

// Bound is how the bound is told.
func (b Bar) Bound() string {
	if b.AtMost > 0 {
		return fmt.Sprintf("≤ %.2f", b.AtMost)
	}
	return fmt.Sprintf("≥ %.2f", b.AtLeast)
}

// Verdict is a bar and what was measured.
type Verdict struct {
	Bar
	Ratio Spread
	Met   bool
}

// Judge returns the verdicts on the bars for which there are rounds.
func Judge(bars []Bar, scenarios []*Scenario) []Verdict {
	var verdicts []Verdict
	for _, bar := range bars {
		for _, s := range scenarios {
			ratio := s.Ratio(bar.Of, bar.To)
			if s.Name == bar.Scenario && ratio.Median > 0 {
				met := ratio.Median >= bar.AtLeast && (bar.AtMost == 0 || ratio.Median <= bar.AtMost)
				verdicts = append(verdicts, Verdict{Bar: bar, Ratio: ratio, Met: met})
			}
		}
	}
	return verdicts
}

// Word is how a verdict is told.
func (v Verdict) Word() string {
	if v.Met {
		return "met"
	}
	return "MISSED"
}
