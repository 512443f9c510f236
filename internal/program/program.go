// Package program is the beginning of every daemon: options, the questions that
// a command line can ask instead of a run, the log, and then the run.
package program

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/graphite"
	"github.com/levee-project/levee/internal/status"
)

// Options are the options of a daemon, such as *config.Limiter.
type Options[C any] interface {
	Base() *config.Common
	// Diff names the options that are other in newer: those that can change while
	// the process runs, and those that cannot.
	Diff(newer C) (applied, needsRestart []string)
}

// Program is a daemon with its options.
type Program[C Options[C]] struct {
	// Name is the binary's.
	Name string
	// Role is what its status calls it.
	Role string
	// Load reads the options; config has one function for each daemon.
	Load func(args, env []string, out io.Writer) (C, config.Action, error)
	// Check checks what the options name: files, but no host. Its error ends the
	// process.
	Check func(C) error
	// Setup starts everything; see daemon.Run.
	Setup func(ctx context.Context, d *daemon.Daemon, run *Run[C]) error
}

// Run is one run of a program.
type Run[C Options[C]] struct {
	// Config is as at the start.
	Config C
	// Log is the process's log.
	Log *daemon.Log
	// Status is what the admin port says of it.
	Status *status.Board

	live C // as at the last reload; only what can change then is used
	load func() (C, error)
}

// Main reads the configuration that args and the environment give, and runs
// until the process is told to stop.
func (p *Program[C]) Main(ctx context.Context, args []string) error {
	cfg, action, err := p.Load(args, os.Environ(), os.Stdout)
	switch {
	case err != nil || action == config.HelpShown:
		return err
	case action == config.VersionAsked:
		_, err := fmt.Println(p.Name, daemon.Version())
		return err
	}
	if err := p.Check(cfg); err != nil || action == config.CheckOnly {
		return err
	}
	base := cfg.Base()
	log, err := daemon.NewLog(
		daemon.LogOptions{Name: p.Name, Format: string(base.LogFormat), Verbose: base.Verbose}, os.Stderr)
	if err != nil {
		return err
	}
	defer log.Flush(flushTime)
	run := &Run[C]{Config: cfg, Log: log, live: cfg, load: func() (C, error) {
		next, _, err := p.Load(args, os.Environ(), io.Discard)
		return next, err
	}}
	return daemon.Run(ctx, daemon.Options{Log: log.Logger, MetricsAddr: base.MetricsAddr},
		func(ctx context.Context, d *daemon.Daemon) error {
			d.Registry.MustRegister(log.Dropped)
			pushMetrics(d, p.Name, base)
			run.Status = status.New(p.Role, base.InstanceID, d.Health)
			d.Handle("GET /status", adminapi.Page(run.Status.Report))
			return p.Setup(ctx, d, run)
		})
}

// flushTime is how long the end of a run waits for a log that is behind.
const flushTime = time.Second

// pushMetrics starts the push to Graphite, if there shall be one. It is the first
// thing to start, so that it is the last one to end: what the drain has counted
// is pushed, too.
func pushMetrics(d *daemon.Daemon, name string, c *config.Common) {
	g := &c.Graphite
	if g.Collector == (config.Collector{}) {
		return
	}
	bridge := graphite.New(graphite.Options{
		Network: g.Collector.Network, Address: g.Collector.Address,
		Interval: g.Interval, Prefix: g.Prefix,
		Tags:     []graphite.Tag{{Name: "job", Value: name}, {Name: "instance", Value: c.InstanceID}},
		Registry: d.Registry, Log: d.Log,
	})
	d.Go("graphite", bridge.Run)
}

// OnReload has SIGHUP read the options again and apply what can change while the
// process runs. What needs a restart is named, and stays as it is.
func (r *Run[C]) OnReload(d *daemon.Daemon, apply func(next C)) {
	d.OnReload(func(context.Context) error {
		next, err := r.load()
		if err != nil {
			return err
		}
		applied, _ := r.live.Diff(next)
		_, needsRestart := r.Config.Diff(next)
		if len(needsRestart) > 0 {
			d.Log.Warn("these options have changed and need a restart", "options", needsRestart)
		}
		if err := r.Log.Set(string(r.Config.Base().LogFormat), next.Base().Verbose); err != nil {
			return err
		}
		apply(next)
		r.live = next
		d.Log.Info("options applied", "options", applied)
		return nil
	})
}
