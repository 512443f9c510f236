package report

import (
	"fmt"
	"slices"
)

// Spread is a number as it came out in several rounds.
type Spread struct {
	Median, Min, Max float64
}

// SpreadOf returns the spread of some numbers; zero when there are none.
func SpreadOf(numbers []float64) Spread {
	if len(numbers) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(numbers))
	return Spread{Median: median(sorted), Min: sorted[0], Max: sorted[len(sorted)-1]}
}

// median is the middle of sorted numbers, or the mean of the two in the middle.
func median(sorted []float64) float64 {
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// Sample is what one round showed of one server.
type Sample struct {
	// CPU is what the server used for a request, in microseconds.
	CPU float64
	// Proxies is the part of it that the proxies of a cluster used.
	Proxies float64
	// PerSecond is how many requests it answered in a second.
	PerSecond float64
	// Server and Load are the shares of their cores that the server and the load
	// used, 0 to 1. A server is saturated when the load has something to spare.
	Server, Load float64
}

// Scenario is one way to ask, with all the rounds of all the servers.
type Scenario struct {
	// Name is short: h2c-32. Title says it: h2c, 32 streams on each connection.
	Name, Title string
	// Servers are those that were asked, in the order in which they are shown.
	Servers []string
	// Rounds are the samples, by server. In one round all were asked.
	Rounds []map[string]Sample
	// Mallocs is how many heap objects Levee allocated for a request; below 0
	// when that was not measured.
	Mallocs float64
}

// Of returns the spread of a server's figures.
func (s *Scenario) Of(server string, figure func(Sample) float64) Spread {
	var numbers []float64
	for _, round := range s.Rounds {
		if sample, ok := round[server]; ok {
			numbers = append(numbers, figure(sample))
		}
	}
	return SpreadOf(numbers)
}

// CPU returns the spread of a server's CPU time for a request, in microseconds.
func (s *Scenario) CPU(server string) Spread {
	return s.Of(server, func(x Sample) float64 { return x.CPU })
}

// Ratio returns how many times the base's CPU time a server used for a request.
// It is taken in each round, in which both met the same state of the machine, and
// then over the rounds.
func (s *Scenario) Ratio(server, base string) Spread {
	var ratios []float64
	for _, round := range s.Rounds {
		a, b := round[server], round[base]
		if a.CPU > 0 && b.CPU > 0 {
			ratios = append(ratios, a.CPU/b.CPU)
		}
	}
	return SpreadOf(ratios)
}

// none stands where there is nothing to compare.
const none = "–"

// spelled spells a server's ratio to the base and its range; the base's own is
// none.
func (s *Scenario) spelled(server, base string) (median, spread string) {
	r := s.Ratio(server, base)
	if server == base || r.Median == 0 {
		return none, none
	}
	return fmt.Sprintf("%.2f", r.Median), fmt.Sprintf("%.2f–%.2f", r.Min, r.Max)
}
