package proxy

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/topology"
	"github.com/levee-project/levee/internal/topologyrpc"
)

// observers is where the topology comes from, and what is done when it does not.
type observers struct {
	watcher *topologyrpc.Watcher
	onLoss  config.OnObserverLoss
	timeout time.Duration
	health  *daemon.Health
	log     *slog.Logger

	away atomic.Pointer[string] // what is wrong with all of them; nil while one is followed

	// Of the goroutine of run.
	end  context.CancelFunc // ends the watcher
	lost error              // why the process has to end
}

// newObservers returns the way to observers that hands each topology to apply.
func newObservers(d *daemon.Daemon, cfg *config.ClientProxy, apply func(*topology.View)) *observers {
	o := &observers{onLoss: cfg.OnObserverLoss, timeout: cfg.ObserverTimeout, health: d.Health, log: d.Log}
	o.watcher = topologyrpc.NewWatcher(topologyrpc.WatcherOptions{
		Self: topologyrpc.Identity{ID: cfg.InstanceID, Version: daemon.ReadBuild().Version, Admin: d.AdminAddr()},
		Log:  d.Log, Timeout: cfg.ObserverTimeout, Apply: apply, Lost: o.onLost, Found: o.onFound,
	})
	return o
}

// show shows whether an observer is followed.
func (o *observers) show(r prometheus.Registerer) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "levee_proxy_observer_connected", Help: "1 while an observer tells this proxy the topology.",
	}, func() float64 {
		if o.watcher.Following() {
			return 1
		}
		return 0
	}))
}

// run follows the topology until ctx ends, or until it is lost for good.
func (o *observers) run(ctx context.Context) error {
	ctx, o.end = context.WithCancel(ctx)
	defer o.end()
	if err := o.watcher.Run(ctx); err != nil {
		return fmt.Errorf("follow the topology: %w", err)
	}
	return o.lost
}

// onLost is told that no observer could be reached for so long.
func (o *observers) onLost(since time.Duration, err error) {
	err = fmt.Errorf("no observer could be reached for %s: %w", since.Round(time.Millisecond), err)
	if o.onLoss == config.ObserverLossExit {
		o.lost = fmt.Errorf("%w (on-observer-loss: exit after %s)", err, o.timeout)
		o.end()
		return
	}
	text := err.Error()
	o.away.Store(&text)
	o.health.SetUnready("observers", text)
	o.log.Error("going on with the last topology (on-observer-loss: serve)", "err", err)
}

// onFound is told that one is there again.
func (o *observers) onFound() {
	o.away.Store(nil)
	o.health.SetUnready("observers", "")
	o.log.Info("an observer is there again")
}
