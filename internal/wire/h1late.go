package wire

import (
	"sync"

	"github.com/levee-project/levee/internal/attempt"
)

// turn is an attempt whose answer waits: for the Decider, or for the answers to
// requests before it.
type turn struct {
	h        *http1
	conn     persistence
	late     bool  // the Decider answers later
	traced   bool  // Trace is to be told; the attempt is still in h.req
	asked    int64 // clock
	answered bool  // outcome is there
	outcome  attempt.Outcome
}

var turnPool = sync.Pool{New: func() any { return new(turn) }}

// maxTurns bounds the attempts of a connection that wait for their answers.
const maxTurns = 64

// turns are the attempts of an HTTP/1.x connection that wait for their answers.
//
// While the connection's goroutine works they are its own, but for those with
// the Decider. While it is parked, waiting for its client, they and the
// connection's answers belong to whoever holds the lock.
type turns struct {
	queue []*turn       // in the order of the requests
	asked int           // attempts that were to be answered later, ever
	spare *turn         // the next one
	ready chan struct{} // told when none is outstanding and settle waits

	mu       sync.Mutex // guards what follows, and the turns' answers
	given    int        // later answers, ever
	parked   bool       // the goroutine waits for its client
	awaiting bool       // it waits in settle, for the Decider
	listed   bool       // the sweeper will come
}

// attempt has the request's attempt answered, now or later.
func (h *http1) attempt(conn persistence) {
	c, a := h.c, &h.req.Attempt
	a.Lane = c.lane
	if h.spare == nil {
		h.spare = turnPool.Get().(*turn)
		h.spare.h = h
	}
	t := h.spare
	t.conn, t.asked = conn, c.now
	o, answered := c.s.decide(c.now, a, t)
	if answered {
		h.decided++
		if len(h.queue) == 0 {
			c.out = c.prep.appendOutcome(c.out, &o, c.s.o.Headers(), conn)
			return
		}
		t.outcome, t.answered = o, true
	} else {
		t.late = true
		h.asked++
	}
	h.spare = nil
	h.queue = append(h.queue, t)
	c.pending.Store(true)
	t.traced = t.late && c.s.o.Verbose()
	if t.traced || conn == persistClose || len(h.queue) == maxTurns {
		h.settle()
	}
}

// Answer implements [attempt.Later].
func (t *turn) Answer(o attempt.Outcome) {
	h := t.h
	h.mu.Lock()
	defer h.mu.Unlock()
	t.outcome, t.answered = o, true
	h.given++
	switch {
	case h.awaiting:
		if h.given == h.asked {
			h.awaiting = false
			h.ready <- struct{}{}
		}
	case !h.parked:
	case h.given == h.asked:
		h.deliver()
	case h.ripe() && !h.listed:
		h.listed = true
		h.c.s.sweeper.add(h)
	}
}

// writeLate implements [lateWriter].
func (h *http1) writeLate() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listed = false
	if h.parked && h.ripe() {
		h.deliver()
	}
}

// ripe says whether there is an answer whose turn it is. There is a turn.
func (h *http1) ripe() bool { return h.queue[0].answered }

// deliver writes the answers that are there while the goroutine is parked. When
// none is left to come, the connection is idle.
func (h *http1) deliver() {
	c := h.c
	now := h.gather()
	n := c.writeNow(c.out)
	if n < len(c.out) {
		c.out = c.out[:copy(c.out, c.out[n:])]
		h.parked = false
		c.rouse()
		return
	}
	c.out = c.out[:0]
	if len(h.queue) == 0 {
		h.parked = false
		c.due.Store((now + int64(c.s.o.IdleTimeout)) | idle)
		c.pending.Store(false) // the last thing: the goroutine may look at nothing else
	}
}

// gather moves the answers whose turn it is to the connection's, and reads the
// clock.
func (h *http1) gather() (now int64) {
	c, prep, headers := h.c, h.c.s.prepared.Load(), h.c.s.o.Headers()
	told := c.s.newTally()
	n := 0
	for _, t := range h.queue {
		if !t.answered {
			break
		}
		c.out = prep.appendOutcome(c.out, &t.outcome, headers, t.conn)
		n++
		if t.late {
			told.add(t.asked)
		}
		if t.traced {
			c.s.o.Trace(&h.req.Attempt, &t.outcome)
		}
		*t = turn{h: h}
		if h.spare == nil {
			h.spare = t
			continue
		}
		t.h = nil
		turnPool.Put(t)
	}
	kept := copy(h.queue, h.queue[n:])
	clear(h.queue[kept:])
	h.queue = h.queue[:kept]
	told.end()
	return told.now
}

// rest sends what is due and makes the connection ready to wait for its client.
// Attempts that wait for the Decider need not keep it from that.
func (h *http1) rest(expire func()) error {
	c := h.c
	for {
		if err := c.flush(); err != nil {
			return err
		}
		if cap(c.out) > keptOut {
			c.out = nil
		}
		if len(h.queue) == 0 {
			c.pending.Store(false)
			expire()
			return nil
		}
		c.due.Store(never) // the Decider has its own deadline
		if h.park() {
			return nil
		}
	}
}

// park leaves the connection to those who bring answers. It fails if some have.
func (h *http1) park() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ripe() {
		h.gather()
		return false
	}
	h.parked = true
	return true
}

// unpark ends what park began.
func (h *http1) unpark() {
	if h.c.pending.Load() {
		h.mu.Lock()
		h.parked = false
		h.mu.Unlock()
	}
}

// settle waits until the Decider has answered all attempts, before something
// that cannot be done earlier: a turn is for attempts only, and while the
// connection is parked it has no read buffer. The answers that are due do not
// wait.
func (h *http1) settle() {
	if len(h.queue) == 0 {
		return
	}
	c := h.c
	h.mu.Lock()
	h.awaiting = h.given < h.asked
	wait := h.awaiting
	if wait && h.ripe() {
		h.gather()
	}
	h.mu.Unlock()
	if wait {
		h.observe()
		_ = c.flush() // whoever writes next meets the error again
		c.due.Store(never)
		<-h.ready
		c.now = c.s.o.Clock()
		h.began = c.now
	}
	h.gather()
	c.pending.Store(false)
}
