package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
)

// probePeriod is how often the probe runs when no watchdog sets the pace.
const probePeriod = 10 * time.Second

// watchdog runs the daemon's probe, tells Health what came of it, and feeds
// systemd's watchdog (WatchdogSec=) when it succeeded. A process that no longer
// answers is so restarted, however busy its other goroutines are.
type watchdog struct {
	// period is the time from one probe to the next: half of WatchdogSec=, as
	// sd_watchdog_enabled(3) recommends.
	period time.Duration
	probe  func(ctx context.Context) error
	// feed is called after each probe that succeeds.
	feed   func()
	health *Health
	log    *slog.Logger
}

// watchdogPeriod returns the time between two probes, and whether a watchdog
// waits for them.
func watchdogPeriod() (period time.Duration, fed bool, err error) {
	limit, err := systemd.SdWatchdogEnabled(false)
	switch {
	case err != nil:
		return 0, false, fmt.Errorf("the watchdog's settings in the environment (WATCHDOG_USEC, WATCHDOG_PID): %w", err)
	case limit <= 0:
		return probePeriod, false, nil
	default:
		return max(limit/2, time.Millisecond), true, nil
	}
}

// run probes at once and then every period until ctx ends.
func (w *watchdog) run(ctx context.Context) error {
	tick := time.NewTicker(w.period)
	defer tick.Stop()
	for failing := false; ; {
		failing = w.beat(ctx, failing)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// beat probes once and returns whether the probe failed. Only a change is
// logged. The probe's deadline is half a period, so that two good ones are
// never further apart than three quarters of the watchdog's limit.
func (w *watchdog) beat(ctx context.Context, failing bool) bool {
	probing, cancel := context.WithTimeout(ctx, w.period/2)
	defer cancel()
	err := w.probe(probing)
	switch {
	case ctx.Err() != nil:
		return failing // cut short by the stop, which says nothing
	case err != nil:
		if !failing {
			w.log.Error("the process does not answer its own probe; the watchdog is not fed", "error", err)
		}
		w.health.SetDead("probe", err.Error())
		return true
	case failing:
		w.log.Info("the process answers its own probe again")
	}
	w.health.SetDead("probe", "")
	w.feed()
	return false
}
