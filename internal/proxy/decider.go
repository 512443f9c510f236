package proxy

import (
	"sync/atomic"
	"time"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/front"
	"github.com/levee-project/levee/internal/hrw"
	"github.com/levee-project/levee/internal/quota"
)

// The answers before the proxy knows what it has to.
const (
	notLoaded = "the shared configuration is not loaded yet; see /readyz for what is waited for"
	noLimiter = "no limiter is known yet; see /readyz for what is waited for"
)

// Decider answers attempts by asking limiters. It implements [attempt.Decider];
// on the way of an attempt there is no allocation, and no lock that is held for
// longer than a look into a map.
type Decider struct {
	quotas  atomic.Pointer[quota.Snapshot] // nil until the first tree
	routes  atomic.Pointer[routes]         // nil until the first topology with a limiter
	deals   *deals
	waiting waiting
	spill   atomic.Bool

	clock     func() int64
	timeout   time.Duration // attempt-timeout
	onFailure config.OnFailure

	tally   *front.Tally
	retries [reasonCount]atomic.Int64
	spilled atomic.Int64
}

// NewDecider returns a decider that fails every attempt until it has quotas and
// routes. clock is the one that attempts are asked by.
func NewDecider(cfg *config.ClientProxy, clock func() int64) *Decider {
	d := &Decider{
		deals:     newDeals(),
		tally:     front.NewTally(),
		clock:     clock,
		timeout:   cfg.AttemptTimeout,
		onFailure: cfg.OnFailure,
	}
	d.waiting.woken = make(chan struct{}, 1)
	d.spill.Store(cfg.Spill)
	return d
}

// SetQuotas puts quotas in force, for every attempt from now on.
func (d *Decider) SetQuotas(s *quota.Snapshot) { d.quotas.Store(s) }

// SetSpill says whether what one limiter rejects is asked of a second one.
func (d *Decider) SetSpill(on bool) { d.spill.Store(on) }

// setRoutes puts a topology in force, in which somebody serves.
func (d *Decider) setRoutes(r *routes) { d.routes.Store(r) }

// Attempt implements [attempt.Decider].
//
// The level and the shadow of the outcome are those that apply here. In its
// policy, the limit and what remains are those of the limiter that answered times
// the group size, because a limiter speaks of its share. Of a shadow quota, only
// the limiters know whether it was exceeded.
func (d *Decider) Attempt(now int64, a *attempt.Attempt, later attempt.Later) (o attempt.Outcome, answered bool) {
	quotas := d.quotas.Load()
	if quotas == nil {
		return d.unable(a, notLoaded), true
	}
	if d.routes.Load() == nil {
		return d.unable(a, noLimiter), true
	}
	c := d.newCall(now, a, later)
	q, level := quotas.Resolve(a)
	c.level, c.shadow = level, q != nil && q.Shadow()
	c.key = hrw.Key(a.Resource)
	if c.look(); c.size > 1 { // else every turn is the same limiter's
		c.number = d.deals.turn(level, a)
	}
	if c.ask(now) || d.waiting.add(c) {
		return attempt.Outcome{}, false
	}
	o = c.failure()
	return c.end(o), true
}

// unable answers before the proxy can ask anybody.
func (d *Decider) unable(a *attempt.Attempt, why string) attempt.Outcome {
	o := attempt.Outcome{Result: attempt.Failed, Failure: why}
	d.tally.Add(a, &o)
	return o
}
