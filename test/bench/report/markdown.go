package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// Page is everything that was measured.
type Page struct {
	// Machine says where, a line for each fact.
	Machine []string
	// Method says how, a line for each fact.
	Method []string
	// Base is the server that the others are compared with.
	Base      string
	Scenarios []*Scenario
	Latencies []Latency
	Idle      []Idle
}

// Latency is how long answers took in an open loop: the medians over the rounds.
type Latency struct {
	Server string
	// Rate is how many questions were due in a second.
	Rate float64
	// Slow is how many slow clients there were beside, and Cut how often the
	// server has closed the connection of one, in the median round.
	Slow, Cut int
	P50, P99  time.Duration
}

// Idle is what connections cost that have nothing to say.
type Idle struct {
	Server        string
	Connections   int
	Before, After int64 // RSS, octets
}

// Each is the RSS of a connection, in octets.
func (i Idle) Each() float64 { return float64(i.After-i.Before) / float64(i.Connections) }

// Verdicts judges the page by the bars.
func (p *Page) Verdicts() []Verdict { return Judge(Bars, p.Scenarios) }

// Markdown writes the page. picture is the name of the chart's file, "" for none.
func (p *Page) Markdown(w io.Writer, picture string) error {
	var b strings.Builder
	b.WriteString("# The attempt engine, measured\n\n")
	list(&b, p.Machine)
	list(&b, p.Method)
	verdictTable(&b, "CPU time of the other server for a request / Levee's: the median over the rounds, and their range.", p.Verdicts())
	if picture != "" && len(p.Scenarios) > 0 {
		fmt.Fprintf(&b, "![CPU time for a request](%s)\n\n", picture)
	}
	for _, s := range p.Scenarios {
		p.scenario(&b, s)
	}
	p.latencies(&b)
	p.idle(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func list(b *strings.Builder, lines []string) {
	for _, line := range lines {
		fmt.Fprintf(b, "- %s\n", line)
	}
	if len(lines) > 0 {
		b.WriteString("\n")
	}
}

// verdictTable writes what became of the bars. measure says what a ratio is of.
func verdictTable(b *strings.Builder, measure string, verdicts []Verdict) {
	if len(verdicts) == 0 {
		return
	}
	b.WriteString("## Bars\n\n" + measure + "\n\n")
	b.WriteString("| scenario | of | to | ratio | range | bar | |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, v := range verdicts {
		fmt.Fprintf(b, "| %s | %s | %s | %.2f | %.2f–%.2f | %s | %s |\n",
			v.Scenario, v.Of, v.To, v.Ratio.Median, v.Ratio.Min, v.Ratio.Max, v.Bound(), v.Word())
	}
	b.WriteString("\n")
}

func (p *Page) scenario(b *strings.Builder, s *Scenario) {
	fmt.Fprintf(b, "## %s: %s\n\n", s.Name, s.Title)
	b.WriteString("| server | CPU µs/request | / " + p.Base + " | range | requests/s | server's core | load's core |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, server := range s.Servers {
		ratio, spread := s.spelled(server, p.Base)
		fmt.Fprintf(b, "| %s | %.2f | %s | %s | %.0f | %.0f %% | %.0f %% |\n",
			server, s.CPU(server).Median, ratio, spread,
			s.Of(server, func(x Sample) float64 { return x.PerSecond }).Median,
			100*s.Of(server, func(x Sample) float64 { return x.Server }).Median,
			100*s.Of(server, func(x Sample) float64 { return x.Load }).Median)
	}
	if s.Mallocs >= 0 {
		fmt.Fprintf(b, "\n%s allocated %.3f heap objects for a request.\n", p.Base, s.Mallocs)
	}
	b.WriteString("\n")
}

func (p *Page) latencies(b *strings.Builder) {
	if len(p.Latencies) == 0 {
		return
	}
	b.WriteString("## Latency at half the load\n\nHTTP/1.1, open loop at half of what the slowest of these answers. " +
		"A latency counts from when the question was due.\n\n")
	b.WriteString("| server | requests/s | slow clients | of these cut off | p50 | p99 |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, l := range p.Latencies {
		fmt.Fprintf(b, "| %s | %.0f | %d | %d | %s | %s |\n", l.Server, l.Rate, l.Slow, l.Cut, micros(l.P50), micros(l.P99))
	}
	b.WriteString("\n")
}

func micros(d time.Duration) string { return fmt.Sprintf("%.0f µs", float64(d)/1e3) }

func (p *Page) idle(b *strings.Builder) {
	if len(p.Idle) == 0 {
		return
	}
	b.WriteString("## Idle connections\n\nHTTP/1.1, kept alive after one request each, to a server that has just started. The kernel's share is not in it.\n\n")
	b.WriteString("| server | connections | RSS before | RSS after | a connection |\n| --- | --- | --- | --- | --- |\n")
	for _, i := range p.Idle {
		fmt.Fprintf(b, "| %s | %d | %.1f MiB | %.1f MiB | %.1f KiB |\n",
			i.Server, i.Connections, float64(i.Before)/(1<<20), float64(i.After)/(1<<20), i.Each()/1024)
	}
	b.WriteString("\n")
}

// Summary writes the verdicts and what else a person wants to know first.
func (p *Page) Summary(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "scenario\tserver\tCPU a request\t/ %s\n", p.Base)
	for _, s := range p.Scenarios {
		for _, server := range s.Servers {
			ratio, _ := s.spelled(server, p.Base)
			fmt.Fprintf(table, "%s\t%s\t%.2f µs\t%s\t", s.Name, server, s.CPU(server).Median, ratio)
			if server == p.Base && s.Mallocs >= 0 {
				fmt.Fprintf(table, "%.3f mallocs", s.Mallocs)
			}
			fmt.Fprintln(table)
		}
	}
	for _, l := range p.Latencies {
		fmt.Fprintf(table, "latency\t%s\tp50 %s\tp99 %s\t%d slow clients, %.0f/s\n", l.Server, micros(l.P50), micros(l.P99), l.Slow, l.Rate)
	}
	for _, i := range p.Idle {
		fmt.Fprintf(table, "idle\t%s\t%.1f KiB\ta connection\t%d of them\n", i.Server, i.Each()/1024, i.Connections)
	}
	return summarise(w, table, p.Verdicts())
}

// summarise ends a summary with the verdicts.
func summarise(w io.Writer, table *tabwriter.Writer, verdicts []Verdict) error {
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, v := range verdicts {
		fmt.Fprintf(table, "%s\t%s / %s\t%.2f\tbar %s\t%s\n", v.Scenario, v.Of, v.To, v.Ratio.Median, v.Bound(), v.Word())
	}
	return table.Flush()
}

// Chart writes a PNG: for each scenario the CPU time that each server used for a
// request.
func (p *Page) Chart(w io.Writer) error {
	c := chart{
		title:  "CPU time of the server for a request, in microseconds; less is better",
		legend: "medians of interleaved rounds; in brackets how many times Levee's",
	}
	for _, s := range p.Scenarios {
		g := barGroup{title: s.Title}
		for _, server := range s.Servers {
			ratio, _ := s.spelled(server, p.Base)
			cpu, colour := s.CPU(server).Median, theirs
			if server == p.Base {
				colour = ours
			}
			g.bars = append(g.bars, bar{server, microseconds(cpu, ratio), []barPart{{cpu, colour}}})
		}
		c.groups = append(c.groups, g)
	}
	return c.write(w)
}

// Empty says whether nothing was measured.
func (p *Page) Empty() bool {
	return len(p.Scenarios) == 0 && len(p.Latencies) == 0 && len(p.Idle) == 0
}
