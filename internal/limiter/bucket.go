package limiter

import (
	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/attempt"
)

// Bucket tells what the bucket that an attempt would draw from owes at the time
// now. It changes nothing.
func (d *Decider) Bucket(now int64, a *attempt.Attempt) adminapi.Bucket {
	quotas := d.quotas.Load()
	if quotas == nil {
		return adminapi.Bucket{Level: attempt.None.String()}
	}
	c := d.look(quotas, a)
	b := adminapi.Bucket{Level: c.level.String()}
	if c.quota == nil {
		return b
	}
	l := c.quota.Limit(c.share)
	if l.Interval > 0 { // else a debt waits, and is in hits of another rate
		tat := d.table.Peek(now, c.bucket, &l)
		b.Debt = float64(max(0, tat-now)) / float64(l.Interval)
		b.AtOnce, b.Remaining = l.Fit, l.Remaining(tat, now)
	}
	return b
}
