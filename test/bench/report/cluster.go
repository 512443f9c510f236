package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// ClusterPage is everything that was measured of clusters. The first server of a
// scenario is what the others are compared with.
type ClusterPage struct {
	// Machine says where and Method how, a line for each fact.
	Machine, Method []string
	Scenarios       []*Scenario
}

// Verdicts judges the page by the bars.
func (p *ClusterPage) Verdicts() []Verdict { return Judge(ClusterBars, p.Scenarios) }

// Empty says whether nothing was measured.
func (p *ClusterPage) Empty() bool { return len(p.Scenarios) == 0 }

// Markdown writes the page. picture is the name of the chart's file.
func (p *ClusterPage) Markdown(w io.Writer, picture string) error {
	var b strings.Builder
	b.WriteString("# The cluster, measured\n\n")
	list(&b, p.Machine)
	list(&b, p.Method)
	verdictTable(&b, "CPU time for a request, the one / the other: the median over the rounds, and their range.", p.Verdicts())
	fmt.Fprintf(&b, "![CPU time for a request](%s)\n\n", picture)
	for _, s := range p.Scenarios {
		clusterTable(&b, s)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func clusterTable(b *strings.Builder, s *Scenario) {
	base := s.Servers[0]
	fmt.Fprintf(b, "## %s: %s\n\n", s.Name, s.Title)
	b.WriteString("| | CPU µs/request | of these proxies | limiters | / " + base + " | range | requests/s | servers' core | load's core |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, server := range s.Servers {
		ratio, spread := s.spelled(server, base)
		fmt.Fprintf(b, "| %s | %.2f | %.2f | %.2f | %s | %s | %.0f | %.0f %% | %.0f %% |\n",
			server, s.CPU(server).Median,
			s.Of(server, proxies).Median, s.Of(server, limiters).Median, ratio, spread,
			s.Of(server, func(x Sample) float64 { return x.PerSecond }).Median,
			100*s.Of(server, func(x Sample) float64 { return x.Server }).Median,
			100*s.Of(server, func(x Sample) float64 { return x.Load }).Median)
	}
	b.WriteString("\n")
}

func proxies(x Sample) float64  { return x.Proxies }
func limiters(x Sample) float64 { return x.CPU - x.Proxies }

// Chart writes a PNG: the CPU time for a request, the proxies' and the limiters'.
func (p *ClusterPage) Chart(w io.Writer) error {
	c := chart{
		title:  "CPU time of proxies and limiters for a request, in microseconds; less is better",
		legend: "blue: limiters, orange: proxies; medians of interleaved rounds; in brackets how many times the first one's",
	}
	for _, s := range p.Scenarios {
		g := barGroup{title: s.Title}
		for _, server := range s.Servers {
			ratio, _ := s.spelled(server, s.Servers[0])
			g.bars = append(g.bars, bar{
				label: server, figure: microseconds(s.CPU(server).Median, ratio),
				parts: []barPart{{s.Of(server, limiters).Median, ours}, {s.Of(server, proxies).Median, ahead}},
			})
		}
		c.groups = append(c.groups, g)
	}
	return c.write(w)
}

// Summary writes the verdicts and what else a person wants to know first. A
// microsecond for a request is a second for a million of them.
func (p *ClusterPage) Summary(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "scenario\t\tCPU a million requests\tproxies\tlimiters\t/ the first\n")
	for _, s := range p.Scenarios {
		for _, server := range s.Servers {
			ratio, _ := s.spelled(server, s.Servers[0])
			fmt.Fprintf(table, "%s\t%s\t%.2f s\t%.2f s\t%.2f s\t%s\n", s.Name, server,
				s.CPU(server).Median, s.Of(server, proxies).Median, s.Of(server, limiters).Median, ratio)
		}
	}
	return summarise(w, table, p.Verdicts())
}
