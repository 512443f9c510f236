package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/levee-project/levee/test/bench/load"
	"github.com/levee-project/levee/test/bench/report"
	"github.com/levee-project/levee/test/bench/target"
)

// hop is a way to ask a limiter directly and through a proxy.
type hop struct {
	name, title string
	protocol    load.Protocol
	inFlight    int
}

var hops = []hop{
	{"hop-h1", "a proxy hop, HTTP/1.1, 64 connections", load.HTTP1, 1},
	{"hop-h2c-1", "a proxy hop, h2c, 64 connections, 1 stream on each", load.H2C, 1},
	{"hop-h2c-8", "a proxy hop, h2c, 64 connections, 8 streams on each", load.H2C, 8},
	{"hop-h2c-32", "a proxy hop, h2c, 64 connections, 32 streams on each", load.H2C, 32},
}

// hops measures what a proxy before a limiter costs. The limiter that is asked
// directly is the same one.
func (b *bench) hops(ctx context.Context) error {
	if !slices.ContainsFunc(hops, func(h hop) bool { return b.o.wants(h.name) }) {
		return nil
	}
	c, err := b.start(ctx, target.ClusterOptions{Limiters: 1, Proxies: 1, Factor: 1})
	if err != nil {
		return err
	}
	defer c.Stop()
	var faults []error
	for _, h := range hops {
		if b.o.wants(h.name) && ctx.Err() == nil {
			if err := b.hop(ctx, c, h); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", h.name, err))
			}
		}
	}
	return errors.Join(faults...)
}

func (b *bench) hop(ctx context.Context, c *target.Cluster, h hop) error {
	say("%s: %s", h.name, h.title)
	limiter := c.Limiters[0]
	used := func() (_, used time.Duration, err error) { used, err = limiter.CPU(); return 0, used, err }
	plan := func(at ...netip.AddrPort) load.Plan {
		return load.Plan{Protocol: h.protocol, InFlight: h.inFlight, Addrs: at, Connections: connections}
	}
	rounds, err := b.rounds(ctx, []subject{
		{report.Direct, plan(limiter.Addr(h.protocol)), used},
		{report.Proxied, plan(c.Addrs(h.protocol)...), c.CPU},
	})
	if err != nil {
		return err
	}
	for _, round := range rounds {
		behind := round[report.Proxied]
		behind.CPU, behind.Proxies = behind.CPU-behind.Proxies, 0
		round[report.Behind] = behind
	}
	b.page.Scenarios = append(b.page.Scenarios, &report.Scenario{
		Name: h.name, Title: h.title, Servers: []string{report.Direct, report.Proxied, report.Behind}, Rounds: rounds,
	})
	return c.Check(ctx)
}
