package limiter

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"time"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/keytable"
	"github.com/levee-project/levee/internal/storage"
	"github.com/levee-project/levee/internal/wire"
)

// Main is the whole levee-limiter: it reads the configuration that args and the
// environment give, and serves until it is told to stop.
func Main(ctx context.Context, args []string) error {
	cfg, action, err := config.LoadLimiter(args, os.Environ(), os.Stdout)
	switch {
	case err != nil || action == config.HelpShown:
		return err
	case action == config.VersionAsked:
		_, err := fmt.Println("levee-limiter", daemon.Version())
		return err
	}
	if err := storageOptions(cfg).CheckFiles(); err != nil {
		return misconfigured{err}
	}
	if action == config.CheckOnly {
		return nil
	}
	if !cfg.Standalone {
		return misconfigured{errors.New("standalone: this version serves alone only; set standalone: true")}
	}
	log, err := daemon.NewLog(daemon.LogOptions{Name: "levee-limiter", Format: string(cfg.LogFormat), Verbose: cfg.Verbose}, os.Stderr)
	if err != nil {
		return err
	}
	l := &limiter{cfg: cfg, live: cfg, args: args, log: log}
	return daemon.Run(ctx, daemon.Options{Log: log.Logger, MetricsAddr: cfg.MetricsAddr}, l.setup)
}

// misconfigured is a configuration that cannot work for a reason that shows only
// when it is used.
type misconfigured struct{ error }

// ExitCode tells the daemon package what to end with: EX_CONFIG.
func (misconfigured) ExitCode() int { return 78 }

func (m misconfigured) Unwrap() error { return m.error }

// limiter is one run of the daemon.
type limiter struct {
	cfg  *config.Limiter // as at the start
	live *config.Limiter // as at the last reload; only what can change then is used
	args []string
	log  *daemon.Log

	decider   *Decider
	metrics   *metrics
	collector *collector
	server    *wire.Server
	headers   atomicHeaders
}

// setup starts everything and returns when attempts can be answered. The stop
// goes backwards through what it registers.
func (l *limiter) setup(ctx context.Context, d *daemon.Daemon) error {
	TuneMemory()
	if l.cfg.Graphite.Collector != (config.Collector{}) {
		d.Log.Warn("graphite-addr is set, and this version does not push metrics yet; scrape metrics-addr instead")
	}
	began := time.Now()
	clock := func() int64 { return int64(time.Since(began)) }
	listener, err := daemon.Listen(ctx, "listen-addr", l.cfg.ListenAddr)
	if err != nil {
		return err
	}
	table := l.openTable(d, clock)
	l.decider = NewDecider(table, l.cfg.NoQuota, l.cfg.ResponseHeaders == config.HeadersRateLimit)
	l.metrics = newMetrics(d.Registry, table, l.decider)
	l.collector = newCollector(table, clock, l.cfg, d.Log)
	d.Go("collector", l.collector.run)

	l.serve(d, listener, clock)
	if err := l.follow(ctx, d); err != nil {
		return err
	}
	// One second beyond drain-timeout is for the last answers.
	d.OnStop("drain", l.cfg.DrainTimeout+time.Second, func(ctx context.Context) error {
		return l.server.Drain(ctx, l.cfg.DrainTimeout)
	})
	d.OnReload(l.reload)
	d.OnProbe(probe(listener.Addr()))
	return nil
}

// TuneMemory bounds what the heap may waste, unless GOGC is set. Nearly all of
// it is the key table, in which the garbage collector finds nothing to do, so
// collecting it twice as often as usual costs little and saves half of the waste.
func TuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
}

// openTable returns the key table, with the debts of the last run in it where
// there is a state file, and sees to their being saved at the stop.
func (l *limiter) openTable(d *daemon.Daemon, clock func() int64) *keytable.Table {
	var saved *state
	key := newKey()
	if path := l.cfg.StateFile; path != "" {
		var err error
		if saved, err = loadState(path); err != nil {
			d.Log.Error("starting without the debts of the last run", "err", err)
		}
		if saved != nil {
			key = saved.key
		}
	}
	table := keytable.New(key, int64(l.cfg.MaxKeys))
	if saved != nil {
		d.Log.Info("debts restored", "file", l.cfg.StateFile, "keys", saved.restore(table, clock(), time.Now()))
	}
	if path := l.cfg.StateFile; path != "" {
		d.OnStop("state file", time.Minute, func(context.Context) error {
			n, err := saveState(path, table, clock(), time.Now())
			if err == nil {
				d.Log.Info("debts saved", "file", path, "keys", n)
			}
			return err
		})
	}
	return table
}

func newKey() keytable.Key {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the process instead
	return keytable.Key{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])}
}

// serve starts answering. Until the shared configuration is there, every attempt
// fails with a line that says so.
func (l *limiter) serve(d *daemon.Daemon, listener *net.TCPListener, clock func() int64) {
	l.headers.set(l.cfg.ResponseHeaders)
	l.server = wire.NewServer(listener, wire.Options{
		Decider:       l.decider,
		Clock:         clock,
		Health:        d.Health.Ready,
		Headers:       l.headers.get,
		Observe:       l.metrics.duration.observe,
		Verbose:       l.log.Verbose,
		Trace:         l.trace,
		Bad:           func(r wire.Reason) { l.metrics.bad[r].Inc() },
		Log:           d.Log,
		HeaderTimeout: l.cfg.HeaderTimeout, BodyTimeout: l.cfg.BodyTimeout,
		IdleTimeout: l.cfg.IdleTimeout, WriteTimeout: l.cfg.WriteTimeout,
		MaxConnections: l.cfg.MaxConnections,
	})
	d.Log.Info("serving", "what", "attempts", "addr", listener.Addr().String())
	d.Go("attempts", func(ctx context.Context) error {
		defer context.AfterFunc(ctx, l.server.Close)()
		return l.server.Serve()
	})
}

// trace logs an attempt that was answered.
func (l *limiter) trace(a *attempt.Attempt, o *attempt.Outcome) {
	l.log.Debug("attempt", "result", o.Result.String(), "quota", o.Level.String(), "shadow", o.Shadow,
		"resource", string(a.Resource), "prefix", string(a.Prefix), "method", string(a.Method),
		"hits", a.Hits, "req_id", string(a.ReqID))
}

// follow starts the watch on the shared configuration and waits for the first
// tree.
func (l *limiter) follow(ctx context.Context, d *daemon.Daemon) error {
	o := storageOptions(l.cfg)
	store, err := storage.Open(o, d.Log)
	if err != nil {
		return err
	}
	var cache *storage.Cache
	if path := l.cfg.Storage.CacheFile; path != "" {
		if cache, err = storage.NewCache(path, o, d.Log); err != nil {
			return err
		}
	}
	c := newConfiguration(l.decider, l.metrics, d.Health, cache, d.Log)
	store = storage.WithCache(store, cache, storage.CacheWait, d.Log)
	d.Go("storage", func(ctx context.Context) error { return store.Run(ctx, c.sink()) })
	select {
	case <-c.loaded:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func storageOptions(cfg *config.Limiter) storage.Options {
	s := cfg.Storage
	return storage.Options{
		Addrs: s.Addrs, Prefix: s.Prefix, Username: s.Username, PasswordFile: s.PasswordFile,
		CAFile: s.CAFile, CertFile: s.CertFile, KeyFile: s.KeyFile,
	}
}
