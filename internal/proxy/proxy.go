package proxy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/front"
	"github.com/levee-project/levee/internal/inforce"
	"github.com/levee-project/levee/internal/program"
	"github.com/levee-project/levee/internal/roster"
	"github.com/levee-project/levee/internal/topology"
	"github.com/levee-project/levee/internal/wire"
)

// Main is the whole levee-client-proxy: it reads the configuration that args and
// the environment give, and serves until it is told to stop.
func Main(ctx context.Context, args []string) error {
	p := program.Program[*config.ClientProxy]{
		Name:  "levee-client-proxy",
		Role:  "client-proxy",
		Load:  config.LoadClientProxy,
		Check: func(cfg *config.ClientProxy) error { return inforce.CheckFiles(&cfg.Storage) },
		Setup: func(ctx context.Context, d *daemon.Daemon, run *program.Run[*config.ClientProxy]) error {
			p := &proxy{cfg: run.Config}
			return p.setup(ctx, d, run)
		},
	}
	return p.Main(ctx, args)
}

// proxy is one run of the daemon.
type proxy struct {
	cfg       *config.ClientProxy // as at the start
	front     *front.Front
	decider   *Decider
	fleet     *fleet
	observers *observers
	roster    *roster.Roster
	daemon    *daemon.Daemon
}

// setup starts everything and returns when attempts can be answered. The stop
// goes backwards through what it registers.
func (p *proxy) setup(ctx context.Context, d *daemon.Daemon, run *program.Run[*config.ClientProxy]) error {
	p.daemon = d
	var err error
	if p.front, err = front.Open(ctx, run.Log, &p.cfg.Serving); err != nil {
		return err
	}
	p.decider = NewDecider(p.cfg, p.front.Clock)
	m := &metrics{decider: p.decider}
	d.Registry.MustRegister(m)
	p.roster = roster.New(d.Registry, d.Log)
	collector := newCollector(p.decider.deals, &m.collected, p.cfg, d.Log)
	d.Go("collector", collector.run)

	// An attempt is answered within three times attempt-timeout.
	p.fleet = newFleet(p.connect, p.front.Clock, 4*p.cfg.AttemptTimeout, d.Log)
	d.Go("limiters", p.fleet.run)
	p.observers = newObservers(d, p.cfg, p.takeView)
	p.observers.show(d.Registry)
	d.Go("waiting attempts", p.decider.Run)
	p.front.Serve(d, &p.cfg.Serving, p.decider, p.decider.tally)
	run.Status.Add(p.report)
	if err := inforce.Follow(ctx, d, run.Status, &p.cfg.Storage, p.apply); err != nil {
		return err
	}
	d.Go("observers", p.observers.run)
	if err := p.awaitLimiters(ctx, d.Health); err != nil {
		return err
	}
	p.front.Admit()
	p.front.DrainOnStop(d, &p.cfg.Serving, func() {})
	run.OnReload(d, func(next *config.ClientProxy) {
		p.decider.SetSpill(next.Spill)
		p.front.SetHeaders(next.ResponseHeaders)
		collector.configure(next)
	})
	return nil
}

// apply puts a new shared configuration in force.
func (p *proxy) apply(c *inforce.Configuration) {
	p.decider.SetQuotas(c.Quotas)
	p.roster.Want(c.Quotas.MaxFactor())
	p.observers.watcher.SetObservers(c.Observers)
}

// report fills in this proxy's part of its status.
func (p *proxy) report(s *adminapi.Status) {
	keys := int64(p.decider.deals.len())
	s.Keys, s.Attempts = &keys, p.decider.tally.Sums()
	r := p.decider.routes.Load()
	if r == nil {
		return
	}
	for _, u := range r.upstreams {
		s.Limiters = append(s.Limiters, adminapi.Link{ID: u.id, Up: u.Up(), Attempts: u.traffic.attempts.Load()})
	}
	slices.SortFunc(s.Limiters, func(a, b adminapi.Link) int { return strings.Compare(a.ID, b.ID) })
}

// takeView puts a new topology in force. One without limiters does not count
// where there were some: an observer that is cut off itself must not stop what
// still works.
func (p *proxy) takeView(v *topology.View) {
	p.roster.View(v)
	if v.Live() > 0 {
		p.decider.setRoutes(p.fleet.take(v))
		p.daemon.Health.SetNote("topology", "")
		return
	}
	if p.decider.routes.Load() != nil {
		p.daemon.Log.Warn("no limiter serves, says the observer; going on with those that did", "revision", v.Revision())
		p.daemon.Health.SetNote("topology", "no limiter serves, says the observer; those that did last are asked")
	}
}

// connections is how many a limiter may be reached over at once; one is enough for
// some hundred thousand attempts a second. It bounds the attempts that can be with
// a limiter, 250 on each: what clients have under way at one proxy beyond that
// waits, and may fail though the limiter is well.
const connections = 16

// connect makes the way to a limiter.
func (p *proxy) connect(m topology.Member, changed func(bool, error)) Upstream {
	return wire.NewClient(wire.ClientOptions{
		Addr:        m.Service.String(),
		Clock:       p.front.Clock,
		Timeout:     p.cfg.AttemptTimeout,
		Connections: connections,
		Log:         p.daemon.Log,
		Changed:     changed,
	})
}

// How long, and how often, the start looks whether limiters can be asked.
const (
	lookEvery = 20 * time.Millisecond
	// lastOnes is how long it waits for the last ones when some can be: until they
	// can, stand-ins would serve their shares too.
	lastOnes = time.Second
)

// awaitLimiters returns when the limiters can be asked, or at least one of them.
func (p *proxy) awaitLimiters(ctx context.Context, h *daemon.Health) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var first time.Time // when one could be asked
	for {
		up, all := p.reachable()
		switch {
		case up == 0:
			first = time.Time{}
			h.SetStarting(p.waitsFor(all))
		case first.IsZero():
			first = time.Now()
		}
		if up > 0 && (up == all || time.Since(first) >= lastOnes) {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// reachable returns how many limiters can be asked, and of how many.
func (p *proxy) reachable() (up, all int) {
	r := p.decider.routes.Load()
	if r == nil {
		return 0, 0
	}
	for _, u := range r.upstreams {
		if u.Up() {
			up++
		}
	}
	return up, len(r.upstreams)
}

// waitsFor says what keeps attempts from being answered, when so many limiters
// serve and none can be asked.
func (p *proxy) waitsFor(limiters int) string {
	if limiters > 0 {
		return fmt.Sprintf("waiting for one of %d limiters to be reached", limiters)
	}
	if why := p.observers.away.Load(); why != nil {
		return *why
	}
	return "waiting for an observer that knows a limiter"
}
