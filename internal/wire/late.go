package wire

import (
	"runtime"
	"sync"
)

// Answers that come late are given by some goroutine that has others to give
// when it is done. While the connection's own goroutine waits for its client,
// it need not be woken for them: an answer after which none is outstanding on
// the connection is written by the goroutine that gives it, together with those
// before it. Otherwise more are likely to follow at once, and the sweeper looks
// a moment later.
//
// Whoever writes for a connection in this way holds its lock and never waits
// for the client. What the socket does not take is left to the connection's
// goroutine, which is roused.

// lateWriter is a connection with late answers to write.
type lateWriter interface {
	// writeLate writes the answers that are there, if the connection's goroutine
	// still waits for its client.
	writeLate()
}

// sweeper writes the late answers of connections on which more are outstanding.
type sweeper struct {
	wake chan struct{}

	mu    sync.Mutex   // guards list
	list  []lateWriter // each connection at most once
	spare []lateWriter // list in turn
}

func newSweeper() *sweeper { return &sweeper{wake: make(chan struct{}, 1)} }

// add has a connection's answers written soon.
func (s *sweeper) add(w lateWriter) {
	s.mu.Lock()
	s.list = append(s.list, w)
	first := len(s.list) == 1
	s.mu.Unlock()
	if first {
		s.wake <- struct{}{} // has room: it was taken before the list was
	}
}

// run sweeps until ended is closed.
func (s *sweeper) run(ended <-chan struct{}) {
	for {
		select {
		case <-ended:
			return
		case <-s.wake:
			runtime.Gosched() // answers come in swarms: let those that are about to share a write
			s.sweep()
		}
	}
}

func (s *sweeper) sweep() {
	s.mu.Lock()
	list := s.list
	s.list = s.spare
	s.mu.Unlock()
	for i, w := range list {
		w.writeLate()
		list[i] = nil
	}
	s.spare = list[:0]
}

// writeNow writes as much of b as the peer takes at once, and returns how much
// that was. It is for goroutines that are not the connection's, and hold its
// lock. An error counts as nothing taken: the connection's goroutine meets it,
// too.
func (c *conn) writeNow(b []byte) int {
	c.piece, c.taken = b, 0
	_ = c.raw.Control(c.writePiece)
	c.piece = nil
	return c.taken
}

// tryPiece is writeNow's call.
func (c *conn) tryPiece(fd uintptr) {
	if n, errno := writeSocket(fd, c.piece); errno == 0 {
		c.taken = n
	}
}

// tally takes note of late answers. Those that were asked together, and come one
// after another, cost as much as one.
type tally struct {
	s     *Server
	now   int64
	asked int64
	n     int
}

func (s *Server) newTally() tally { return tally{s: s, now: s.o.Clock()} }

func (t *tally) add(asked int64) {
	if asked != t.asked {
		t.end()
		t.asked = asked
	}
	t.n++
}

func (t *tally) end() {
	if t.n > 0 {
		t.s.answered(t.n, t.asked, t.now)
		t.n = 0
	}
}
