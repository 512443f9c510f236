package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	o       *options
	site    *target.Site
	page    *report.Page
	servers []*target.Server
}

// all runs what the options ask for. A scenario that fails does not keep the next
// ones from running.
func (b *bench) all(ctx context.Context) error {
	var faults []error
	for _, part := range []func(context.Context) error{b.shared, b.idle} {
		if ctx.Err() != nil {
			break
		}
		if err := part(ctx); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// shared is everything that one set of servers goes through.
func (b *bench) shared(ctx context.Context) error {
	if !slices.ContainsFunc(b.o.only, func(name string) bool { return name != scenarioIdle }) {
		return nil
	}
	defer b.stop()
	if err := b.start(ctx); err != nil {
		return err
	}
	var faults []error
	for _, s := range engineScenarios {
		if b.o.wants(s.name) && ctx.Err() == nil {
			if err := b.engine(ctx, s); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", s.name, err))
			}
		}
	}
	if ctx.Err() == nil {
		if err := b.latencies(ctx); err != nil {
			faults = append(faults, fmt.Errorf("latency: %w", err))
		}
	}
	return errors.Join(faults...)
}

// start starts the servers and makes the keys known to each.
func (b *bench) start(ctx context.Context) error {
	for _, name := range b.o.targets {
		say("starting %s", name)
		s, err := b.site.Start(ctx, name)
		if err != nil {
			return err
		}
		b.servers = append(b.servers, s)
		if _, err := ask(ctx, s, load.Plan{Protocol: load.HTTP1, InFlight: 16, For: b.o.fill}); err != nil {
			return err
		}
	}
	return nil
}

// stop ends the servers, all at once.
func (b *bench) stop() {
	var ends sync.WaitGroup
	for _, s := range b.servers {
		ends.Go(s.Stop)
	}
	ends.Wait()
	b.servers = nil
}

// ask runs a plan on a server. That an attempt is refused is an error: refusing is
// other work, and here nothing is to be refused.
func ask(ctx context.Context, s *target.Server, p load.Plan) (*load.Tally, error) {
	p.Addr, p.Connections, p.Keys = s.Addr(p.Protocol), connections, keys
	t, err := p.Run(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", s.Name, err, s.Log())
	}
	if t.Requests == 0 || t.Accepted() != t.Requests {
		return nil, fmt.Errorf("%s: not all of %d attempts were accepted: by status %v", s.Name, t.Requests, t.Answers)
	}
	return t, nil
}
