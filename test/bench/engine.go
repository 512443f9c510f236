package main

import (
	"context"
	"fmt"
	"time"

	"github.com/levee-project/levee/test/bench/load"
	"github.com/levee-project/levee/test/bench/report"
	"github.com/levee-project/levee/test/bench/target"
)

// engineScenario is a way to ask in a closed loop.
type engineScenario struct {
	name, title string
	protocol    load.Protocol
	inFlight    int
}

var engineScenarios = []engineScenario{
	{"h1", "HTTP/1.1, 64 connections", load.HTTP1, 1},
	{"pipelined", "HTTP/1.1, 64 connections, pipelined 16 deep", load.HTTP1, 16},
	{"h2c-1", "h2c, 64 connections, 1 stream on each", load.H2C, 1},
	{"h2c-8", "h2c, 64 connections, 8 streams on each", load.H2C, 8},
	{"h2c-32", "h2c, 64 connections, 32 streams on each", load.H2C, 32},
}

// The other scenarios.
const (
	scenarioLatency = "latency"
	scenarioSlow    = "slow"
	scenarioIdle    = "idle"
)

func scenarioNames() (names []string) {
	for _, s := range engineScenarios {
		names = append(names, s.name)
	}
	return append(names, scenarioLatency, scenarioSlow, scenarioIdle)
}

// engine runs the rounds of a scenario, and one more of Levee for its
// allocations.
func (b *bench) engine(ctx context.Context, s engineScenario) error {
	say("%s: %s", s.name, s.title)
	result := &report.Scenario{Name: s.name, Title: s.title, Servers: b.o.targets, Mallocs: -1}
	for n := range b.o.rounds {
		round := map[string]report.Sample{}
		for i := range b.servers {
			server := b.servers[(n+i)%len(b.servers)]
			sample, err := b.sample(ctx, server, s)
			if err != nil {
				return err
			}
			round[server.Name] = sample
		}
		result.Rounds = append(result.Rounds, round)
	}
	b.page.Scenarios = append(b.page.Scenarios, result)
	for _, server := range b.servers {
		if server.Name == target.Levee {
			var err error
			if result.Mallocs, err = b.mallocs(ctx, server, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// sample asks one server in one round.
func (b *bench) sample(ctx context.Context, server *target.Server, s engineScenario) (report.Sample, error) {
	var before, after time.Duration
	t, err := ask(ctx, server, load.Plan{
		Protocol: s.protocol, InFlight: s.inFlight, Warm: warm, For: b.o.length(),
		Begin: func() (err error) { before, err = server.CPU(); return err },
		End:   func() (err error) { after, err = server.CPU(); return err },
	})
	if err != nil {
		return report.Sample{}, err
	}
	return report.Sample{
		CPU:       float64(after-before) / float64(time.Microsecond) / float64(t.Requests),
		PerSecond: t.PerSecond(),
		Server:    (after - before).Seconds() / t.Took.Seconds(),
		Load:      t.CPU.Seconds() / t.Took.Seconds(),
	}, nil
}

// mallocs counts Levee's allocations for a request, once its connections are
// open. What the asking costs by itself is taken off.
func (b *bench) mallocs(ctx context.Context, server *target.Server, s engineScenario) (float64, error) {
	var at [2]float64
	for i := range at { // the first time costs more
		n, err := server.Mallocs(ctx)
		if err != nil {
			return 0, err
		}
		at[i] = n
	}
	asking := at[1] - at[0]
	var before, after float64
	t, err := ask(ctx, server, load.Plan{
		Protocol: s.protocol, InFlight: s.inFlight, Warm: warm, For: b.o.length(),
		Begin: func() (err error) { before, err = server.Mallocs(ctx); return err },
		End:   func() (err error) { after, err = server.Mallocs(ctx); return err },
	})
	if err != nil {
		return 0, fmt.Errorf("allocations: %w", err)
	}
	return max(0, after-before-asking) / float64(t.Requests), nil
}
