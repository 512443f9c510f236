package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/levee-project/levee/test/bench/load"
	"github.com/levee-project/levee/test/bench/report"
	"github.com/levee-project/levee/test/bench/target"
)

const (
	slowPeriod = time.Second // between two octets of one
	slowTimes  = 8           // a run beside them is longer: what heads may take shows after ten seconds
)

// latencies measures Levee and NGINX in an open loop, at the same rate.
func (b *bench) latencies(ctx context.Context) error {
	if !b.o.wants(scenarioLatency) && !b.o.wants(scenarioSlow) {
		return nil
	}
	var pair []*target.Server
	for _, s := range b.servers {
		if s.Name == target.Levee || s.Name == target.NGINX {
			pair = append(pair, s)
		}
	}
	if len(pair) == 0 {
		return nil
	}
	rate, err := b.halfOfSlowest(ctx, pair)
	if err != nil {
		return err
	}
	if b.o.wants(scenarioLatency) {
		if err := b.latency(ctx, pair, latencyPlan{rate: rate, length: b.o.length(), rounds: b.o.rounds}); err != nil {
			return err
		}
	}
	if !b.o.wants(scenarioSlow) {
		return nil
	}
	for _, slow := range []int{0, b.o.slow} {
		// Their connections come over a period; then it counts.
		p := latencyPlan{rate: rate, length: slowTimes * b.o.length(), rounds: (b.o.rounds + 2) / 3, slow: slow, warm: slowPeriod}
		if err := b.latency(ctx, pair, p); err != nil {
			return err
		}
	}
	return nil
}

// halfOfSlowest is half of what the slower of the servers answers.
func (b *bench) halfOfSlowest(ctx context.Context, servers []*target.Server) (float64, error) {
	var rates []float64
	for _, s := range servers {
		t, err := ask(ctx, s, load.Plan{Protocol: load.HTTP1, InFlight: 1, Warm: warm, For: b.o.length()})
		if err != nil {
			return 0, err
		}
		rates = append(rates, t.PerSecond())
	}
	return slices.Min(rates) / 2, nil
}

// latencyPlan is what latency does with each server.
type latencyPlan struct {
	rate   float64
	length time.Duration
	rounds int
	slow   int // clients
	warm   time.Duration
}

// latency runs interleaved rounds and notes the medians.
func (b *bench) latency(ctx context.Context, servers []*target.Server, p latencyPlan) error {
	say("latency at %.0f/s, %d slow clients beside", p.rate, p.slow)
	p50, p99, cut := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	for n := range p.rounds {
		for i := range servers {
			s := servers[(n+i)%len(servers)]
			t, closed, err := b.openLoop(ctx, s, p)
			if err != nil {
				return err
			}
			p50[s.Name] = append(p50[s.Name], float64(t.Latency.Quantile(0.50)))
			p99[s.Name] = append(p99[s.Name], float64(t.Latency.Quantile(0.99)))
			cut[s.Name] = append(cut[s.Name], float64(closed))
		}
	}
	for _, s := range servers {
		b.page.Latencies = append(b.page.Latencies, report.Latency{
			Server: s.Name, Rate: p.rate, Slow: p.slow, Cut: int(report.SpreadOf(cut[s.Name]).Median),
			P50: time.Duration(report.SpreadOf(p50[s.Name]).Median),
			P99: time.Duration(report.SpreadOf(p99[s.Name]).Median),
		})
	}
	return nil
}

func (b *bench) openLoop(ctx context.Context, s *target.Server, p latencyPlan) (t *load.Tally, cut int, err error) {
	plan := load.Plan{Protocol: load.HTTP1, InFlight: 1, Rate: p.rate, Warm: max(warm, p.warm), For: p.length}
	if p.slow == 0 {
		t, err = ask(ctx, s, plan)
		return t, 0, err
	}
	fleet := load.NewFleet(s.Addr(load.HTTP1), p.slow, slowPeriod)
	plan.Beside = fleet.Turn
	t, err = ask(ctx, s, plan)
	cut = fleet.Closed()
	if closed := fleet.Close(); err == nil && closed != nil {
		err = fmt.Errorf("slow clients of %s: %w", s.Name, closed)
	}
	return t, cut, err
}
