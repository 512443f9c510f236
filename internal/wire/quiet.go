package wire

import (
	"context"
	"time"
)

// Times of [Server.Quietly].
const (
	quietMoment  = 2 * time.Millisecond  // without an attempt: what was under way is answered
	quietAtMost  = 20 * time.Millisecond // the wait for such a moment
	quietlyAfter = 10 * time.Millisecond // what was done has taken effect
)

// Quietly does something that cuts connections which are under way. Before, it has
// the kernel ignore new ones, and waits for a moment without an attempt, for 20 ms at
// most; after that, and 10 ms for the effect, they are taken again. A client whose
// connection is ignored tries again a second later, and misses nothing.
//
// The error is that new connections came all the time; it was done all the same.
func (s *Server) Quietly(do func()) error {
	if s.o.Shared { // who connects is left to the next server
		do()
		return nil
	}
	if err := refuseConnections(s.listener); err != nil {
		do()
		return err
	}
	ctx := context.Background()
	began := s.o.Clock()
	for {
		now := s.o.Clock()
		since := time.Duration(now - max(began, s.last.Load()))
		if since >= quietMoment || time.Duration(now-began) >= quietAtMost {
			break
		}
		wait(ctx, quietMoment-since)
	}
	do()
	wait(ctx, quietlyAfter)
	if s.closing.Load() { // the drain has come to its end, and refuses by itself
		return nil
	}
	return admitConnections(s.listener)
}
