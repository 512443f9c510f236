package front

import (
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/attempt"
)

// Counts are the attempts by answer. They are plain atomics on the way of an
// attempt, a set of them for each lane, and become metrics only when somebody
// looks. Were there a single set, pipelined attempts would wait for the other
// cores' caches for as long as a tenth of all that they cost.
type Counts [lanes]struct {
	n [kinds]atomic.Int64
	_ [64]byte // no cache line is two lanes'
}

const (
	// lanes is how many sets of counters there are: a power of two, and enough that
	// connections which are at work at the same moment seldom share one.
	lanes = 16
	// kinds is more than the kinds of answers: a power of two.
	kinds = 32
)

// placeOf is the place of a kind of answers.
func placeOf(r attempt.Result, l attempt.Level, shadow bool) uint {
	k := uint(r)*8 + uint(l)*2
	if shadow {
		k++
	}
	return k % kinds
}

// kindOf says under what an answer counts. What a shadow quota would have
// rejected counts as rejected, under shadow="true".
func kindOf(o *attempt.Outcome) uint {
	result := o.Result
	if o.Shadow && o.Over {
		result = attempt.Rejected
	}
	return placeOf(result, o.Level, o.Shadow)
}

// add counts n answers of a kind, to attempts of one lane. It returns a number for
// the last of them, so that no other answer has the same; the one before has one
// less by a step of [step].
func (c *Counts) add(lane uint8, kind uint, n int) (serial uint64) {
	at := lane % lanes
	return uint64(c[at].n[kind].Add(int64(n)))*step + uint64(at)*kinds + uint64(kind)
}

// step is from the number of an answer to that of the next one of its kind and
// lane.
const step = lanes * kinds

// Count returns how many answers there were of a kind.
func (c *Counts) Count(r attempt.Result, l attempt.Level, shadow bool) (n int64) {
	kind := placeOf(r, l, shadow)
	for lane := range c {
		n += c[lane].n[kind].Load()
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
