package proxy

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/front"
)

// collector forgets, every gc-period, the turns of buckets that were not used
// since it last did, while there are more than gc-max-keys. Nothing is lost but
// whose turn it was.
type collector struct {
	deals     *deals
	collected *atomic.Int64
	log       *slog.Logger
	most      atomic.Int64 // gc-max-keys
	period    *front.Period
}

func newCollector(d *deals, collected *atomic.Int64, cfg *config.ClientProxy, log *slog.Logger) *collector {
	c := &collector{deals: d, collected: collected, log: log, period: front.NewPeriod(cfg.GCPeriod)}
	c.most.Store(int64(cfg.GCMaxKeys))
	return c
}

// configure changes the options of a collector that runs.
func (c *collector) configure(cfg *config.ClientProxy) {
	c.most.Store(int64(cfg.GCMaxKeys))
	c.period.Set(cfg.GCPeriod)
}

// run collects until ctx ends. New options start a new period.
func (c *collector) run(ctx context.Context) error {
	for {
		due, ok := c.period.Wait(ctx)
		if !ok {
			return nil
		}
		if due {
			c.collect(int(c.most.Load()))
		}
	}
}

func (c *collector) collect(most int) {
	if most == 0 || c.deals.len() <= most {
		return
	}
	dropped := c.deals.collect()
	c.collected.Add(int64(dropped))
	c.log.Debug("unused keys collected", "dropped", dropped, "kept", c.deals.len())
}
