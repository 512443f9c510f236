package limiter

import (
	"sync/atomic"
	"time"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/gcra"
	"github.com/levee-project/levee/internal/keytable"
	"github.com/levee-project/levee/internal/quota"
)

// notLoaded is the answer before the shared configuration is known: failing is
// better than letting everything pass.
const notLoaded = "the shared configuration is not loaded yet; see /readyz for what is waited for"

// Decider answers attempts from the key table. It implements [attempt.Decider]:
// the answer comes in the same call, with no lock, no goroutine and no
// allocation.
type Decider struct {
	table  *keytable.Table
	quotas atomic.Pointer[quota.Snapshot] // nil until the first tree
	rules  atomic.Pointer[rules]
	counts counts
}

// rules are the options that a decision depends on. They are replaced whole.
type rules struct {
	noQuota  config.NoQuota
	policies bool // whether answers carry the policy of the bucket
}

// NewDecider returns a decider that fails every attempt until it has quotas.
func NewDecider(table *keytable.Table, noQuota config.NoQuota, policies bool) *Decider {
	d := &Decider{table: table}
	d.setRules(noQuota, policies)
	return d
}

func (d *Decider) setRules(noQuota config.NoQuota, policies bool) {
	d.rules.Store(&rules{noQuota: noQuota, policies: policies})
}

// SetQuotas puts quotas in force, for every attempt from now on.
func (d *Decider) SetQuotas(s *quota.Snapshot) { d.quotas.Store(s) }

// Attempt implements [attempt.Decider].
func (d *Decider) Attempt(now int64, a *attempt.Attempt) attempt.Outcome {
	o := d.decide(now, a)
	d.counts.add(&o)
	return o
}

func (d *Decider) decide(now int64, a *attempt.Attempt) attempt.Outcome {
	quotas := d.quotas.Load()
	if quotas == nil {
		return attempt.Outcome{Result: attempt.Failed, Failure: notLoaded}
	}
	q, level := quotas.Resolve(a)
	if q == nil {
		return d.withoutQuota()
	}
	l := q.Limit(1)
	tat, ok := d.take(now, level, a, &l)
	return d.outcome(now, a, q, level, &l, tat, ok)
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

// A bucket's name is built on the stack. Every call pays for zeroing its
// buffer, and hardly any needs the large one.
const (
	shortBucket = 192
	longBucket  = 3*attempt.MaxKeyPart + 8
)

// take asks the attempt's bucket for its hits.
func (d *Decider) take(now int64, level attempt.Level, a *attempt.Attempt, l *gcra.Limit) (tat int64, ok bool) {
	if len(a.Resource)+len(a.Prefix)+len(a.Method)+8 > shortBucket {
		return d.takeLong(now, level, a, l)
	}
	var name [shortBucket]byte
	return d.ask(now, quota.AppendBucket(name[:0], level, a), a.Hits, l)
}

// takeLong is take for long keys. It is not inlined, so that its buffer is not
// part of its caller's stack frame.
//
//go:noinline
func (d *Decider) takeLong(now int64, level attempt.Level, a *attempt.Attempt, l *gcra.Limit) (tat int64, ok bool) {
	var name [longBucket]byte
	return d.ask(now, quota.AppendBucket(name[:0], level, a), a.Hits, l)
}

func (d *Decider) ask(now int64, bucket []byte, hits uint32, l *gcra.Limit) (tat int64, ok bool) {
	if hits == 0 {
		tat = d.table.Peek(now, bucket, l)
		_, ok = l.Conforms(tat, now, 1)
		return tat, ok
	}
	return d.table.Take(now, bucket, l, int64(hits))
}

// outcome puts the answer together.
func (d *Decider) outcome(now int64, a *attempt.Attempt, q *quota.Quota, level attempt.Level, l *gcra.Limit, tat int64, ok bool) attempt.Outcome {
	o := attempt.Outcome{Result: attempt.Accepted, Level: level, Shadow: q.Shadow(), Over: !ok}
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
