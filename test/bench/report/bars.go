package report

// Bar is what Levee has to reach: how many times Levee's CPU time another server
// uses for a request, at least.
type Bar struct {
	Scenario, Against string
	AtLeast           float64
}

// Bars are all of them.
var Bars = []Bar{
	{"h1", "nginx", 1.0},
	{"pipelined", "nginx", 5},
	{"h2c-1", "nginx", 0.9},
	{"h2c-8", "nginx", 3},
	{"h2c-32", "nginx", 6},
	{"h1", "haproxy", 1.3},
	{"h1", "nethttp", 2},
}

// Verdict is a bar and what was measured.
type Verdict struct {
	Bar
	Ratio Spread
	Met   bool
}

// Judge returns the verdicts on the bars for which there are rounds.
func Judge(bars []Bar, scenarios []*Scenario, base string) []Verdict {
	var verdicts []Verdict
	for _, bar := range bars {
		for _, s := range scenarios {
			ratio := s.Ratio(bar.Against, base)
			if s.Name == bar.Scenario && ratio.Median > 0 {
				verdicts = append(verdicts, Verdict{Bar: bar, Ratio: ratio, Met: ratio.Median >= bar.AtLeast})
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
