package limiter

import (
	"sync/atomic"
	"time"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/front"
	"github.com/levee-project/levee/internal/gcra"
	"github.com/levee-project/levee/internal/keytable"
	"github.com/levee-project/levee/internal/quota"
	"github.com/levee-project/levee/internal/topology"
)

// notLoaded is the answer before the shared configuration is known: failing is
// better than letting everything pass.
const notLoaded = "the shared configuration is not loaded yet; see /readyz for what is waited for"

// Decider answers attempts from the key table. It implements [attempt.Batcher]:
// the answer comes in the same call, with no lock, no goroutine and no
// allocation.
type Decider struct {
	table  *keytable.Table
	quotas atomic.Pointer[quota.Snapshot] // nil until the first tree
	rules  atomic.Pointer[rules]
	view   atomic.Pointer[topology.View] // nil for a limiter that is alone
	tally  *front.Tally
}

// rules are the options that a decision depends on. They are replaced whole.
type rules struct {
	noQuota      config.NoQuota
	policies     bool // whether answers carry the policy of the bucket
	conservative bool // what is silent may pass its share too
}

// NewDecider returns a decider that fails every attempt until it has quotas.
func NewDecider(table *keytable.Table, cfg *config.Limiter) *Decider {
	d := &Decider{table: table, tally: front.NewTally()}
	d.SetRules(cfg)
	return d
}

// SetRules puts the options that a decision depends on in force.
func (d *Decider) SetRules(cfg *config.Limiter) {
	d.rules.Store(&rules{
		noQuota:      cfg.NoQuota,
		policies:     cfg.ResponseHeaders == config.HeadersRateLimit,
		conservative: cfg.OnPartition == config.PartitionConservative,
	})
}

// SetQuotas puts quotas in force, for every attempt from now on.
func (d *Decider) SetQuotas(s *quota.Snapshot) { d.quotas.Store(s) }

// SetView says who shares the quotas, from now on. Without it nobody does.
func (d *Decider) SetView(v *topology.View) { d.view.Store(v) }

// Attempt implements [attempt.Decider].
func (d *Decider) Attempt(now int64, a *attempt.Attempt, _ attempt.Later) (o attempt.Outcome, answered bool) {
	if quotas := d.quotas.Load(); quotas == nil {
		o = attempt.Outcome{Result: attempt.Failed, Failure: notLoaded}
	} else {
		c := d.look(quotas, a)
		o = d.decide(now, a, &c)
	}
	d.tally.Add(a, &o)
	return o, true
}

// batch is how many attempts are looked up before they are decided.
const batch = 32

// Attempts implements [attempt.Batcher]. With millions of keys a decision is
// little more than waiting for memory; looking up many before deciding any lets
// these waits overlap.
func (d *Decider) Attempts(now int64, as []attempt.Attempt, outcomes []attempt.Outcome) {
	quotas := d.quotas.Load()
	var cases [batch]applicable
	for len(as) > 0 {
		n := min(len(as), batch)
		if quotas != nil {
			for i := range n {
				cases[i] = d.look(quotas, &as[i])
			}
		}
		for i := range n {
			outcomes[i] = attempt.Outcome{Result: attempt.Failed, Failure: notLoaded}
			if quotas != nil {
				outcomes[i] = d.decide(now, &as[i], &cases[i])
			}
		}
		d.tally.AddAll(as[:n], outcomes[:n])
		as, outcomes = as[n:], outcomes[n:]
	}
}

// applicable is what applies to an attempt: a quota, and the bucket to draw
// from. The quota is nil when none applies.
type applicable struct {
	quota  *quota.Quota
	level  attempt.Level
	share  quota.Share
	bucket keytable.Bucket
}

// look finds what applies to an attempt, and has the memory of its bucket
// fetched.
func (d *Decider) look(quotas *quota.Snapshot, a *attempt.Attempt) (c applicable) {
	c.quota, c.level = quotas.Resolve(a)
	if c.quota != nil {
		if v := d.view.Load(); v != nil { // else it passes the whole
			c.share = d.share(v, quotas, a)
		}
		c.bucket = d.bucket(c.level, a)
		d.table.Touch(c.bucket)
	}
	return c
}

// share returns the part of a resource's quota that this limiter passes: one of
// its group's size in force. Conservative limiters also leave aside what those
// that are silent may be passing behind a partition.
func (d *Decider) share(v *topology.View, quotas *quota.Snapshot, a *attempt.Attempt) quota.Share {
	size := v.GroupSize(quotas.Factor(a.Resource))
	if live, known := v.Live(), v.Known(); live < known && live > 0 && d.rules.Load().conservative {
		return quota.Share{Num: live, Den: size * known}
	}
	return quota.Share{Num: 1, Den: size}
}

func (d *Decider) bucket(level attempt.Level, a *attempt.Attempt) keytable.Bucket {
	if !quota.IsShort(a) {
		return d.longBucket(level, a)
	}
	var name [quota.ShortBucket]byte
	return d.table.Bucket(quota.AppendBucket(name[:0], level, a))
}

// longBucket is bucket for long keys. It is not inlined, so that its buffer is
// not part of its caller's stack frame.
//
//go:noinline
func (d *Decider) longBucket(level attempt.Level, a *attempt.Attempt) keytable.Bucket {
	var name [quota.LongBucket]byte
	return d.table.Bucket(quota.AppendBucket(name[:0], level, a))
}

func (d *Decider) decide(now int64, a *attempt.Attempt, c *applicable) attempt.Outcome {
	if c.quota == nil {
		return d.withoutQuota()
	}
	l := c.quota.Limit(c.share)
	if a.Hits == 0 {
		tat := d.table.Peek(now, c.bucket, &l)
		_, ok := l.Conforms(tat, now, 1)
		return d.outcome(now, a, c, &l, tat, ok)
	}
	tat, ok := d.table.Take(now, c.bucket, &l, int64(a.Hits))
	return d.outcome(now, a, c, &l, tat, ok)
}

// withoutQuota answers when no quota applies at any level.
func (d *Decider) withoutQuota() attempt.Outcome {
	switch d.rules.Load().noQuota {
	case config.NoQuotaReject:
		return attempt.Outcome{Result: attempt.Rejected, Over: true}
	case config.NoQuotaFail:
		return attempt.Outcome{Result: attempt.Failed, Failure: "no quota applies to this resource"}
	default:
		return attempt.Outcome{Result: attempt.Accepted}
	}
}

// outcome puts the answer together.
func (d *Decider) outcome(now int64, a *attempt.Attempt, c *applicable, l *gcra.Limit, tat int64, ok bool) attempt.Outcome {
	o := attempt.Outcome{Result: attempt.Accepted, Level: c.level, Shadow: c.quota.Shadow(), Over: !ok}
	if !ok && !o.Shadow {
		o.Result = attempt.Rejected
		o.RetryAfter, _ = l.Wait(tat, now, max(1, int64(a.Hits)))
	}
	if d.rules.Load().policies {
		o.Policy = attempt.Policy{
			Limit:     l.Fit,
			Window:    time.Duration(l.Tolerance + l.Interval),
			Remaining: l.Remaining(tat, now),
			Reset:     time.Duration(max(0, tat-now)),
		}
	}
	return o
}
