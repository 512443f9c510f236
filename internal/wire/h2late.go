package wire

import (
	"bytes"
	"sync"

	"github.com/levee-project/levee/internal/attempt"
)

// lateAnswers are the answers of an HTTP/2 connection that come from other
// goroutines.
//
// The streams belong to the connection's goroutine as ever, but while it waits
// who holds the lock may look at them.
type lateAnswers struct {
	asked     int  // attempts that were to be answered later, ever
	onlyAsked bool // nothing but the Decider is waited for

	mu      sync.Mutex // guards what follows, and wakeDue while waiting
	late    []*stream  // streams that have been answered
	sent    int        // of them the first ones whose answers are written
	unsent  []byte     // what the socket did not take of these
	given   int        // later answers, ever
	waiting bool       // the goroutine waits, or is about to, and must be roused
	listed  bool       // the sweeper will come
	spare   []*stream  // late in turn; the goroutine's
}

// Answer implements [attempt.Later].
func (st *stream) Answer(o attempt.Outcome) {
	h := st.h
	h.mu.Lock()
	defer h.mu.Unlock()
	st.outcome = o
	h.late = append(h.late, st)
	h.given++
	switch {
	case !h.waiting:
	case !st.simple():
		h.rouseLocked()
	case h.given == h.asked:
		h.deliver()
	case !h.listed:
		h.listed = true
		h.c.s.sweeper.add(h)
	}
}

// simple says whether the connection's goroutine is not needed to answer: no
// window has to be looked at, nobody told, and the end is not near.
func (st *stream) simple() bool {
	return st.outcome.Result != attempt.Failed && !st.traced && !st.h.c.s.draining.Load()
}

// writeLate implements [lateWriter].
func (h *http2) writeLate() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listed = false
	if h.waiting && h.sent < len(h.late) {
		h.deliver()
	}
}

// deliver writes the answers that are there while the goroutine waits. They are
// all simple. When none is left to come, the connection is idle.
func (h *http2) deliver() {
	c, s := h.c, h.c.s
	d := desks.Get().(*desk)
	defer desks.Put(d)
	out, prep, headers := d.out[:0], s.prepared.Load(), s.o.Headers()
	told := s.newTally()
	for ; h.sent < len(h.late); h.sent++ {
		st := h.late[h.sent]
		told.add(st.asked)
		if !st.gone {
			out = prep.appendOutcomeFrame(out, st.id, &st.outcome, headers)
		}
	}
	told.end()
	if len(out) > 0 {
		if n := c.writeNow(out); n < len(out) {
			h.unsent = bytes.Clone(out[n:])
			h.rouseLocked()
			return
		}
	}
	if h.given == h.asked && h.onlyAsked {
		h.wakeDue = told.now + int64(s.o.IdleTimeout)
		c.due.Store(h.wakeDue | idle)
	}
}

// rouseLocked is rouse for those who have the lock and know that the goroutine
// waits.
func (h *http2) rouseLocked() {
	h.waiting = false
	h.c.rouse()
}

// answerLate answers attempts whose answers came later, but for the first few,
// whose answers are written. It returns the emptied list.
func (h *http2) answerLate(late []*stream, sent int) []*stream {
	if len(late) == 0 {
		return late
	}
	headers := h.c.s.o.Headers()
	told := h.c.s.newTally()
	for i, st := range late {
		late[i] = nil
		if i >= sent {
			told.add(st.asked)
		}
		if st.traced {
			h.c.s.o.Trace(&st.req.Attempt, &st.outcome)
		}
		if st.gone {
			h.orphans--
		} else {
			h.forget(st)
			if i >= sent {
				h.answer(asker{st.id, st.window}, &st.outcome, headers)
			}
		}
		st.free()
	}
	told.end()
	return late[:0]
}
