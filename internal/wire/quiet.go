package wire

import (
	"context"
	"errors"
	"net"
	"time"
)

// Times of [Server.Quietly].
const (
	nearHandshake = 30 * time.Millisecond // a handshake with a client that is near is over by then
	quietlyAfter  = 20 * time.Millisecond // what was done has taken effect
)

// Dismiss tells clients to connect anew, for a time, and then does something that
// cuts connections, quietly; after that it goes on as before.
func (s *Server) Dismiss(ctx context.Context, farewell time.Duration, do func()) {
	s.draining.Store(true)
	s.eachConn((*conn).drain)
	wait(ctx, farewell)
	s.Quietly(ctx, do)
	s.ending.Lock()
	defer s.ending.Unlock()
	select {
	case <-s.lifted: // a drain has begun meanwhile
	default:
		s.draining.Store(false)
	}
}

// Quietly does something that cuts connections, such as moving an address to another
// host, when there are none: before, it has the kernel ignore new ones, ends those
// that wait for a request, and finishes what is in flight. That takes 30 ms, and up
// to half a second when a client is slow. A client whose connection is ignored tries
// again a second later, and misses nothing.
func (s *Server) Quietly(ctx context.Context, do func()) {
	s.ending.Lock()
	defer s.ending.Unlock()
	if s.closing.Load() { // the drain has come to its end, and refuses by itself
		do()
		return
	}
	s.refuse()
	wait(ctx, nearHandshake)
	s.endIdle()
	_ = s.waitEmpty(ctx) // it has logged what is left
	do()
	wait(ctx, quietlyAfter)
	s.closing.Store(false)
	s.admit()
}

// refuse has new connections ignored. What is accepted from then on is admitted by
// name.
func (s *Server) refuse() {
	s.refusing.Store(true)
	if err := refuseConnections(s.listener); err != nil {
		s.o.Log.Warn("connections that come in this moment may be cut", "err", err)
	}
}

// admit has connections taken again.
func (s *Server) admit() {
	s.refusing.Store(false)
	if err := admitConnections(s.listener); err != nil && !errors.Is(err, net.ErrClosed) {
		s.o.Log.Error("no connections come in until the next start", "err", err)
	}
}
