package limiter

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/keytable"
)

func collecting(cfg config.Limiter, body func(c *collector, d *Decider, clock func() int64)) {
	table := keytable.New(keytable.Key{}, int64(cfg.MaxKeys))
	d := NewDecider(table, options(config.NoQuotaAccept, false))
	began := time.Now()
	clock := func() int64 { return int64(time.Since(began)) }
	c := newCollector(table, clock, &cfg, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- c.run(ctx) }()
	body(c, d, clock)
	cancel()
	if err := <-ended; err != nil {
		panic(err)
	}
}

func crowd(d *Decider, now int64) {
	for i := range 1000 {
		ask(d, now, question("idle"+string(rune('a'+i%26))+time.Duration(i).String(), "", "", 1))
	}
}

var crowdAndDebt = map[string]string{
	"limit/key_default":     `{"rate": 1000, "burst": 1}`,
	"limit/key/owing/quota": `{"rate": 1, "per": "1h", "burst": 0}`,
}

func TestCollectorKeepsDebts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config.Limiter{GCCollect: 2 * time.Second}
		cfg.GCMaxKeys, cfg.GCPeriod = 10, time.Second
		collecting(cfg, func(_ *collector, d *Decider, clock func() int64) {
			setEntries(t, d, crowdAndDebt)
			crowd(d, clock())
			ask(d, clock(), question("owing", "", "", 1))
			time.Sleep(1500 * time.Millisecond) //nolint:forbidigo // in a synctest bubble
			if n := d.table.Len(); n != 1001 {
				t.Errorf("%d keys before gc-collect has passed, want all", n)
			}
			time.Sleep(3 * time.Second) //nolint:forbidigo // in a synctest bubble
			if n := d.table.Len(); n != 1 {
				t.Errorf("%d keys after the sweep, want the one that owes", n)
			}
			if o := ask(d, clock(), question("owing", "", "", 1)); o.Result != attempt.Rejected {
				t.Error("the sweep forgot a debt")
			}
		})
	})
}

func TestCollectorIsOffUntilToldOtherwise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config.Limiter{GCCollect: time.Second}
		cfg.GCPeriod = time.Hour
		collecting(cfg, func(c *collector, d *Decider, clock func() int64) {
			setEntries(t, d, crowdAndDebt)
			crowd(d, clock())
			time.Sleep(10 * time.Hour) //nolint:forbidigo // in a synctest bubble
			if n := d.table.Len(); n != 1000 {
				t.Errorf("%d keys with the collector off, want all", n)
			}
			next := cfg
			next.GCMaxKeys = 100
			c.configure(&next)
			synctest.Wait()
			if n := d.table.Len(); n != 0 {
				t.Errorf("%d keys after a reload switched the collector on", n)
			}
		})
	})
}

func TestLoweringMaxKeysTrims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config.Limiter{}
		cfg.GCPeriod = time.Hour
		collecting(cfg, func(c *collector, d *Decider, clock func() int64) {
			setEntries(t, d, crowdAndDebt)
			crowd(d, clock())
			next := cfg
			next.MaxKeys = 100
			c.configure(&next)
			synctest.Wait()
			if n := d.table.Len(); n > 100 {
				t.Errorf("%d keys, max-keys is 100", n)
			}
		})
	})
}
