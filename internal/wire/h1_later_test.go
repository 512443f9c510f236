package wire

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
)

// pending is an attempt whose answer is still to be given.
type pending struct {
	attempt string
	later   attempt.Later
}

func (p pending) answer(resource string) { p.later.Answer(outcomeFor(resource)) }

// laterDecider is a Decider that answers the resource now at once, and hands all
// other attempts to the test.
type laterDecider struct{ pending chan pending }

func newLater() laterDecider { return laterDecider{make(chan pending, 64)} }

func (d laterDecider) Attempt(_ int64, a *attempt.Attempt, later attempt.Later) (attempt.Outcome, bool) {
	if string(a.Resource) == "now" {
		return outcomeFor("now"), true
	}
	d.pending <- pending{describe(a), later}
	return attempt.Outcome{}, false
}

// take waits for the next attempt to answer.
func (d laterDecider) take(t testing.TB, want string) pending {
	t.Helper()
	select {
	case p := <-d.pending:
		if p.attempt != want {
			t.Fatalf("asked %q, want %q", p.attempt, want)
		}
		return p
	case <-time.After(patience):
		t.Fatalf("never asked %q", want)
		return pending{}
	}
}

func askFor(resource string, fields ...string) string {
	return bare(append([]string{"POST /attempt HTTP/1.1", "Host: h", "X-Resource: " + resource}, fields...)...)
}

// TestLaterAnswers: answers come in the order of the requests, and one that is
// there does not wait for the next.
func TestLaterAnswers(t *testing.T) {
	d := newLater()
	s := serve(t, func(o *Options) { o.Decider = d })
	c := s.client(t)
	c.send(askFor("now") + askFor("x", "X-Hits: 2") + askFor("now") + bare("GET / HTTP/1.1", "Host: h") + askFor("y") + askFor("now"))
	c.receive("200")
	d.take(t, "x hits=2").answer("rejected")
	c.receive("429")
	c.receive("200")
	c.receive("404 path: there is")
	y := d.take(t, "y")
	c.send(askFor("z")) // comes while y is waited for
	y.answer("failed")
	c.receive("500 : the quotas")
	c.receive("200")
	d.take(t, "z").answer("z")
	c.receive("200")
	eventually(t, "all are observed", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.observed == 6
	})
}

// TestLaterAnswersOfManyConnections answers in the reverse order, from many
// goroutines at once.
func TestLaterAnswersOfManyConnections(t *testing.T) {
	d := newLater()
	s := serve(t, func(o *Options) { o.Decider = d })
	const n = 20
	var clients []*client
	for range n {
		c := s.client(t)
		c.send(askFor("x"))
		clients = append(clients, c)
	}
	var waiting []pending
	for range n {
		waiting = append(waiting, d.take(t, "x"))
	}
	slices.Reverse(waiting)
	var wg sync.WaitGroup
	for _, p := range waiting {
		wg.Go(func() { p.answer("rejected") })
	}
	wg.Wait()
	for _, c := range clients {
		c.receive("429")
	}
}

// TestNoDeadlineForTheDecider: it has its own.
func TestNoDeadlineForTheDecider(t *testing.T) {
	t.Parallel()
	d := newLater()
	s := serve(t, func(o *Options) { o.Decider = d })
	c := s.client(t)
	c.send(askFor("x", "Content-Length: 5"))
	c.send("hello")
	p := d.take(t, "x")
	s.clock.move(time.Hour)
	s.awaitShepherd(t)
	p.answer("x")
	c.receive("200")
	c.send(sentinel)
	c.receive("healthy")
}

// TestLostWhileWaiting loses the connection before the answer, which is given
// all the same.
func TestLostWhileWaiting(t *testing.T) {
	for name, lose := range map[string]func(*testServer, *client){
		"the client resets": func(_ *testServer, c *client) { _ = c.SetLinger(0); _ = c.Close() },
		"the client closes": func(_ *testServer, c *client) { _ = c.Close() },
		"the server closes": func(s *testServer, _ *client) { s.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newLater()
			s := serve(t, func(o *Options) { o.Decider = d })
			c := s.client(t)
			c.send(askFor("x"))
			p := d.take(t, "x")
			lose(s, c)
			p.answer("x")
			s.awaitConnections(t, 0)
		})
	}
}

// TestDrainWaitsForTheDecider: an attempt that is being decided when everything
// else has ended is still answered.
func TestDrainWaitsForTheDecider(t *testing.T) {
	t.Parallel()
	d := newLater()
	s := serve(t, runningClock, func(o *Options) { o.Decider = d })
	c := s.client(t)
	c.send(askFor("x"))
	p := d.take(t, "x")
	drained := make(chan error, 1)
	go func() { drained <- s.Drain(context.Background(), 0) }()
	eventually(t, "the server closes", s.closing.Load)
	p.answer("x")
	c.receive("200")
	c.receiveEnd()
	if err := <-drained; err != nil {
		t.Error(err)
	}
}

// TestLaterAnswersAreObserved: the time that an answer took counts, and those
// who want to trace attempts see it.
func TestLaterAnswersAreObserved(t *testing.T) {
	d := newLater()
	type observation struct {
		n    int
		took time.Duration
	}
	var mu sync.Mutex
	var observed []observation
	var traced []string
	s := serve(t, func(o *Options) {
		o.Decider = d
		o.Verbose = func() bool { return true }
		o.Trace = func(a *attempt.Attempt, o *attempt.Outcome) {
			mu.Lock()
			defer mu.Unlock()
			traced = append(traced, describe(a)+" "+o.Result.String())
		}
		o.Observe = func(n int, took time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			observed = append(observed, observation{n, took})
		}
	})
	c := s.client(t)
	c.send(askFor("now") + askFor("now") + askFor("x", "X-Req-Id: 7") + askFor("now"))
	p := d.take(t, "x id=7")
	c.receive("200")
	c.receive("200")
	s.clock.move(30 * time.Millisecond)
	p.answer("rejected")
	c.receive("429")
	c.receive("200")
	_ = c.Close()
	s.awaitConnections(t, 0)

	mu.Lock()
	defer mu.Unlock()
	if want := []observation{{2, 0}, {1, 30 * time.Millisecond}, {1, 0}}; !slices.Equal(observed, want) {
		t.Errorf("observed %v, want %v", observed, want)
	}
	want := []string{"now accepted", "now accepted", "x id=7 rejected", "now accepted"}
	if !slices.Equal(traced, want) {
		t.Errorf("traced %q, want %q", traced, want)
	}
}
