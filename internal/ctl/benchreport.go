package ctl

import (
	"fmt"
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/levee-project/levee/internal/ctl/load"
	"github.com/levee-project/levee/internal/explain"
	"github.com/levee-project/levee/internal/quota"
)

// report is what a bench found.
type report struct {
	Addr    string  `json:"addr"`
	Seconds float64 `json:"seconds"`
	// Attempts are those that were answered.
	Attempts  int64   `json:"attempts"`
	PerSecond float64 `json:"per_second"`
	Accepted  int64   `json:"accepted"`
	Rejected  int64   `json:"rejected"`
	Failed    int64   `json:"failed"`
	// Lost are attempts without an answer, and Why the reason of one of them.
	Lost int64  `json:"lost"`
	Why  string `json:"why,omitempty"`
	// AcceptedPerSecond is of the second half of the time: to be compared with the
	// quota, of which an idle bucket passes the burst at once.
	AcceptedPerSecond float64 `json:"accepted_per_second"`
	Quota             *passes `json:"quota,omitempty"`
	// Times are milliseconds from when an attempt was due to its answer.
	Times map[string]float64 `json:"milliseconds"`
	// Octaves are how many of them there were up to a time that doubles from each to
	// the next.
	Octaves []octave `json:"histogram"`
	// CPU is what the bench itself needed for an attempt, in microseconds.
	CPU float64 `json:"own_cpu_us"`
}

// passes is a quota that is known, beside what passed.
type passes struct {
	Value string `json:"value"`
	// Rate is requests a second, and Share which part of it AcceptedPerSecond is.
	Rate  float64 `json:"per_second"`
	Share float64 `json:"share,omitempty"`
	// Most is how many it lets pass in the time of the bench, at most.
	Most int64 `json:"allows"`
}

// octave is a bar of the chart.
type octave struct {
	Below float64 `json:"below_ms"`
	Count int64   `json:"count"`
}

// quantiles are those that are reported.
var quantiles = []struct {
	name string
	of   float64
}{{"p50", .5}, {"p90", .9}, {"p99", .99}, {"p99.9", .999}, {"max", 1}}

func reportOf(b *bench, all *load.Tally) *report {
	r := &report{
		Addr: b.addr, Seconds: all.Took.Seconds(), Attempts: all.Answers(),
		Accepted: all.Accepted, Rejected: all.Rejected, Failed: all.Failed, Lost: all.Lost,
		AcceptedPerSecond: all.Later.AcceptedPerSecond(), Times: map[string]float64{}, Octaves: []octave{},
	}
	if r.Seconds > 0 {
		r.PerSecond = float64(r.Attempts) / r.Seconds
	}
	if r.Attempts > 0 {
		r.CPU = all.CPU.Seconds() * 1e6 / float64(r.Attempts)
	}
	if all.Why != nil {
		r.Why = all.Why.Error()
	}
	for _, q := range quantiles {
		r.Times[q.name] = explain.Milliseconds(int64(all.Times.Quantile(q.of)))
	}
	for _, o := range all.Times.Octaves() {
		r.Octaves = append(r.Octaves, octave{explain.Milliseconds(int64(o.Below)), o.Count})
	}
	return r
}

// compare holds a quota against what passed. A group of limiters passes one request
// more at once for each of them.
func (r *report) compare(q *quota.Quota, group int) {
	rate, _ := q.Rate().Float64()
	burst, _ := new(big.Rat).Add(q.Burst(), big.NewRat(int64(group), 1)).Float64()
	r.Quota = &passes{Value: q.String(), Rate: rate}
	if rate > 0 {
		r.Quota.Share, r.Quota.Most = r.AcceptedPerSecond/rate, int64(rate*r.Seconds+burst)
	}
}

func (r *report) table(w io.Writer) {
	lines := tableLines{}
	lines.add("attempts:", fmt.Sprintf("%d in %.1f s, %.0f/s to %s", r.Attempts, r.Seconds, r.PerSecond, r.Addr))
	lines.add("answers:", fmt.Sprintf("%d accepted, %d rejected, %d failed", r.Accepted, r.Rejected, r.Failed))
	if r.Lost > 0 {
		lines.add("no answer:", fmt.Sprintf("%d: %s", r.Lost, r.Why))
	}
	lines.add("accepted:", fmt.Sprintf("%.1f/s in the second half", r.AcceptedPerSecond))
	if q := r.Quota; q != nil {
		lines.add("quota:", fmt.Sprintf("%s: %.1f %% of its rate; %d allowed in this time, %d passed", q.Value, 100*q.Share, q.Most, r.Accepted))
	}
	times := ""
	for _, q := range quantiles {
		times += fmt.Sprintf("%s %s  ", q.name, shortTime(time.Duration(r.Times[q.name]*1e6)))
	}
	lines.add("times:", times)
	lines.add("own CPU:", shortTime(time.Duration(r.CPU*1e3))+" an attempt")
	lines.write(w)
	row(w)
	r.chart(w)
}

// chartWidth is the length of the longest bar, in characters.
const chartWidth = 50

// chart draws how often which times came.
func (r *report) chart(w io.Writer) {
	most := int64(1)
	for _, o := range r.Octaves {
		most = max(most, o.Count)
	}
	for _, o := range r.Octaves {
		bar := strings.Repeat("#", int((o.Count*chartWidth+most-1)/most))
		_, _ = fmt.Fprintf(w, "%9s  %9d  %s\n", "< "+shortTime(time.Duration(o.Below*1e6)), o.Count, bar) // a buffer takes everything
	}
}

// shortTime is a duration with three digits.
func shortTime(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.3gs", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.3gms", float64(d)/1e6)
	default:
		return fmt.Sprintf("%.3gus", float64(d)/1e3)
	}
}
