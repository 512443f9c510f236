package front

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/attempt"
)

// Counts are the attempts by answer. They are plain atomics on the way of an
// attempt, and become metrics only when somebody looks.
type Counts [3][len(attempt.Levels)][2]struct {
	atomic.Int64
	_ [56]byte // a cache line each
}

// Add counts an answer. What a shadow quota would have rejected counts as
// rejected, under shadow="true".
func (c *Counts) Add(o *attempt.Outcome) {
	result, shadow := o.Result, 0
	if o.Shadow {
		shadow = 1
		if o.Over {
			result = attempt.Rejected
		}
	}
	c[result][o.Level][shadow].Add(1)
}

// Count returns how many answers there were of a kind.
func (c *Counts) Count(r attempt.Result, l attempt.Level, shadow bool) int64 {
	i := 0
	if shadow {
		i = 1
	}
	return c[r][l][i].Load()
}

// Sums are the answers by result alone.
func (c *Counts) Sums() *adminapi.Attempts {
	var s adminapi.Attempts
	for result, sum := range map[attempt.Result]*int64{
		attempt.Accepted: &s.Accepted, attempt.Rejected: &s.Rejected, attempt.Failed: &s.Failed,
	} {
		for _, level := range attempt.Levels {
			*sum += c.Count(result, level, false) + c.Count(result, level, true)
		}
	}
	return &s
}

var attemptsDesc = prometheus.NewDesc("levee_attempts_total",
	"Attempts by result and by the level at which their quota was found. With shadow=\"true\", "+
		"rejected ones were answered as accepted.",
	[]string{"result", "quota", "shadow"}, nil)

// Describe implements [prometheus.Collector].
func (c *Counts) Describe(ch chan<- *prometheus.Desc) { ch <- attemptsDesc }

// Collect implements [prometheus.Collector].
func (c *Counts) Collect(ch chan<- prometheus.Metric) {
	for _, result := range []attempt.Result{attempt.Accepted, attempt.Rejected, attempt.Failed} {
		for _, level := range attempt.Levels {
			for shadow, name := range []string{"false", "true"} {
				if shadow == 1 && (level == attempt.None || result == attempt.Failed) {
					continue // cannot happen
				}
				ch <- prometheus.MustNewConstMetric(attemptsDesc, prometheus.CounterValue,
					float64(c[result][level][shadow].Load()), result.String(), level.String(), name)
			}
		}
	}
}
