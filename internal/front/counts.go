package front

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/attempt"
)

// lanes is how many sets of counters there are: a power of two, and enough that
// connections which are at work at the same moment seldom share one.
const lanes = 16

// Counts are the attempts by answer. They are plain atomics on the way of an
// attempt, a set of them for each lane, and become metrics only when somebody
// looks. Were there a single set, pipelined attempts would wait for the other
// cores' caches for as long as a tenth of all that they cost.
type Counts [lanes]struct {
	n [3][len(attempt.Levels)][2]atomic.Int64
	_ [64]byte // no cache line is two lanes'
}

// kindOf says under what an answer counts. What a shadow quota would have
// rejected counts as rejected, under shadow="true".
func kindOf(o *attempt.Outcome) (r attempt.Result, l attempt.Level, shadow int) {
	r, l = o.Result, o.Level
	if o.Shadow {
		shadow = 1
		if o.Over {
			r = attempt.Rejected
		}
	}
	return r, l, shadow
}

// Add counts an answer to an attempt of a lane.
func (c *Counts) Add(lane uint8, o *attempt.Outcome) {
	result, level, shadow := kindOf(o)
	c[lane%lanes].n[result][level][shadow].Add(1)
}

// AddAll counts answers to attempts of one lane. Those of a kind that follow each
// other cost as much as one.
func (c *Counts) AddAll(lane uint8, all []attempt.Outcome) {
	n := int64(0)
	for i := range all {
		n++
		if i+1 < len(all) {
			o, next := &all[i], &all[i+1]
			if o.Result == next.Result && o.Level == next.Level && o.Shadow == next.Shadow && o.Over == next.Over {
				continue
			}
		}
		result, level, shadow := kindOf(&all[i])
		c[lane%lanes].n[result][level][shadow].Add(n)
		n = 0
	}
}

// Count returns how many answers there were of a kind.
func (c *Counts) Count(r attempt.Result, l attempt.Level, shadow bool) (n int64) {
	i := 0
	if shadow {
		i = 1
	}
	for lane := range c {
		n += c[lane].n[r][l][i].Load()
	}
	return n
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
					float64(c.Count(result, level, shadow == 1)), result.String(), level.String(), name)
			}
		}
	}
}
