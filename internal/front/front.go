package front

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/wire"
)

// Front is the port for attempts.
type Front struct {
	listener *net.TCPListener
	passed   bool // by systemd, whose socket it stays
	log      *daemon.Log
	began    time.Time
	admitted chan struct{} // closed by Admit

	server    *wire.Server
	headers   atomic.Pointer[wire.Headers]
	trail     *trail
	durations durations
	bad       []prometheus.Counter // by wire.Reason
}

// Open binds listen-addr. Nothing is answered before [Front.Serve].
func Open(ctx context.Context, log *daemon.Log, cfg *config.Serving) (*Front, error) {
	listener, passed, err := daemon.Listen(ctx, "listen-addr", cfg.ListenAddr)
	if err != nil {
		return nil, err
	}
	f := &Front{listener: listener, passed: passed, log: log, began: time.Now(), admitted: make(chan struct{})}
	f.trail = newTrail(log.Write, log.Dropped.WithLabelValues("attempt"))
	f.SetHeaders(cfg.ResponseHeaders)
	return f, nil
}

// Addr is where it is bound.
func (f *Front) Addr() *net.TCPAddr { return f.listener.Addr().(*net.TCPAddr) }

// Clock returns nanoseconds of the monotonic clock that attempts are decided by.
func (f *Front) Clock() int64 { return int64(time.Since(f.began)) }

// SetHeaders changes what answers say about the quota.
func (f *Front) SetHeaders(o config.ResponseHeaders) {
	headers := wire.Headers(o) // both spell the option's values
	f.headers.Store(&headers)
}

// Serve starts answering attempts by the decider, as a component of d, and shows
// what the decider counts. The first connections wait for [Front.Admit],
// at most a second.
func (f *Front) Serve(d *daemon.Daemon, cfg *config.Serving, decider attempt.Decider, tally *Tally) {
	f.register(d.Registry, &tally.Counts)
	d.Handle("GET /top", adminapi.Page(func() adminapi.Top { return tally.Top(f.Clock()) }))
	d.Go("hot keys", func(ctx context.Context) error { return tally.run(ctx, f.Clock) })
	f.server = wire.NewServer(f.listener, wire.Options{
		Decider:       decider,
		Clock:         f.Clock,
		Health:        d.Health.Ready,
		Headers:       func() wire.Headers { return *f.headers.Load() },
		Observe:       f.durations.observe,
		Verbose:       f.log.Verbose,
		Trace:         f.trail.trace,
		Bad:           func(r wire.Reason) { f.bad[r].Inc() },
		Log:           d.Log,
		HeaderTimeout: cfg.HeaderTimeout, BodyTimeout: cfg.BodyTimeout,
		IdleTimeout: cfg.IdleTimeout, WriteTimeout: cfg.WriteTimeout,
		MaxConnections: cfg.MaxConnections,
		Shared:         f.passed,
	})
	d.Log.Info("serving", "what", "attempts", "addr", f.listener.Addr().String())
	d.Go("log of attempts", f.trail.run)
	d.Go("attempts", func(ctx context.Context) error {
		defer context.AfterFunc(ctx, f.server.Close)()
		f.awaitAdmission(ctx)
		return f.server.Serve()
	})
	d.OnProbe(probe(f.listener.Addr()))
}

// admission is how long connections wait in the kernel's queue for a daemon that
// cannot answer yet. Then they are taken, and told why.
const admission = time.Second

// Admit has the port take connections: attempts can be answered.
func (f *Front) Admit() { close(f.admitted) }

func (f *Front) awaitAdmission(ctx context.Context) {
	timer := time.NewTimer(admission)
	defer timer.Stop()
	select {
	case <-f.admitted:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// DrainOnStop has the stop begin with a drain: announce is called, then
// attempts are answered until no more come, for drain-timeout at most. Register
// it last: what is registered before goes on until the drain is over.
func (f *Front) DrainOnStop(d *daemon.Daemon, cfg *config.Serving, announce func()) {
	// One second beyond drain-timeout is for the last answers.
	d.OnStop("drain", cfg.DrainTimeout+time.Second, func(ctx context.Context) error {
		announce()
		return f.server.Drain(ctx, cfg.DrainTimeout)
	})
}

// Quietly does something that cuts connections, such as moving an address away: new
// ones are ignored meanwhile, and it begins when there are none.
func (f *Front) Quietly(do func()) { f.server.Quietly(context.Background(), do) }

// Dismiss tells clients to connect anew, for the time of the farewell, and then does
// something quietly.
func (f *Front) Dismiss(ctx context.Context, farewell time.Duration, do func()) {
	f.server.Dismiss(ctx, farewell, do)
}

func (f *Front) register(r prometheus.Registerer, counts *Counts) {
	bad := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "levee_bad_requests_total", Help: "Requests that were refused before any decision, by what was wrong.",
	}, []string{"reason"})
	reasons := wire.Reasons()
	f.bad = make([]prometheus.Counter, len(reasons)+1)
	for _, reason := range reasons {
		f.bad[reason] = bad.WithLabelValues(reason.String())
	}
	r.MustRegister(counts, &f.durations, bad)
}
