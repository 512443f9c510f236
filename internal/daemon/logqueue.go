package daemon

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// maxLines is how many records wait for a sink that is slow. More are dropped.
	maxLines = 256
	// logPatience is how long somebody who logs waits until the record is written:
	// a process that dies has then said what it had to say. It is a hundred times
	// what a sink needs that works.
	logPatience = 100 * time.Millisecond
)

// lineQueue stands between those who log and a sink that may block: a pipe that
// nobody reads, a journal that is overrun. The records are written one after
// another, in their order. Who logs waits for that, until one of them has waited
// for too long: then nobody does, until the sink has caught up.
//
// Its goroutine lives as long as there is something to write.
type lineQueue struct {
	dropped prometheus.Counter

	mu    sync.Mutex // guards the rest
	lines []line
	last  chan struct{} // closed when the newest line is written
	busy  bool          // the goroutine runs
	stuck bool          // somebody has waited for too long
}

// line is a record on its way to the sink.
type line struct {
	write   func()
	written chan struct{} // closed afterwards
}

// put has write called, after what was put before. It returns when that has
// happened, unless it takes too long.
func (q *lineQueue) put(write func()) {
	l := line{write: write, written: make(chan struct{})}
	wait, ok := q.add(l)
	switch {
	case !ok:
		q.dropped.Inc()
	case wait && !within(logPatience, l.written):
		q.mu.Lock()
		q.stuck = q.busy
		q.mu.Unlock()
	}
}

// add puts l into the queue, if there is room, and says whether to wait for it.
func (q *lineQueue) add(l line) (wait, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines) == maxLines {
		return false, false
	}
	q.lines = append(q.lines, l)
	q.last = l.written
	if !q.busy {
		q.busy = true
		go q.run() // put and flush wait for it
	}
	return !q.stuck, true
}

// run writes until nothing is left.
func (q *lineQueue) run() {
	for {
		l, ok := q.next()
		if !ok {
			return
		}
		l.write()
		close(l.written)
	}
}

func (q *lineQueue) next() (l line, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines) == 0 {
		q.lines, q.busy, q.stuck = nil, false, false
		return line{}, false
	}
	l, q.lines = q.lines[0], q.lines[1:]
	return l, true
}

// flush waits until everything is written, but no longer than bound.
func (q *lineQueue) flush(bound time.Duration) {
	q.mu.Lock()
	last, busy := q.last, q.busy
	q.mu.Unlock()
	if busy {
		within(bound, last)
	}
}

// within says whether done is closed in time.
func within(bound time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(bound)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
