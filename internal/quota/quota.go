package quota

import (
	"fmt"
	"math/big"
	"sync/atomic"
	"time"

	"github.com/levee-project/levee/internal/gcra"
)

// The bounds of a quota, per second for the rate; a rate of 0 is allowed too.
var (
	minRate  = big.NewRat(1, 1e7)
	maxRate  = big.NewRat(1e9, 1)
	maxBurst = big.NewRat(1e9, 1)
)

// maxShares is how many shares a quota keeps limits for. A resource's group has
// one size, and another for a while after members came or went.
const maxShares = 8

// Share is the part of a quota that one limiter passes: Num / Den of it, both 1
// or more. In a group of D it is 1 / D. The zero value is the whole.
type Share struct{ Num, Den int }

// Whole is the share of a limiter that is alone.
var Whole = Share{1, 1}

// Quota is what a whole group may pass of one bucket. It is immutable, and safe
// for many goroutines.
type Quota struct {
	one    gcra.Limit // for the whole
	shadow bool
	shares atomic.Pointer[[]share] // for other shares; replaced whole

	rate, burst *big.Rat // exact; the rate is per second
	per         time.Duration
	value       Value
}

// share is the limit of one limiter.
type share struct {
	of    Share
	limit gcra.Limit
}

// ParseQuota reads the value of a quota entry. The error names the field that
// is wrong and what it may be.
func ParseQuota(text string) (*Quota, error) {
	v, err := decodeValue(text)
	if err != nil {
		return nil, err
	}
	return New(v)
}

// New returns the quota that v spells. The error names the field that is wrong
// and what it may be.
func New(v Value) (*Quota, error) {
	q := &Quota{shadow: v.Shadow, per: time.Second, value: v}
	var err error
	if v.Per != "" {
		if q.per, err = parsePer(v.Per); err != nil {
			return nil, wrong("per", err)
		}
	}
	if q.rate, err = parseRate(v, q.per); err != nil {
		return nil, wrong("rate", err)
	}
	if q.burst, err = parseBurst(v.Burst); err != nil {
		return nil, wrong("burst", err)
	}
	q.one = gcra.NewLimit(q.rate, q.burst, 1)
	return q, nil
}

// parseRate returns the hits a second that v asks for, whose Per is per.
func parseRate(v Value, per time.Duration) (*big.Rat, error) {
	rate, err := parseNumber(v.Rate)
	if err != nil {
		return nil, err
	}
	asked := v.Rate
	if per != time.Second {
		rate.Mul(rate, big.NewRat(int64(time.Second), int64(per)))
		asked += " per " + v.Per
	}
	switch {
	case rate.Sign() < 0:
		return nil, fmt.Errorf("is %s", asked)
	case rate.Sign() > 0 && rate.Cmp(minRate) < 0:
		return nil, fmt.Errorf("is %s: too low", asked)
	case rate.Cmp(maxRate) > 0:
		return nil, fmt.Errorf("is %s: too high", asked)
	}
	return rate, nil
}

func parseBurst(text string) (*big.Rat, error) {
	burst, err := parseNumber(text)
	switch {
	case err != nil:
		return nil, err
	case burst.Sign() < 0 || burst.Cmp(maxBurst) > 0:
		return nil, fmt.Errorf("is %s", text)
	}
	return burst, nil
}

// Rate returns the exact hits a second of the whole group, in a copy.
func (q *Quota) Rate() *big.Rat { return new(big.Rat).Set(q.rate) }

// Burst returns the exact number of hits tolerated at once by the whole group,
// in a copy.
func (q *Quota) Burst() *big.Rat { return new(big.Rat).Set(q.burst) }

// Per returns the duration that the stored rate is for, a second if unsaid.
func (q *Quota) Per() time.Duration { return q.per }

// Shadow says whether the quota only counts what it would reject.
func (q *Quota) Shadow() bool { return q.shadow }

// Value returns the quota as it was spelled.
func (q *Quota) Value() Value { return q.value }

// String returns the quota as it was spelled, in the form of [Value.String].
func (q *Quota) String() string { return q.value.String() }

// Limit returns what a limiter passes whose share is s; no share is more than the
// whole. For the whole it is a plain read; for the last few other shares it is
// remembered, without a lock.
func (q *Quota) Limit(s Share) gcra.Limit {
	if s.Num >= s.Den {
		return q.one
	}
	return q.limitOf(s)
}

// limitOf looks a share up among the remembered ones, or works it out. Who loses
// a race to remember one leaves that to the next call.
func (q *Quota) limitOf(s Share) gcra.Limit {
	known := q.shares.Load()
	var kept []share
	if known != nil {
		for i := range *known {
			if (*known)[i].of == s {
				return (*known)[i].limit
			}
		}
		kept = *known
		kept = kept[max(0, len(kept)-maxShares+1):] // the oldest goes
	}
	parts := big.NewRat(int64(s.Num), 1)
	limit := gcra.NewLimit(parts.Mul(parts, q.rate), new(big.Rat).Mul(big.NewRat(int64(s.Num), 1), q.burst), s.Den)
	next := append(append(make([]share, 0, maxShares), kept...), share{of: s, limit: limit})
	q.shares.CompareAndSwap(known, &next)
	return limit
}
