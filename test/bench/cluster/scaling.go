package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/levee-project/levee/test/bench/load"
	"github.com/levee-project/levee/test/bench/report"
	"github.com/levee-project/levee/test/bench/target"
)

// scaling is a way to ask clusters that differ in their number of limiters.
type scaling struct {
	name, title string
	protocol    load.Protocol
	inFlight    int
	rate        float64 // of an open loop; 0 for a closed one
	factor      int
}

// At a given rate an attempt is mostly alone on its way, and costs what it costs
// wherever it is decided. As fast as it goes, reads and writes serve many attempts
// at once, the more of them the more go to one limiter, and up to ten processes
// that are never idle take turns on one core. That shows the worst of it, and has
// no bar.
var scalings = []scaling{
	{"scaling", "limiters behind two proxies, D = 1, HTTP/1.1, 64 connections, 20,000 requests a second", load.HTTP1, 1, 20_000, 1},
	{"saturated-h1", "limiters behind two proxies, D = 1, HTTP/1.1, 64 connections, as fast as it goes", load.HTTP1, 1, 0, 1},
	{"saturated-h2c", "limiters behind two proxies, D = 1, h2c, 64 connections, 32 streams on each, as fast as it goes", load.H2C, 32, 0, 1},
	{"scaling-d2", "limiters behind two proxies, D = 2, HTTP/1.1, 64 connections, 20,000 requests a second", load.HTTP1, 1, 20_000, 2},
}

// factors are the group sizes D for which clusters are started.
var factors = []int{1, 2}

// frontends is how many proxies a cluster that is scaled has.
const frontends = 2

// scaled measures clusters of all sizes side by side, with one group size.
func (b *bench) scaled(ctx context.Context, factor int) error {
	wanted := slices.DeleteFunc(slices.Clone(scalings), func(s scaling) bool { return s.factor != factor || !b.o.wants(s.name) })
	if len(wanted) == 0 {
		return nil
	}
	var clusters []*target.Cluster
	defer func() { stop(clusters) }()
	for _, n := range b.o.sizes {
		c, err := b.start(ctx, target.ClusterOptions{Limiters: n, Proxies: frontends, Factor: factor})
		if err != nil {
			return err
		}
		clusters = append(clusters, c)
	}
	var faults []error
	for _, s := range wanted {
		if err := b.scaling(ctx, clusters, s); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", s.name, err))
		}
	}
	return errors.Join(faults...)
}

func (b *bench) scaling(ctx context.Context, clusters []*target.Cluster, s scaling) (err error) {
	say("%s: %s", s.name, s.title)
	result := &report.Scenario{Name: s.name, Title: s.title, Mallocs: -1}
	var subjects []subject
	for _, c := range clusters {
		size := report.Limiters(len(c.Limiters))
		subjects = append(subjects, subject{size, load.Plan{
			Protocol: s.protocol, InFlight: s.inFlight, Rate: s.rate, Addrs: c.Addrs(s.protocol), Connections: connections,
		}, c.CPU})
		result.Servers = append(result.Servers, size)
	}
	if result.Rounds, err = b.rounds(ctx, subjects); err != nil {
		return err
	}
	b.page.Scenarios = append(b.page.Scenarios, result)
	for _, c := range clusters {
		if err := c.Check(ctx); err != nil {
			return fmt.Errorf("%s: %w", report.Limiters(len(c.Limiters)), err)
		}
	}
	return nil
}
