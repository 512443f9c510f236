package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"
)

// defaultStopTimeout bounds the end of one component.
const defaultStopTimeout = 5 * time.Second

// Options is what Run needs to know.
type Options struct {
	// Log takes what happens. Required.
	Log *slog.Logger
	// MetricsAddr is the option metrics-addr: ip:port of the admin port, which
	// has /metrics, /healthz and /readyz. Empty means none.
	MetricsAddr string
	// StopTimeout is the longest a component may take to end, once it is its
	// turn. 0 means 5 s.
	StopTimeout time.Duration
}

// Run is the life of a daemon: it calls setup to start everything, says that it
// is ready when setup returns, and stops everything in the reverse order when a
// signal asks for it, ctx ends, or a component fails. See the package comment.
//
// The context of setup ends when the process is to stop already; setup must
// return then. What setup registered before an error is stopped.
//
// The result is nil after a stop that was asked for and went well, else the
// joined errors of setup, of the components and of the stop. After a second
// signal it is an error at once, with everything left running: the process is
// expected to exit.
func Run(ctx context.Context, o Options, setup func(ctx context.Context, d *Daemon) error) error {
	sig := catchSignals()
	defer sig.release()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	l := newLife(ctx, o, stop, sig.reload)
	ended := make(chan error, 1)
	go func() { ended <- l.run(ctx, setup) }()

	var first os.Signal
	for {
		select {
		case err := <-ended:
			return err
		case s := <-sig.stop:
			if first == nil {
				first = s
				stop(stopSignal{s})
				continue
			}
			err := fmt.Errorf("stopped at once by a second signal (%w), in the middle of a stop", stopSignal{s})
			o.Log.Error("stopping at once, without waiting for anything", "reason", stopSignal{s})
			return err
		}
	}
}

// life is one Run: the daemon as setup sees it, and what drives it.
type life struct {
	*Daemon
	notify  *notifier
	hangups <-chan os.Signal
	addr    string        // metrics-addr
	period  time.Duration // between two probes
	fed     bool          // systemd waits for them
}

func newLife(ctx context.Context, o Options, stop context.CancelCauseFunc, hangups <-chan os.Signal) *life {
	notify := &notifier{log: o.Log}
	d := &Daemon{
		Log:      o.Log,
		Registry: NewRegistry(),
		Health:   &Health{onChange: notify.status},
		base:     context.WithoutCancel(ctx),
		stop:     stop,
		within:   o.StopTimeout,
		probe:    func(context.Context) error { return nil },
		pages:    http.NewServeMux(),
		reload:   func(context.Context) error { return nil },
	}
	if d.within <= 0 {
		d.within = defaultStopTimeout
	}
	return &life{Daemon: d, notify: notify, hangups: hangups, addr: o.MetricsAddr}
}

// run starts, serves and stops. Its goroutines have ended when it returns, but
// for those that did not end within their bounds.
func (l *life) run(ctx context.Context, setup func(context.Context, *Daemon) error) error {
	began := time.Now()
	l.Log.Info("starting", "version", Version())
	err := l.start(ctx, setup)
	registered := l.registered()
	switch {
	case err == nil && ctx.Err() == nil:
		l.Health.SetReady()
		l.notify.ready()
		l.Log.Info("ready", "took", time.Since(began).Round(time.Millisecond).String())
		l.Go("reload", func(context.Context) error { return l.reloads(ctx) })
		l.Go("watchdog", func(context.Context) error { return l.watch(ctx) })
		<-ctx.Done()
	case err != nil && !isStop(ctx, err):
		l.failed(err)
	}
	l.end(context.Cause(ctx), registered)
	return l.err()
}

// start opens the admin port and calls setup, asking systemd for patience
// meanwhile.
func (l *life) start(ctx context.Context, setup func(context.Context, *Daemon) error) error {
	var err error
	if l.period, l.fed, err = watchdogPeriod(); err != nil {
		return err
	}
	if l.addr != "" {
		ln, err := Bind(ctx, "metrics-addr", l.addr)
		if err != nil {
			return err
		}
		l.Log.Info("serving", "what", "metrics", "addr", ln.Addr().String())
		l.admin = ln.Addr().(*net.TCPAddr).AddrPort()
		addStockPages(l.pages, l.Registry, l.Health, l.Log)
		l.Go("admin port", func(ctx context.Context) error { return admin(ctx, ln, l.pages, l.Log) })
	}
	l.notify.extendStart()
	patience, enough := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.extendStart(patience)
	}()
	err = await(ctx, l.within, func(ctx context.Context) error { return setup(ctx, l.Daemon) })
	enough()
	<-ended
	if errors.Is(err, errOverdue) {
		err = fmt.Errorf("the start %w after the stop was asked for (%s)", err, l.within)
	}
	return err
}

// extendStart keeps systemd from giving up (TimeoutStartSec=) on a start that
// waits for something, such as etcd, which it does for as long as it takes.
func (l *life) extendStart(ctx context.Context) {
	tick := time.NewTicker(startExtensionEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.notify.extendStart()
		}
	}
}

// watch runs the watchdog until ctx ends.
func (l *life) watch(ctx context.Context) error {
	feed := func() {}
	if l.fed {
		feed = l.notify.watchdog
	}
	w := &watchdog{period: l.period, probe: l.probe, feed: feed, health: l.Health, log: l.Log}
	return w.run(ctx)
}

// end stops everything. What was registered after setup goes first: systemd
// must not be told about a reload or be fed once it knows of the stop, which
// would start its watchdog again.
func (l *life) end(cause error, registered int) {
	level := slog.LevelInfo
	if l.err() != nil {
		level = slog.LevelError
	}
	l.Log.Log(context.Background(), level, "stopping", "reason", cause)
	l.Health.SetDraining(cause.Error())
	l.unwind(registered)
	l.notify.stopping(l.bound())
	l.unwind(0)
	l.Log.Info("stopped")
}

// isStop reports whether err only says that ctx has ended.
func isStop(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx)))
}
