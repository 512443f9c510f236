package proxy

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/levee-project/levee/internal/config"
)

func TestCollector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := func(most int, period time.Duration) *config.ClientProxy {
			cfg := &config.ClientProxy{}
			cfg.GCMaxKeys, cfg.GCPeriod = most, period
			return cfg
		}
		d, collected := newDeals(), new(atomic.Int64)
		deal := func(from, to uint64) {
			for bucket := from; bucket < to; bucket++ {
				d.deal(bucket, 1)
			}
		}
		c := newCollector(d, collected, options(0, time.Minute), slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() { ended <- c.run(ctx) }()

		deal(0, 100)
		pass(time.Hour)
		if d.len() != 100 {
			t.Errorf("%d keys are left, though none are ever collected", d.len())
		}
		c.configure(options(50, time.Second))
		pass(time.Second)
		deal(0, 10)
		pass(time.Second)
		if d.len() != 10 || collected.Load() != 90 {
			t.Errorf("%d keys left and %d collected, want 10 that were used, and 90", d.len(), collected.Load())
		}
		pass(time.Minute)
		if d.len() != 10 {
			t.Errorf("%d keys left, want all 10: there are no more than 50", d.len())
		}
		c.configure(options(5, time.Hour))
		pass(time.Hour - 1)
		if d.len() != 10 {
			t.Errorf("%d keys left before the period is over", d.len())
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
