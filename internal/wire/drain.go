package wire

import (
	"context"
	"fmt"
	"time"
)

// Drain stops the server without losing an attempt. It goes on answering for at
// least a second and until no attempt has come for a second, telling clients to
// connect elsewhere; then it takes no more connections, and finishes what is in
// flight. It takes at most the given time, and a little for the last answers.
func (s *Server) Drain(ctx context.Context, atMost time.Duration) error {
	s.ending.Lock()
	s.draining.Store(true)
	close(s.lifted)
	s.ending.Unlock()
	s.eachConn((*conn).drain)
	s.waitQuiet(ctx, atMost)
	if err := s.closeListener(ctx); err != nil {
		return err
	}
	defer s.Close()
	return s.waitEmpty(ctx)
}

func (s *Server) closeListener(ctx context.Context) error {
	s.ending.Lock()
	defer s.ending.Unlock()
	if !s.o.Shared { // there, what is in the queue stays in it
		s.refuse()
		wait(ctx, handshakeTime) // handshakes under way arrive, and are accepted
	}
	if err := s.listener.Close(); err != nil {
		return fmt.Errorf("close the listener: %w", err)
	}
	s.endIdle()
	return nil
}

// endIdle has connections end that wait for a request.
func (s *Server) endIdle() {
	s.closedAt.Store(s.o.Clock())
	s.closing.Store(true)
}

func (s *Server) eachConn(do func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		do(c)
	}
}

// waitQuiet returns when no attempt has come for a second, or the time is over.
func (s *Server) waitQuiet(ctx context.Context, atMost time.Duration) {
	const quiet = time.Second
	began := s.o.Clock()
	for {
		now := s.o.Clock()
		since := time.Duration(now - max(began, s.last.Load()))
		if since >= quiet || time.Duration(now-began) >= atMost || ctx.Err() != nil {
			return
		}
		wait(ctx, min(quiet-since, tick, atMost-time.Duration(now-began)))
	}
}

// waitEmpty wakes the connections that wait for a request, again and again since
// one may just have begun to, and returns when all have ended. What has not
// after lastAnswers is cut, and named in the error.
func (s *Server) waitEmpty(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lastAnswers)
	defer cancel()
	for {
		left := 0
		s.eachConn(func(c *conn) {
			left++
			_ = c.tcp.SetReadDeadline(time.Unix(1, 0))
		})
		if left == 0 {
			return nil
		}
		if ctx.Err() != nil {
			s.o.Log.Warn("connections were cut at the end of the drain", "connections", left)
			return nil
		}
		wait(ctx, 10*time.Millisecond)
	}
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
