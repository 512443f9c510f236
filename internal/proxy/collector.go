package proxy

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/levee-project/levee/internal/config"
)

// collector forgets, every gc-period, the turns of buckets that were not used
// since it last did, while there are more than gc-max-keys. Nothing is lost but
// whose turn it was.
type collector struct {
	deals     *deals
	collected *atomic.Int64
	log       *slog.Logger
	config    atomic.Pointer[config.ClientProxy]
	reset     chan struct{} // told that config has changed
}

func newCollector(d *deals, collected *atomic.Int64, cfg *config.ClientProxy, log *slog.Logger) *collector {
	c := &collector{deals: d, collected: collected, log: log, reset: make(chan struct{}, 1)}
	c.config.Store(cfg)
	return c
}

// configure changes the options of a collector that runs.
func (c *collector) configure(cfg *config.ClientProxy) {
	c.config.Store(cfg)
	select {
	case c.reset <- struct{}{}:
	default: // it has been told, and has not looked yet
	}
}

// run collects until ctx ends. New options start a new period.
func (c *collector) run(ctx context.Context) error {
	for {
		period := time.NewTimer(c.config.Load().GCPeriod)
		select {
		case <-ctx.Done():
			period.Stop()
			return nil
		case <-c.reset:
			period.Stop()
		case <-period.C:
			c.collect(c.config.Load().GCMaxKeys)
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
