package proxy

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/levee-project/levee/internal/topology"
)

// fleet holds the connections to the limiters, and makes the routes to them from
// each new topology.
type fleet struct {
	connect connect
	clock   func() int64
	grace   time.Duration // the longest that an attempt can be on its way
	log     *slog.Logger

	ctx  context.Context // ends when the fleet does
	stop context.CancelFunc
	wg   sync.WaitGroup // one for each goroutine

	routes *routes // those handed out last; nil before the first
}

// connect makes the way to a limiter, which is up once it runs. changed is to be
// told, by one goroutine at a time, when it is up, and when and why it is not any
// more.
type connect func(m topology.Member, changed func(up bool, why error)) Upstream

// newFleet returns a fleet without limiters. clock is the one that attempts are
// asked by, and grace the longest that one can be on its way.
func newFleet(connect connect, clock func() int64, grace time.Duration, log *slog.Logger) *fleet {
	ctx, stop := context.WithCancel(context.Background())
	return &fleet{connect: connect, clock: clock, grace: grace, log: log, ctx: ctx, stop: stop}
}

// run ends the connections when ctx ends, and returns when they have ended.
// [fleet.take] must not be called any more then.
func (f *fleet) run(ctx context.Context) error {
	<-ctx.Done()
	f.stop()
	f.wg.Wait()
	return nil
}

// take returns the routes under a view. A limiter that is the same as before
// keeps its connection; those that are no more, or are others now, lose theirs
// when no attempt can be on its way to them. It is for one goroutine at a time.
func (f *fleet) take(view *topology.View) *routes {
	old := map[string]*upstream{}
	if f.routes != nil {
		for _, u := range f.routes.upstreams {
			old[u.id] = u
		}
	}
	var upstreams []*upstream
	for _, m := range view.Serving() {
		u := old[m.ID]
		who := identity{m.ID, m.Incarnation, m.Service}
		switch {
		case u == nil:
			u = f.start(who, m, new(traffic))
		case u.identity != who:
			u = f.start(who, m, u.traffic)
		default:
			delete(old, m.ID)
		}
		upstreams = append(upstreams, u)
	}
	for _, u := range old {
		f.retire(u)
	}
	f.routes = newRoutes(view, upstreams, f.routes)
	return f.routes
}

func (f *fleet) start(who identity, m topology.Member, t *traffic) *upstream {
	ctx, stop := context.WithCancel(f.ctx)
	u := &upstream{identity: who, traffic: t, stop: stop}
	log := f.log.With("limiter", u.id, "addr", u.service.String())
	u.Upstream = f.connect(m, func(up bool, why error) {
		u.changed(f.clock(), up)
		switch {
		case u.gone.Load(): // nobody asks it
		case up:
			log.Info("limiter can be asked")
		case ctx.Err() == nil:
			log.Warn("limiter cannot be asked; others are in its place", "err", why)
		}
	})
	f.wg.Go(func() { u.Run(ctx) })
	return u
}

// retire ends an upstream that gets no more attempts, once those that it has or
// is about to get are answered.
func (f *fleet) retire(u *upstream) {
	u.gone.Store(true)
	f.wg.Go(func() {
		defer u.stop()
		last := time.NewTimer(f.grace)
		defer last.Stop()
		select {
		case <-last.C:
		case <-f.ctx.Done():
		}
	})
}
