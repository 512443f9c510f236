package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/levee-project/levee/test/bench/load"
	"github.com/levee-project/levee/test/bench/report"
	"github.com/levee-project/levee/test/bench/target"
)

// The load that all scenarios have in common.
const (
	connections = 64
	keys        = 100_000
	warm        = 250 * time.Millisecond // of each run, not counted
)

// bench is one run of the program.
type bench struct {
	o     *options
	site  *target.Site
	store *target.Store
	page  *report.ClusterPage
}

// scenarioNames lists what there is, in the order in which it is run.
func scenarioNames() (names []string) {
	for _, h := range hops {
		names = append(names, h.name)
	}
	for _, s := range scalings {
		names = append(names, s.name)
	}
	return names
}

// all runs what the options ask for. A scenario that fails does not keep the next
// ones from running.
func (b *bench) all(ctx context.Context) error {
	faults := []error{b.hops(ctx)}
	for _, factor := range factors {
		if ctx.Err() == nil {
			faults = append(faults, b.scaled(ctx, factor))
		}
	}
	return errors.Join(faults...)
}

// start starts a cluster and makes the keys known to it.
func (b *bench) start(ctx context.Context, o target.ClusterOptions) (*target.Cluster, error) {
	say("starting a cluster of %s", report.Limiters(o.Limiters))
	c, err := b.site.StartCluster(ctx, b.store, o)
	if err != nil {
		return nil, err
	}
	fill := load.Plan{Protocol: load.H2C, InFlight: 32, Addrs: c.Addrs(load.H2C), Connections: 8, For: b.o.fill}
	if _, err := ask(ctx, fill); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// stop ends clusters, all at once.
func stop(clusters []*target.Cluster) {
	var ends sync.WaitGroup
	for _, c := range clusters {
		ends.Go(c.Stop)
	}
	ends.Wait()
}

// subject is what is asked in a round, and how its CPU time is told.
type subject struct {
	name string
	plan load.Plan
	cpu  func() (proxies, limiters time.Duration, err error)
}

// sample asks a subject once.
func (b *bench) sample(ctx context.Context, s subject) (report.Sample, error) {
	var before, after [2]time.Duration
	p := s.plan
	p.Warm, p.For = warm, b.o.length()
	p.Begin = func() (err error) { before[0], before[1], err = s.cpu(); return err }
	p.End = func() (err error) { after[0], after[1], err = s.cpu(); return err }
	t, err := ask(ctx, p)
	if err != nil {
		return report.Sample{}, fmt.Errorf("%s: %w", s.name, err)
	}
	proxies, limiters := after[0]-before[0], after[1]-before[1]
	each := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) / float64(t.Requests) }
	return report.Sample{
		CPU:       each(proxies + limiters),
		Proxies:   each(proxies),
		PerSecond: t.PerSecond(),
		Server:    (proxies + limiters).Seconds() / t.Took.Seconds(),
		Load:      t.CPU.Seconds() / t.Took.Seconds(),
	}, nil
}

// rounds asks all subjects in turn, in another order each time.
func (b *bench) rounds(ctx context.Context, subjects []subject) (rounds []map[string]report.Sample, err error) {
	for n := range b.o.rounds {
		round := map[string]report.Sample{}
		for i := range subjects {
			s := subjects[(n+i)%len(subjects)]
			if round[s.name], err = b.sample(ctx, s); err != nil {
				return nil, err
			}
		}
		rounds = append(rounds, round)
	}
	return rounds, nil
}

// ask runs a plan. That an attempt is not accepted is an error: that is other
// work, and here nothing is to be refused.
func ask(ctx context.Context, p load.Plan) (*load.Tally, error) {
	p.Keys = keys
	t, err := p.Run(ctx)
	if err != nil {
		return nil, err
	}
	if t.Requests == 0 || t.Accepted() != t.Requests {
		return nil, fmt.Errorf("not all of %d attempts were accepted: by status %v", t.Requests, t.Answers)
	}
	return t, nil
}
