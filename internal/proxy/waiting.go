package proxy

import (
	"context"
	"sync"
	"time"
)

// waiting are the attempts that nobody can take at the moment: they are asked
// again and again until their time is over, so that the restart of a single
// limiter, or a connection that breaks, need not cost them.
type waiting struct {
	mu     sync.Mutex    // guards calls and ended
	calls  []*call       // in no order
	ended  bool          // nobody looks after them any more
	woken  chan struct{} // told that there are some
	looked []*call       // Run's: kept to spare the allocation
}

// maxWaiting bounds the attempts that wait. More are failed at once: when all
// limiters are away, waiting helps few.
const maxWaiting = 4096

// add takes a call, or returns false when that cannot wait.
func (w *waiting) add(c *call) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended || len(w.calls) == maxWaiting {
		return false
	}
	w.calls = append(w.calls, c)
	select {
	case w.woken <- struct{}{}:
	default: // it has been told
	}
	return true
}

// len returns how many attempts wait.
func (w *waiting) len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.calls)
}

// take returns all calls, which are the caller's then.
func (w *waiting) take(end bool) []*call {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looked, w.calls = w.calls, w.looked[:0]
	w.ended = w.ended || end
	return w.looked
}

// Run looks after the attempts that nobody could take, until ctx ends. Those that
// still wait then are failed.
func (d *Decider) Run(ctx context.Context) error {
	// Ten looks in attempt-timeout, and no more than one a millisecond.
	tick := time.NewTicker(max(d.timeout/10, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			d.again(d.waiting.take(true), true)
			return nil
		case <-d.waiting.woken:
		}
		for some := true; some && ctx.Err() == nil; {
			select {
			case <-ctx.Done():
			case <-tick.C:
				some = d.again(d.waiting.take(false), false)
			}
		}
	}
}

// again asks for each of the calls once more, also whoever has lost it before, and
// gives up those whose time is over. It returns false when there were none.
func (d *Decider) again(calls []*call, end bool) bool {
	now := d.clock()
	for i, c := range calls {
		calls[i] = nil
		c.anew()
		switch {
		case end || now >= c.deadline:
			c.answer(c.failure())
		case c.ask(now) || d.waiting.add(c):
		default:
			c.answer(c.failure())
		}
	}
	return len(calls) > 0
}
