package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// overdueGrace is how much longer than its bound a step may take before it is
// left behind: time to notice that its context has ended.
const overdueGrace = time.Second

// errOverdue is the error of what was left behind.
var errOverdue = errors.New("did not end in time")

// Daemon is a process under Run. Setup, and only setup, calls its methods.
type Daemon struct {
	// Log is the logger from Options.
	Log *slog.Logger
	// Registry is what /metrics shows.
	Registry *prometheus.Registry
	// Health is what /healthz and /readyz show. Health.Ready is the answer for
	// the serving port, too.
	Health *Health

	// base is the context that components' contexts come from. It never ends:
	// each component is cancelled in its turn.
	base   context.Context
	stop   context.CancelCauseFunc // asks for the stop
	within time.Duration           // bound for a component to end
	reload func(context.Context) error
	probe  func(context.Context) error

	pages *http.ServeMux // of the admin port
	admin netip.AddrPort // where it is; the zero value without one

	mu    sync.Mutex // guards steps and errs
	steps []step     // what the stop has to do, the first thing last
	errs  []error    // what Run returns
}

// step is one thing to do at the stop.
type step struct {
	name   string
	within time.Duration
	do     func(ctx context.Context) error
}

// Go starts a component: run, in a goroutine of its own, until its context
// ends, which happens when everything registered after it has ended. It then
// has StopTimeout to return. An error that it returns before that stops the
// daemon, and is what Run returns; nil means that its work is done.
func (d *Daemon) Go(name string, run func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(d.base)
	ended := make(chan error, 1)
	go func() {
		err := run(ctx)
		if err != nil && ctx.Err() == nil {
			d.fail(name, err)
			err = nil
		}
		ended <- err
	}()
	d.OnStop(name, d.within, func(context.Context) error {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	})
}

// OnStop registers a clean-up, to be called when everything registered after it
// has ended. Its context ends after the time given by within; if it has not
// returned a moment later, the log names it and the stop goes on without it. Its
// error does not keep the rest from being stopped, and is part of what Run
// returns.
func (d *Daemon) OnStop(name string, within time.Duration, do func(ctx context.Context) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.steps = append(d.steps, step{name: name, within: within, do: do})
}

// OnReload registers what SIGHUP does. Its context ends after 30 s, or when the
// process is to stop. An error leaves things as they were: it is logged and
// shown on /readyz until a reload succeeds. Without this, SIGHUP does nothing.
func (d *Daemon) OnReload(do func(ctx context.Context) error) { d.reload = do }

// OnProbe registers the proof that the process works, such as a request through
// its own serving port. It is called while the process serves: twice in each
// WatchdogSec= of the unit, or every 10 s without one. While it fails the
// watchdog is not fed, and /healthz is 503. It must return when its context
// ends. Without this, the process counts as working.
func (d *Daemon) OnProbe(probe func(ctx context.Context) error) { d.probe = probe }

// Handle adds a page to the admin port, where there is one. The pattern is as
// [http.ServeMux] takes it. A handler that panics costs its client the connection.
func (d *Daemon) Handle(pattern string, h http.Handler) { d.pages.Handle(pattern, h) }

// AdminAddr is where the admin port is bound; the zero value without one.
func (d *Daemon) AdminAddr() netip.AddrPort { return d.admin }

// fail records an error that ends the daemon, and asks for the stop.
func (d *Daemon) fail(name string, err error) {
	d.Health.SetDead(name, err.Error())
	d.failed(fmt.Errorf("%s: %w", name, err))
}

// failed records an error that says by itself what it is about, and asks for
// the stop.
func (d *Daemon) failed(err error) {
	d.record(err)
	d.stop(err)
}

func (d *Daemon) record(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.errs = append(d.errs, err)
}

// err is everything that has gone wrong.
func (d *Daemon) err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return errors.Join(d.errs...)
}

// registered is how many steps the stop has so far.
func (d *Daemon) registered() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.steps)
}

// unwind does the steps that were registered after the first keep ones, last in
// first out.
func (d *Daemon) unwind(keep int) {
	for {
		s, ok := d.pop(keep)
		if !ok {
			return
		}
		d.Log.Debug("stopping", "component", s.name)
		ctx, cancel := context.WithTimeout(d.base, s.within)
		err := await(ctx, overdueGrace, s.do)
		cancel()
		if errors.Is(err, errOverdue) {
			d.Log.Error("component did not stop in time, going on without it", "component", s.name, "bound", s.within)
		}
		if err != nil {
			d.record(fmt.Errorf("stopping %s: %w", s.name, err))
		}
	}
}

// pop takes the last step off the stack, unless only keep are left.
func (d *Daemon) pop(keep int) (step, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := len(d.steps) - 1
	if last < keep {
		return step{}, false
	}
	s := d.steps[last]
	d.steps = d.steps[:last]
	return s, true
}

// bound is the longest that the stop can take from here.
func (d *Daemon) bound() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	var sum time.Duration
	for _, s := range d.steps {
		sum += s.within + overdueGrace
	}
	return sum
}

// await calls do and waits for it, but not for more than grace after ctx has
// ended: then it returns errOverdue, and do is left behind.
func await(ctx context.Context, grace time.Duration, do func(context.Context) error) error {
	ended := make(chan error, 1)
	go func() { ended <- do(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		return errOverdue
	}
}
