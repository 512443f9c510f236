package limiter

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/front"
	"github.com/levee-project/levee/internal/keytable"
)

// returnMemory is how many buckets a sweep must have dropped for their memory to
// be given back to the system at once, which costs a collection of garbage.
const returnMemory = 1_000_000

// collector drops idle buckets every gc-period, while there are more than
// gc-max-keys.
type collector struct {
	table  *keytable.Table
	clock  func() int64
	log    *slog.Logger
	config atomic.Pointer[config.Limiter]
	period *front.Period
}

func newCollector(table *keytable.Table, clock func() int64, cfg *config.Limiter, log *slog.Logger) *collector {
	c := &collector{table: table, clock: clock, log: log, period: front.NewPeriod(cfg.GCPeriod)}
	c.config.Store(cfg)
	return c
}

// configure changes the options of a collector that runs.
func (c *collector) configure(cfg *config.Limiter) {
	c.config.Store(cfg)
	c.table.SetMaxKeys(int64(cfg.MaxKeys))
	c.period.Set(cfg.GCPeriod)
}

// run collects until ctx ends.
func (c *collector) run(ctx context.Context) error {
	for {
		c.table.Trim(c.clock())
		if _, ok := c.period.Wait(ctx); !ok {
			return nil
		}
		cfg := c.config.Load()
		if cfg.GCMaxKeys > 0 && c.table.Len() > int64(cfg.GCMaxKeys) {
			c.sweep(cfg.GCCollect)
		}
	}
}

func (c *collector) sweep(idle time.Duration) {
	began := time.Now()
	dropped := c.table.Sweep(c.clock(), int64(idle))
	if dropped >= returnMemory {
		debug.FreeOSMemory()
	}
	c.log.Debug("idle keys collected", "dropped", dropped, "kept", c.table.Len(), "took", time.Since(began).String())
}
