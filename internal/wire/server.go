package wire

import (
	"errors"
	"log/slog"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/levee-project/levee/internal/attempt"
)

// Options say how a [Server] serves. All but MaxConnections are required.
type Options struct {
	// Decider answers the attempts.
	Decider attempt.Decider
	// Clock returns nanoseconds of a monotonic clock. It is read once for all
	// requests that are read together.
	Clock func() int64
	// Health says whether the daemon is ready, and a line that says more.
	Health func() (ready bool, line string)
	// Headers returns the fields that go with answers; it may change.
	Headers func() Headers
	// Observe is told that n attempts were decided in a time, all together.
	Observe func(n int, took time.Duration)
	// Verbose says whether Trace is to be called.
	Verbose func() bool
	// Trace is told each attempt and its answer, while Verbose.
	Trace func(a *attempt.Attempt, o *attempt.Outcome)
	// Bad is told of each bad request.
	Bad func(Reason)
	// Log takes what goes wrong with the listener.
	Log *slog.Logger

	// HeaderTimeout bounds the reading of a whole header, BodyTimeout that of a
	// whole body, IdleTimeout the wait for the next request on a connection, and
	// WriteTimeout the wait for a peer that does not read.
	HeaderTimeout, BodyTimeout, IdleTimeout, WriteTimeout time.Duration
	// MaxConnections bounds the open connections; more wait in the kernel's queue.
	// 0 sets no bound.
	MaxConnections int
	// Shared says that others hold the listener too, such as systemd for its socket
	// unit: it outlives the server, and who connects during a drain is left to the
	// next one.
	Shared bool
}

// Server answers attempts on one listener.
type Server struct {
	o        Options
	batcher  attempt.Batcher // the Decider, if it is one
	listener *net.TCPListener
	prepared atomic.Pointer[prepared]
	sweeper  *sweeper
	places   chan struct{} // one token for each open connection; nil without a bound
	lifted   chan struct{} // closed by Drain: the bound holds no more

	draining atomic.Bool   // answers say that the connection ends
	refusing atomic.Bool   // what is accepted has to be told that it is not refused
	closing  atomic.Bool   // connections that wait for a request end
	closedAt atomic.Int64  // clock when closing was set
	last     atomic.Int64  // clock of the latest attempt
	came     atomic.Uint32 // connections so far, modulo 2^32
	stopped  chan struct{} // closed by Close

	// ending is held by what ends connections: who comes later finds the end, or a
	// server that goes on.
	ending sync.Mutex

	mu    sync.Mutex // guards conns
	conns map[*conn]struct{}
	wg    sync.WaitGroup // one for each connection

	overdue []*conn // the shepherd's: kept to spare the allocation
}

// NewServer returns a server for an open listener, which it owns from then on.
func NewServer(l *net.TCPListener, o Options) *Server {
	s := &Server{
		o: o, listener: l, conns: map[*conn]struct{}{}, stopped: make(chan struct{}), lifted: make(chan struct{}),
		sweeper: newSweeper(),
	}
	s.batcher, _ = o.Decider.(attempt.Batcher)
	if o.MaxConnections > 0 {
		s.places = make(chan struct{}, o.MaxConnections)
	}
	s.prepared.Store(prepare(time.Now()))
	return s
}

// Serve answers until [Server.Drain] or [Server.Close], and returns when every
// connection has ended.
func (s *Server) Serve() error {
	if s.o.Shared { // a process that was killed may have left it otherwise
		_ = admitConnections(s.listener) // a listener that cannot do it does not need it
	}
	var helpers sync.WaitGroup
	ended := make(chan struct{})
	helpers.Go(func() { s.shepherd(ended) })
	helpers.Go(func() { s.sweeper.run(ended) })
	err := s.accept()
	s.wg.Wait()
	close(ended)
	helpers.Wait()
	return err
}

// accept takes connections until the listener is closed.
func (s *Server) accept() error {
	for {
		placed, ok := s.place()
		if !ok {
			return nil
		}
		tcp, err := s.listener.AcceptTCP()
		if err == nil {
			s.start(tcp, placed)
			continue
		}
		s.leave(placed)
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		// Out of files or memory: connections that end will help.
		s.o.Log.Warn("a connection could not be accepted", "err", err)
		select {
		case <-time.After(acceptPause):
		case <-s.stopped:
			return nil
		}
	}
}

// place waits until one more connection may be open. A server that drains takes
// all that have come, because closing the listener would cut them.
func (s *Server) place() (placed, ok bool) {
	if s.places == nil {
		return false, true
	}
	select {
	case s.places <- struct{}{}:
		return true, true
	case <-s.lifted:
		return false, true
	case <-s.stopped:
		return false, false
	}
}

// leave gives a connection's place back, if it has one.
func (s *Server) leave(placed bool) {
	if placed {
		<-s.places
	}
}

const acceptPause = 50 * time.Millisecond

// start serves a connection in a goroutine of its own.
func (s *Server) start(tcp *net.TCPConn, placed bool) {
	if s.refusing.Load() {
		_ = admitConnections(tcp) // if it fails, the client is not heard
	}
	c, err := newConn(s, tcp)
	if err != nil || !s.join(c) {
		_ = tcp.Close()
		s.leave(placed)
		return
	}
	go func() {
		defer s.wg.Done()
		defer s.leave(placed)
		c.serve()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
		_ = tcp.Close()
		c.release()
	}()
}

// join registers a connection; it fails when everything is ending.
func (s *Server) join(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.stopped:
		return false
	default:
	}
	s.conns[c] = struct{}{}
	s.wg.Add(1)
	return true
}

// Close ends everything at once. It may be called more than once.
func (s *Server) Close() {
	_ = s.listener.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.stopped:
		return
	default:
		close(s.stopped)
	}
	for c := range s.conns {
		_ = c.tcp.Close()
	}
}

// tick is how exactly deadlines are kept, and how late a Date may be.
const tick = 100 * time.Millisecond

// shepherd ends the connections whose time is over, and prepares the answers of
// each second. One goroutine that looks at all connections now and then costs
// less than a timer that each of them sets for each request.
func (s *Server) shepherd(ended <-chan struct{}) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			return
		case wall := <-ticker.C:
			if wall.Unix() != s.prepared.Load().second {
				s.prepared.Store(prepare(wall))
			}
			s.endOverdue(s.o.Clock())
		}
	}
}

// endOverdue lets others have the processor after each connection that it
// closes: many may be overdue at once, and closing one is not cheap.
func (s *Server) endOverdue(now int64) {
	s.overdue = s.appendOverdue(s.overdue[:0], now)
	for i, c := range s.overdue {
		_ = c.tcp.Close() // its goroutine wakes and cleans up
		s.overdue[i] = nil
		runtime.Gosched()
	}
}

// appendOverdue adds the connections that have to be closed.
func (s *Server) appendOverdue(list []*conn, now int64) []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		due := c.due.Load()
		if due >= now || !c.due.CompareAndSwap(due, never) || c.overdue() {
			continue
		}
		if due&idle == 0 {
			s.o.Bad(ReasonTimeout)
		}
		list = append(list, c)
	}
	return list
}

// decide asks for the answer to the attempt. answered is false when it comes
// later.
func (s *Server) decide(now int64, a *attempt.Attempt, later attempt.Later) (o attempt.Outcome, answered bool) {
	o, answered = s.o.Decider.Attempt(now, a, later)
	if answered && s.o.Verbose() {
		traced := o // or o would be on the heap, always
		s.o.Trace(a, &traced)
	}
	return o, answered
}

// decided takes note of n attempts that were decided since the clock read began.
func (s *Server) decided(n int, began int64) {
	if n > 0 {
		s.answered(n, began, s.o.Clock())
	}
}

// answered takes note of n attempts that were asked together, and answered at the
// clock now.
func (s *Server) answered(n int, asked, now int64) {
	s.last.Store(asked)
	s.o.Observe(n, time.Duration(now-asked))
}
