package wire

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// Times of [Server.Quietly].
const (
	quietMoment  = 2 * time.Millisecond  // without an attempt: what was under way is answered
	quietAtMost  = 20 * time.Millisecond // the wait for such a moment
	quietlyAfter = 10 * time.Millisecond // what was done has taken effect
)

// Quietly does something that cuts connections which are under way. It begins in a
// moment without an attempt, for which it waits 20 ms at most, and meanwhile, as long
// as the effect needs, has the kernel ignore new connections. A client whose connection
// is ignored tries again a second later, and misses nothing.
//
// The error is that new connections came all the time, and one that came in that
// moment may be cut.
func (s *Server) Quietly(do func()) error {
	if s.o.Shared { // who connects is left to the next server
		s.waitMoment()
		do()
		return nil
	}
	admit := func() error { return admitConnections(s.listener) }
	err := refuseConnections(s.listener)
	if errors.Is(err, unix.EPERM) {
		admit, err = s.keepOut()
	}
	s.waitMoment()
	do()
	if err != nil {
		return err
	}
	wait(context.Background(), quietlyAfter)
	if s.closing.Load() { // the drain has come to its end, and refuses by itself
		return nil
	}
	return admit()
}

// waitMoment returns when what was under way is answered, or a little later.
func (s *Server) waitMoment() {
	began := s.o.Clock()
	for {
		now := s.o.Clock()
		since := time.Duration(now - max(began, s.last.Load()))
		if since >= quietMoment || time.Duration(now-began) >= quietAtMost {
			return
		}
		wait(context.Background(), quietMoment-since)
	}
}
