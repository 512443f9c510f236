package front

import (
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/attempt"
)

// Counts are the attempts by answer. They are plain atomics on the way of an
// attempt, and become metrics only when somebody looks.
type Counts [kinds]struct {
	atomic.Int64
	_ [56]byte // a cache line each
}

// kinds is more than the kinds of answers: a power of two.
const kinds = 32

// kindOf is the place of a kind of answers. What a shadow quota would have rejected
// counts as rejected, under shadow="true".
func kindOf(r attempt.Result, l attempt.Level, shadow bool) uint {
	k := uint(r)*8 + uint(l)*2
	if shadow {
		k++
	}
	return k % kinds
}

// Add counts an answer. It returns a number that no other answer has.
func (c *Counts) Add(o *attempt.Outcome) (serial uint64) {
	result := o.Result
	if o.Shadow && o.Over {
		result = attempt.Rejected
	}
	k := kindOf(result, o.Level, o.Shadow)
	return uint64(c[k].Add(1))*kinds + uint64(k)
}

// Count returns how many answers there were of a kind.
func (c *Counts) Count(r attempt.Result, l attempt.Level, shadow bool) int64 {
	return c[kindOf(r, l, shadow)].Load()
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
			for _, shadow := range []bool{false, true} {
				if shadow && (level == attempt.None || result == attempt.Failed) {
					continue // cannot happen
				}
				ch <- prometheus.MustNewConstMetric(attemptsDesc, prometheus.CounterValue,
					float64(c.Count(result, level, shadow)), result.String(), level.String(), strconv.FormatBool(shadow))
			}
		}
	}
}
