package ctl

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/big"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/levee-project/levee/internal/attempt"
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
	// AcceptedPerSecond is to be compared with Quota, where that is known.
	AcceptedPerSecond float64 `json:"accepted_per_second"`
	Quota             string  `json:"quota,omitempty"`
	// Most is how many the quota lets pass in this time, at most.
	Most int64 `json:"quota_allows,omitempty"`
	// Times are milliseconds from when an attempt was due to its answer.
	Times map[string]float64 `json:"milliseconds"`

	histogram *histogram
}

// quantiles are those that are reported.
var quantiles = []struct {
	name string
	of   float64
}{{"p50", .5}, {"p90", .9}, {"p99", .99}, {"p99.9", .999}, {"max", 1}}

func (t *tool) benchCommand() *cobra.Command {
	var l load
	var remote bool
	cmd := &cobra.Command{
		Use:   "bench RESOURCE [METHOD] [--prefix PREFIX]",
		Short: "Put load on a limiter or client-proxy, and measure",
		Long: `Bench sends attempts for --duration and tells how they were answered, how fast,
and how many passed beside what the quota allows, if a store is configured. With --rate
attempts come at that rate whatever the answers take (open loop), evenly or, with
--poisson, at random; times count from when an attempt was due. Without, each connection
asks again as soon as it is answered (closed loop). The attempts count like any others.
Targets that are not this host are refused unless --remote.`,
		Example: `  leveectl bench photos --rate 2000 --poisson --duration 30s
  leveectl bench load --keys 1000000 --zipf 1.1 --http2 --connections 4 --streams 50`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := l.target.parse(args); err != nil {
				return err
			}
			if err := l.valid(); err != nil {
				return err
			}
			conf, err := t.conf()
			if err != nil {
				return err
			}
			l.addr, l.timeout = cmp.Or(l.addr, conf.AttemptAddr), conf.Timeout
			if !remote {
				if err := mustBeHere(cmd.Context(), l.addr, l.timeout); err != nil {
					return err
				}
			}
			return t.bench(cmd.Context(), &l)
		},
	}
	l.flags(cmd)
	cmd.Flags().BoolVar(&remote, "remote", false, "Allow a target that is another host")
	return cmd
}

func (l *load) flags(cmd *cobra.Command) {
	l.target.flags(cmd, false)
	f := cmd.Flags()
	f.StringVar(&l.addr, "addr", "", "Limiter or client-proxy, `HOST:PORT`, over the option attempt-addr")
	f.DurationVar(&l.duration, "duration", 10*time.Second, "How long")
	f.Float64Var(&l.rate, "rate", 0, "`N` attempts a second; 0 = as many as are answered")
	f.BoolVar(&l.poisson, "poisson", false, "Attempts come at random, not evenly (needs --rate)")
	f.BoolVar(&l.http2, "http2", false, "HTTP/2 with prior knowledge rather than HTTP/1.1")
	f.IntVar(&l.connections, "connections", 10, "Connections")
	f.IntVar(&l.streams, "streams", 1, "Attempts under way on one connection (more than 1 needs --http2)")
	f.IntVar(&l.keys, "keys", 1, "Number of resources: RESOURCE-0, RESOURCE-1 and so on; 1 = RESOURCE itself")
	f.Float64Var(&l.zipf, "zipf", 0, "Skew of the resources, more than 1: few come often; 0 = all alike")
}

// The most of what a bench can be asked for.
const (
	maxWorkers  = 10_000
	maxDuration = 24 * time.Hour
	maxPerSec   = 1e7
)

func (l *load) valid() error {
	switch {
	case l.duration <= 0 || l.duration > maxDuration:
		return usage("--duration must be more than 0 and at most %v", maxDuration)
	case !(l.rate >= 0 && l.rate <= maxPerSec): // also what is no number
		return usage("--rate must be from 0 to %v", int64(maxPerSec))
	case l.poisson && l.rate == 0:
		return usage("--poisson needs --rate")
	case l.connections < 1 || l.streams < 1 || l.connections > maxWorkers || l.streams > maxWorkers/l.connections:
		return usage("--connections and --streams must be at least 1, and %d together at most", maxWorkers)
	case l.streams > 1 && !l.http2:
		return usage("--streams needs --http2")
	case l.keys < 1:
		return usage("--keys must be at least 1")
	case l.zipf != 0 && (!(l.zipf > 1) || l.keys == 1):
		return usage("--zipf must be more than 1, and needs --keys")
	}
	return nil
}

// mustBeHere refuses a target that is not this host.
func mustBeHere(ctx context.Context, addr string, timeout time.Duration) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return usage("--addr: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return fmt.Errorf("--addr: %w", err)
	}
	for _, ip := range ips {
		if !ip.Unmap().IsLoopback() {
			return usage("%s is not this host (%s): give --remote if the load is meant for it", addr, ip.Unmap())
		}
	}
	return nil
}

// bench puts the load on, and tells what came of it.
func (t *tool) bench(ctx context.Context, l *load) error {
	r := &report{Addr: l.addr, Times: map[string]float64{}}
	q, group, err := t.quotaOf(ctx, l)
	if err != nil {
		t.note("the quota is not known: %s", oneLine(err))
	}
	all, took := l.run(ctx)
	seconds := took.Seconds()
	r.Seconds, r.histogram = seconds, &all.times
	r.Accepted = all.results[attempt.Accepted.String()]
	r.Rejected = all.results[attempt.Rejected.String()]
	r.Failed = all.results[attempt.Failed.String()]
	r.Attempts = all.times.n
	r.PerSecond, r.AcceptedPerSecond = float64(r.Attempts)/seconds, float64(r.Accepted)/seconds
	if r.Lost = all.lost; all.why != nil {
		r.Why = all.why.Error()
	}
	for _, q := range quantiles {
		r.Times[q.name] = milliseconds(int64(all.times.quantile(q.of)))
	}
	if q != nil {
		rate, _ := q.Rate().Float64()
		burst, _ := new(big.Rat).Add(q.Burst(), big.NewRat(int64(group), 1)).Float64()
		r.Quota, r.Most = q.String(), int64(rate*seconds+burst)
	}
	if err := t.print(r, r.table); err != nil {
		return err
	}
	if r.Lost > 0 {
		return fmt.Errorf("%s without an answer: %s", plural(int(r.Lost), "attempt", "attempts"), oneLineText(r.Why))
	}
	return nil
}

// quotaOf returns the quota of a load on one bucket, and the size of its group;
// nil if there is no store to ask.
func (t *tool) quotaOf(ctx context.Context, l *load) (*quota.Quota, int, error) {
	if len(t.loaded.Storage.Addrs) == 0 || l.keys > 1 {
		return nil, 0, nil
	}
	read, err := t.read(ctx)
	if err != nil {
		return nil, 0, err
	}
	snapshot, _ := quota.NewCompiler().Compile(read)
	a := l.target.attempt()
	q, _ := snapshot.Resolve(a)
	return q, snapshot.Factor(a.Resource), nil
}

func (r *report) table(w io.Writer) {
	lines := tableLines{}
	lines.add("attempts:", fmt.Sprintf("%d in %.1f s, %.0f/s to %s", r.Attempts, r.Seconds, r.PerSecond, r.Addr))
	lines.add("answers:", fmt.Sprintf("%d accepted, %d rejected, %d failed", r.Accepted, r.Rejected, r.Failed))
	if r.Lost > 0 {
		lines.add("no answer:", fmt.Sprintf("%d: %s", r.Lost, r.Why))
	}
	passed := fmt.Sprintf("%.1f/s", r.AcceptedPerSecond)
	if r.Quota != "" {
		passed += fmt.Sprintf("; the quota %s allows %d in this time, %d passed", r.Quota, r.Most, r.Accepted)
	}
	lines.add("accepted:", passed)
	times := ""
	for _, q := range quantiles {
		times += fmt.Sprintf("%s %s  ", q.name, shortTime(time.Duration(r.Times[q.name]*1e6)))
	}
	lines.add("times:", times)
	lines.write(w)
	row(w)
	r.histogram.chart(w)
}
