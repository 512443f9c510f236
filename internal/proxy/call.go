package proxy

import (
	"errors"
	"sync"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/wire"
)

// call is one attempt on its way. It belongs to one party at a time: whoever
// makes it, then the limiter that is asked, then whoever hears of the answer.
// Nobody touches it after handing it on.
type call struct {
	turn
	d        *Decider
	later    attempt.Later
	attempt  attempt.Attempt // its bytes are in buf
	buf      []byte
	deadline int64 // clock by which an answer is due

	level  attempt.Level
	shadow bool

	asked     *upstream // who has the attempt, or had it last; nil for nobody yet
	why       string    // what came of that, when it was no answer
	refused   bool      // a limiter has answered that it cannot decide
	spilled   bool      // the one that the turn was dealt to has rejected
	rejection attempt.Outcome
}

var callPool = sync.Pool{New: func() any { return new(call) }}

// keptBytes is the longest copy of an attempt that an unused call keeps room for.
const keptBytes = 1 << 10

// newCall returns the call of an attempt that begins now. It has a copy of a.
func (d *Decider) newCall(now int64, a *attempt.Attempt, later attempt.Later) *call {
	c := callPool.Get().(*call)
	c.d, c.later = d, later
	c.deadline = now + 2*int64(d.timeout)
	c.attempt.Hits, c.attempt.Lane = a.Hits, a.Lane
	c.buf = c.buf[:0]
	c.attempt.Resource = c.keep(a.Resource)
	c.attempt.Prefix = c.keep(a.Prefix)
	c.attempt.Method = c.keep(a.Method)
	c.attempt.ReqID = c.keep(a.ReqID)
	return c
}

// keep returns a copy of part in the call's buffer. Parts that were kept before
// stay where they are when the buffer has to grow.
func (c *call) keep(part []byte) []byte {
	start := len(c.buf)
	c.buf = append(c.buf, part...)
	return c.buf[start:len(c.buf):len(c.buf)]
}

// unknownPolicy is that of an answer in which a limiter has said nothing of it.
var unknownPolicy = attempt.Policy{Limit: -1}

// end completes and counts an answer, and gives the call back: nobody knows it
// any more.
func (c *call) end(o attempt.Outcome) attempt.Outcome {
	if o.Level == attempt.None {
		o.Policy = unknownPolicy
	} else {
		o.Policy.Limit *= int64(c.size)
		o.Policy.Remaining *= int64(c.size)
	}
	o.Level = c.level
	if o.Result == attempt.Accepted {
		o.Shadow = c.shadow
	}
	c.d.tally.Add(&c.attempt, &o)

	clear(c.tried)
	*c = call{buf: c.buf, turn: turn{tried: c.tried[:0]}}
	if cap(c.buf) > keptBytes {
		c.buf = nil
	}
	callPool.Put(c)
	return o
}

// answer gives the last word.
func (c *call) answer(o attempt.Outcome) {
	later := c.later
	later.Answer(c.end(o))
}

// ask hands the attempt to a limiter that has not been asked yet, under the
// topology of the moment. When it has, the call is not the caller's any more.
func (c *call) ask(now int64) bool {
	c.look()
	for refused := false; ; refused = true {
		u := c.pick(now)
		if u == nil {
			return false
		}
		if refused {
			c.d.retries[reasonRefused].Add(1)
		}
		if c.hand(u, now) {
			return true
		}
	}
}

// look finds who can have the turn, unless that is known.
func (c *call) look() {
	r := c.d.routes.Load()
	if c.routes == r {
		return
	}
	c.routes = r
	if len(r.upstreams) <= few {
		c.rank = r.appendRank(c.room[:0], c.key)
	} else {
		c.rank = r.rank(c.key)
	}
	c.size = r.view.GroupSize(c.d.quotas.Load().Factor(c.attempt.Resource))
}

// hand asks one limiter.
func (c *call) hand(u *upstream, now int64) bool {
	c.tried = append(c.tried, u)
	c.asked, c.why = u, "it could not be asked"
	u.traffic.attempts.Add(1)
	if u.Ask(now, &c.attempt, c) {
		return true
	}
	u.traffic.errors[reasonRefused].Add(1)
	return false
}

// Done implements [wire.Call].
func (c *call) Done(o attempt.Outcome, err error) {
	switch why, failed := c.fault(&o, err); {
	case c.spilled:
		c.afterSpill(o, failed)
	case failed:
		c.retry(why)
	case o.Result != attempt.Rejected || !c.spillOver(o):
		c.answer(o)
	}
}

// fault says whether a limiter has not answered, and why. That it cannot decide
// is no answer either, unless no quota applies: then it may be told to fail.
func (c *call) fault(o *attempt.Outcome, err error) (why reason, failed bool) {
	switch {
	case err == nil && (o.Result != attempt.Failed || c.level == attempt.None):
		return 0, false
	case err == nil:
		why, c.why = reasonRefused, o.Failure
	case errors.Is(err, wire.ErrTimeout):
		why, c.why = reasonTimeout, err.Error()
	default:
		why, c.why = reasonLost, err.Error()
	}
	c.asked.traffic.errors[why].Add(1)
	return why, true
}

// retry asks somebody else, as long as there is time. When a limiter says that it
// cannot decide, one other is asked: if that says the same, it is so.
func (c *call) retry(why reason) {
	if why == reasonTimeout {
		c.never(c.asked)
	}
	d, now, again := c.d, c.d.clock(), c.refused
	c.refused = c.refused || why == reasonRefused
	switch {
	case now >= c.deadline || again && why == reasonRefused:
	case c.ask(now):
		d.retries[why].Add(1)
		return
	case !c.refused && d.waiting.add(c):
		return
	}
	c.answer(c.failure())
}

// spillOver asks the next limiter of the group about an attempt that was rejected
// by the one whose turn it was: that one may have spent its share while the other
// has not. It is asked once, so no more passes than the shares together.
func (c *call) spillOver(o attempt.Outcome) bool {
	d := c.d
	if !d.spill.Load() || c.size < 2 || c.level == attempt.None || c.attempt.Hits == 0 {
		return false
	}
	now := d.clock()
	u := c.other(now)
	if u == nil {
		return false
	}
	c.spilled, c.rejection = true, o
	if c.hand(u, now) {
		d.spilled.Add(1)
		return true
	}
	return false
}

// afterSpill answers when the second limiter was asked too. What came first
// stands unless the second one accepts, or says a shorter wait.
func (c *call) afterSpill(o attempt.Outcome, failed bool) {
	first := c.rejection
	switch {
	case failed:
		o = first
	case o.Result == attempt.Rejected && first.RetryAfter > 0 && (o.RetryAfter == 0 || first.RetryAfter < o.RetryAfter):
		o = first
	}
	c.answer(o)
}

// failure is the answer when nobody has given one. A quota that only counts does
// not reject.
func (c *call) failure() attempt.Outcome {
	switch onFailure := c.d.onFailure; {
	case onFailure == config.FailureAccept, onFailure == config.FailureReject && c.shadow:
		return attempt.Outcome{Result: attempt.Accepted}
	case onFailure == config.FailureReject:
		return attempt.Outcome{Result: attempt.Rejected}
	}
	why := "no limiter can be reached"
	if c.asked != nil {
		why = "no limiter has decided; the last one asked was " + c.asked.id + " at " + c.asked.service.String() + ": " + c.why
	}
	return attempt.Outcome{Result: attempt.Failed, Failure: why}
}
