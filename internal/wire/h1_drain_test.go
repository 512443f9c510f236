package wire

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// drain starts a drain. The function it returns waits for its end, and checks
// that it came in time, with some patience for a slow machine.
func (s *testServer) startDrain(t testing.TB, atMost time.Duration) (wait func()) {
	t.Helper()
	began := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- s.Drain(context.Background(), atMost) }()
	return func() {
		t.Helper()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("Drain: %v", err)
			}
		case <-time.After(patience):
			t.Fatal("Drain does not end")
		}
		if took := time.Since(began); took > atMost+handshakeTime+lastAnswers+5*time.Second {
			t.Errorf("Drain took %v", took)
		}
		s.awaitConnections(t, 0)
	}
}

// TestDrainIdle: connections on which nothing happens are closed, and get to see
// no answer to what they did not ask.
func TestDrainIdle(t *testing.T) {
	t.Parallel()
	s := serve(t, runningClock)
	used, fresh, old := s.client(t), s.client(t), s.client(t)
	used.send(ask())
	used.receive("200")
	old.send(bare("POST /attempt HTTP/1.0", "X-Resource: a", "Connection: keep-alive"))
	old.receive("200")
	wait := s.startDrain(t, 10*time.Second)
	for _, c := range []*client{used, fresh, old} {
		c.receiveEnd()
	}
	wait()
	if _, err := net.Dial("tcp", s.addr); err == nil {
		t.Error("the port is still open")
	}
}

// TestDrainTellsClients: answers say that the connection ends, from the first
// moment of a drain on. New connections are answered too.
func TestDrainTellsClients(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		request, want string
		ends          bool
	}{
		"attempt":        {ask(), "200", true},
		"rejected":       {askFor("rejected"), "429", true},
		"failed":         {askFor("failed"), "500 : the quotas", true},
		"bad":            {askFor(""), "400 no_resource: X-Resource", true},
		"health":         {sentinel, "healthy", true},
		"1.0 keep-alive": {bare("POST /attempt HTTP/1.0", "X-Resource: a", "Connection: keep-alive"), "200", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, runningClock)
			known := s.client(t)
			known.send(ask())
			known.receive("200")
			wait := s.startDrain(t, 10*time.Second)
			eventually(t, "the drain begins", s.draining.Load)
			fresh := s.client(t)
			for _, c := range []*client{known, fresh} {
				c.send(x.request)
				if got := c.receive(x.want); got.closes != x.ends {
					t.Errorf("Connection: close: %t, want %t", got.closes, x.ends)
				}
				c.receiveEnd()
				_ = c.Close()
			}
			wait()
		})
	}
}

// TestDrainFinishesRequests: what has begun to come when the server closes is
// awaited for a while, and answered.
func TestDrainFinishesRequests(t *testing.T) {
	t.Parallel()
	for name, request := range wholes {
		for _, n := range []int{1, len(ask()) - 1, len(request) - 1} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := serve(t, runningClock)
				c := s.client(t)
				c.send(request[:n])
				wait := s.startDrain(t, 0)
				eventually(t, "the server closes", s.closing.Load)
				c.send(request[n:])
				if got := c.receive("200"); !got.closes {
					t.Error("the answer does not say that the connection ends")
				}
				c.receiveEnd()
				_ = c.Close()
				wait()
			})
		}
	}
}

// TestDrainCutsWhatNeverEnds: a request that does not become whole, and a peer
// that does not close, hold nothing up.
func TestDrainCutsWhatNeverEnds(t *testing.T) {
	t.Parallel()
	s := serve(t, runningClock)
	half, lingering := s.client(t), s.client(t)
	half.send(ask("Content-Length: 5") + "hell")
	lingering.send(ask("Connection: close"))
	lingering.receive("200")
	s.startDrain(t, 0)()
	half.receiveEnd()
	if asked := s.decider.take(); len(asked) != 1 {
		t.Errorf("asked %q, want a once", asked)
	}
}

// TestDrainTakesTheQueue: connections that wait for a place because of
// max-connections are answered too; closing the listener would cut them.
func TestDrainTakesTheQueue(t *testing.T) {
	t.Parallel()
	s := serve(t, runningClock, func(o *Options) { o.MaxConnections = 1 })
	inside := s.client(t)
	inside.send(ask())
	inside.receive("200")
	queued := []*client{s.client(t), s.client(t)}
	for _, c := range queued {
		c.send(ask())
	}
	wait := s.startDrain(t, 10*time.Second)
	for _, c := range queued {
		c.receive("200")
		c.receiveEnd()
		_ = c.Close()
	}
	wait()
}

// TestDrainAnswersPipelines: requests that were sent together are all answered,
// and the last answer says that the connection ends.
func TestDrainAnswersPipelines(t *testing.T) {
	t.Parallel()
	s := serve(t, runningClock)
	c := s.client(t)
	c.send(ask())
	c.receive("200")
	wait := s.startDrain(t, 10*time.Second)
	eventually(t, "the drain begins", s.draining.Load)
	const n = 50
	c.send(strings.Repeat(ask(), n))
	for i := range n {
		if got := c.receive("200"); got.closes != (i == n-1) {
			t.Fatalf("answer %d of %d says Connection: close: %t", i+1, n, got.closes)
		}
	}
	c.receiveEnd()
	_ = c.Close()
	wait()
}

// TestDrainInTheMomentOfClosing sends requests on idle connections around the
// moment in which the server closes them. They are answered, or never decided.
func TestDrainInTheMomentOfClosing(t *testing.T) {
	t.Parallel()
	s := serve(t, runningClock)
	const n = 64
	var clients []*client
	for range n {
		c := s.client(t)
		c.send(ask())
		c.receive("200")
		clients = append(clients, c)
	}
	s.decider.take()
	closes := time.Now().Add(time.Second + handshakeTime)
	wait := s.startDrain(t, 10*time.Second)
	var answered atomic.Int64
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() {
			<-time.After(time.Until(closes) + time.Duration(i-n/2)*time.Millisecond/4)
			if _, err := io.WriteString(c, ask()); err != nil {
				return
			}
			if _, err := checkOne(c.in, "200"); err == nil {
				answered.Add(1)
			}
		})
	}
	wg.Wait()
	wait()
	asked := s.decider.take()
	if int64(len(asked)) != answered.Load() {
		t.Errorf("%d attempts were decided, %d answered", len(asked), answered.Load())
	}
	t.Logf("%d of %d came in time", answered.Load(), n)
}

// loader is one client under load during a drain. It connects anew whenever it
// is told to, until it cannot.
type loader struct {
	s       *testServer
	request string
	each    int // requests before the answers are read
	reuse   bool
	lost    error // what was sent and not answered
	asked   int
}

func (l *loader) run() {
	for l.lost == nil {
		c, err := net.DialTimeout("tcp", l.s.addr, 5*time.Second)
		if err != nil {
			return // refused, or ignored: goes to another node
		}
		_ = c.SetDeadline(time.Now().Add(patience))
		l.lost = l.converse(c)
		_ = c.Close()
	}
}

// converse asks on one connection until it is told that it ends.
func (l *loader) converse(c net.Conn) error {
	in := bufio.NewReader(c)
	for {
		if _, err := io.WriteString(c, strings.Repeat(l.request, l.each)); err != nil {
			return err
		}
		for i := range l.each {
			got, err := checkOne(in, "200")
			if err != nil {
				return err
			}
			l.asked++
			if got.closes && i < l.each-1 {
				return errors.New("not all of what was sent together is answered")
			}
			if got.closes {
				return nil
			}
		}
		if !l.reuse {
			return nil
		}
	}
}

// TestDrainUnderLoad: no request that was sent on a connection that came about
// stays without an answer, however clients use their connections.
func TestDrainUnderLoad(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]loader{
		"keep-alive":            {request: ask(), each: 1, reuse: true},
		"pipelined":             {request: ask(), each: 8, reuse: true},
		"with bodies":           {request: ask("Content-Length: 5") + "hello", each: 1, reuse: true},
		"a connection for each": {request: ask(), each: 1},
		"Connection: close":     {request: ask("Connection: close"), each: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, runningClock)
			var wg sync.WaitGroup
			loaders := make([]loader, 32)
			for i := range loaders {
				loaders[i] = l
				loaders[i].s = s
				wg.Go(loaders[i].run)
			}
			eventually(t, "load", func() bool { return s.connections() > 0 })
			s.startDrain(t, 1500*time.Millisecond)()
			wg.Wait()
			asked := 0
			for i := range loaders {
				asked += loaders[i].asked
				if err := loaders[i].lost; err != nil {
					t.Errorf("client %d: after %d answers: %v", i, loaders[i].asked, err)
				}
			}
			if decided := len(s.decider.take()); decided != asked {
				t.Errorf("%d attempts were decided, %d answered", decided, asked)
			}
			t.Logf("%d attempts", asked)
		})
	}
}

// TestDrainIsAsShortAsAsked: a context that ends makes a drain short, and a
// second one, or Close, after it does no harm.
func TestDrainIsAsShortAsAsked(t *testing.T) {
	s := serve(t, runningClock)
	c := s.client(t)
	c.send(ask())
	c.receive("200")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Drain(ctx, time.Hour); err != nil {
		t.Error(err)
	}
	c.receiveEnd()
	s.Close()
	s.Close()
}
