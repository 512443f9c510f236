package wire

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
)

// connection returns the one that an attempt came on.
func (p pending) connection() *http1 { return p.later.(*turn).h }

// awaitTurns waits until the state of a connection's turns is as wanted.
func awaitTurns(t *testing.T, what string, h *http1, holds func() bool) {
	t.Helper()
	eventually(t, what, func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return holds()
	})
}

// awaitParked waits until the goroutine of a connection waits for its client,
// so that late answers are written by others.
func (p pending) awaitParked(t *testing.T) {
	t.Helper()
	h := p.connection()
	awaitTurns(t, "the connection is parked", h, func() bool { return h.parked })
}

// awaitAwaiting waits until it waits for the Decider.
func (p pending) awaitAwaiting(t *testing.T) {
	t.Helper()
	h := p.connection()
	awaitTurns(t, "the Decider is awaited", h, func() bool { return h.awaiting })
}

// The goroutine that gives an answer writes it, and nobody is woken.
func TestLateAnswerWakesNobody(t *testing.T) {
	d := newLater()
	s := serve(t, func(o *Options) { o.Decider = d })
	c := s.client(t)
	for range 10 {
		c.send(askFor("x"))
		p := d.take(t, "x")
		p.awaitParked(t)
		before := s.clock.reads.Load()
		p.answer("rejected")
		c.receive("429")
		if reads := s.clock.reads.Load() - before; reads != 1 { // how long it took
			t.Fatalf("the clock was read %d times, want once: once more for each wake", reads)
		}
	}
	if _, observed := s.told(); observed != 10 {
		t.Errorf("observed %d attempts, want 10", observed)
	}
}

// Attempts that come while others are with the Decider are asked at once, and
// answered in order.
func TestLateAnswersInOrder(t *testing.T) {
	d := newLater()
	s := serve(t, func(o *Options) { o.Decider = d })
	c := s.client(t)
	c.send(askFor("x") + askFor("now"))
	x := d.take(t, "x")
	x.awaitParked(t)
	c.send(askFor("y") + askFor("now") + askFor("z"))
	y, z := d.take(t, "y"), d.take(t, "z")
	z.awaitParked(t)
	z.answer("rejected")
	y.answer("y")
	x.answer("failed")
	for _, want := range []string{"500 : the quotas", "200", "200", "200", "429"} {
		c.receive(want)
	}
	c.send(askFor("x") + askFor("y"))
	x, y = d.take(t, "x"), d.take(t, "y")
	y.awaitParked(t)
	x.answer("rejected")
	c.receive("429") // does not wait for the other
	y.answer("y")
	c.receive("200")
	if _, observed := s.told(); observed != 7 {
		t.Errorf("observed %d attempts, want 7", observed)
	}
}

// No more than maxTurns attempts of a connection are with the Decider.
func TestTurnsAreBounded(t *testing.T) {
	d := newLater()
	s := serve(t, func(o *Options) { o.Decider = d })
	c := s.client(t)
	const n = 2*maxTurns + 5 // fit one read
	c.send(strings.Repeat(askFor("x"), n))
	for left := n; left > 0; {
		var turns []pending
		for range min(left, maxTurns) {
			turns = append(turns, d.take(t, "x"))
		}
		left -= len(turns)
		if left > 0 {
			turns[0].awaitAwaiting(t)
		}
		if more := len(d.pending); more > 0 {
			t.Fatalf("%d more attempts were asked", more)
		}
		slices.Reverse(turns)
		for i, p := range turns {
			p.answer(map[bool]string{true: "rejected", false: "x"}[i%3 == 0])
		}
		for i := range turns {
			c.receive(map[bool]string{true: "429", false: "200"}[(len(turns)-1-i)%3 == 0])
		}
	}
}

// What is not a whole attempt waits for the answers before it.
func TestOthersBehindLateAnswers(t *testing.T) {
	for name, x := range map[string]struct{ send, want, finish, last string }{
		"another path":    {bare("GET / HTTP/1.1", "Host: h"), "404 path: there is", "", ""},
		"health":          {sentinel, "healthy", "", ""},
		"a bad attempt":   {askFor(""), "400 no_resource: X-Resource", "", ""},
		"a malformed one": {"GET\r\n\r\n", "400 request_line: the request", "", ""},
		"half a head":     {askFor("now")[:9], "", askFor("now")[9:], "200"},
		"half a body":     {askFor("now", "Content-Length: 5") + "he", "", "llo", "200"},
		"leave to send":   {askFor("now", "Content-Length: 5", "Expect: 100-continue"), "100", "hello", "200"},
		"the last one":    {askFor("now", "Connection: close"), "200", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newLater()
			s := serve(t, func(o *Options) { o.Decider = d })
			c := s.client(t)
			c.send(askFor("x") + askFor("y"))
			x1, y := d.take(t, "x"), d.take(t, "y")
			y.awaitParked(t)
			c.send(x.send)
			y.awaitAwaiting(t)
			y.answer("rejected")
			x1.answer("x")
			c.receive("200")
			c.receive("429")
			if x.want != "" {
				c.receive(x.want)
			}
			if x.finish != "" {
				c.send(x.finish)
				c.receive(x.last)
			}
		})
	}
}

// A client that has ended its side still gets the answers.
func TestLateAnswerAfterHalfClose(t *testing.T) {
	d := newLater()
	s := serve(t, func(o *Options) { o.Decider = d })
	c := s.client(t)
	c.send(askFor("x") + askFor("y"))
	x, y := d.take(t, "x"), d.take(t, "y")
	y.awaitParked(t)
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	y.awaitAwaiting(t)
	x.answer("x")
	y.answer("rejected")
	c.receive("200")
	c.receive("429")
	c.receiveEnd()
}

// A connection whose client is gone ends at once, and answers to it are dropped.
func TestLateAnswerForNobody(t *testing.T) {
	d := newLater()
	s := serve(t, func(o *Options) { o.Decider = d })
	c := s.client(t)
	c.send(askFor("x") + askFor("y"))
	x, y := d.take(t, "x"), d.take(t, "y")
	y.awaitParked(t)
	x.answer("x")
	c.receive("200")
	_ = c.SetLinger(0)
	_ = c.Close()
	s.awaitConnections(t, 0)
	y.answer("y")
	if _, observed := s.told(); observed != 1 {
		t.Errorf("observed %d attempts, want 1: nobody got the other's answer", observed)
	}
}

// The Decider's time is not the client's: the idle deadline begins with the
// answer.
func TestIdleDeadlineAfterLateAnswer(t *testing.T) {
	t.Parallel()
	d := newLater()
	s := serve(t, func(o *Options) { o.Decider = d })
	c := s.client(t)
	c.send(askFor("x"))
	p := d.take(t, "x")
	p.awaitParked(t)
	s.clock.move(time.Hour)
	s.awaitShepherd(t)
	p.answer("x")
	c.receive("200")
	s.clock.move(5 * time.Minute)
	s.awaitShepherd(t)
	if s.connections() != 1 {
		t.Fatal("an idle connection is cut too early")
	}
	s.clock.move(time.Millisecond)
	c.receiveEnd()
	if bad, _ := s.told(); len(bad) > 0 {
		t.Errorf("bad requests counted: %v", bad)
	}
}

// longFailure is an answer of which few fit a socket.
var longFailure = attempt.Outcome{Result: attempt.Failed, Failure: strings.Repeat("no ", 10_000)}

// fillSocket has answers given until the client, which reads none, has no room
// for more. It returns how many.
func fillSocket(t *testing.T, s *testServer, c *client, d laterDecider) int {
	t.Helper()
	s.awaitConnections(t, 1)
	s.eachConn(func(c *conn) { _ = c.tcp.SetWriteBuffer(4 << 10) })
	for n := 1; ; n++ {
		c.send(askFor("x"))
		p := d.take(t, "x")
		p.awaitParked(t)
		p.later.Answer(longFailure)
		if p.connection().c.pending.Load() {
			return n
		}
	}
}

// Who gives an answer does not wait for a client that does not read, and neither
// do the answers get lost.
func TestLateAnswerThatDoesNotFit(t *testing.T) {
	d := newLater()
	s := serve(t, func(o *Options) { o.Decider = d })
	c := s.client(t)
	_ = c.SetReadBuffer(4 << 10)
	n := fillSocket(t, s, c, d)
	c.send(askFor("now"))
	for range n {
		c.receive("500 : no no no")
	}
	c.receive("200")
	c.send(askFor("x"))
	d.take(t, "x").answer("rejected")
	c.receive("429")
}

// A client that does not read late answers has the time for it that others have.
func TestWriteDeadlineOfLateAnswers(t *testing.T) {
	t.Parallel()
	d := newLater()
	s := serve(t, func(o *Options) { o.Decider = d })
	c := s.client(t)
	_ = c.SetReadBuffer(4 << 10)
	s.awaitConnections(t, 1)
	before := s.clock.reads.Load()
	n := fillSocket(t, s, c, d)
	// For each, when it came and how long it took; and the wake.
	if !s.clock.hasBeenRead(&s.clock.reads, before+2*int64(n)+1) {
		t.Fatal("the connection was not roused")
	}
	s.clock.move(10 * time.Second)
	s.awaitShepherd(t)
	if s.connections() != 1 {
		t.Fatal("a peer that does not read is cut too early")
	}
	s.clock.move(time.Millisecond)
	s.awaitConnections(t, 0)
	if bad, _ := s.told(); !slices.Equal(bad, []Reason{ReasonTimeout}) {
		t.Errorf("bad requests counted: %v", bad)
	}
}

// TestDrainWithLateAnswers: a connection on which an attempt is with the Decider
// is idle when that is answered, and not before.
func TestDrainWithLateAnswers(t *testing.T) {
	t.Parallel()
	d := newLater()
	s := serve(t, runningClock, func(o *Options) { o.Decider = d })
	before, meanwhile := s.client(t), s.client(t)
	before.send(askFor("x"))
	x := d.take(t, "x")
	x.awaitParked(t)
	wait := s.startDrain(t, 10*time.Second)
	eventually(t, "the drain begins", s.draining.Load)
	meanwhile.send(askFor("y"))
	y := d.take(t, "y")
	eventually(t, "the server closes", s.closing.Load)
	x.answer("x")
	before.receive("200")
	before.receiveEnd()
	y.answer("y")
	if got := meanwhile.receive("200"); !got.closes {
		t.Error("the answer does not say that the connection ends")
	}
	meanwhile.receiveEnd()
	_ = meanwhile.Close()
	wait()
}

// Late answers in the call itself are as good as any.
func TestLateAnswerWithinTheCall(t *testing.T) {
	for _, verbose := range []bool{false, true} {
		var traced []string
		s := serve(t, func(o *Options) {
			o.Decider = hasty{}
			o.Verbose = func() bool { return verbose }
			o.Trace = func(a *attempt.Attempt, o *attempt.Outcome) {
				traced = append(traced, describe(a)+" "+o.Result.String())
			}
		})
		c := s.client(t)
		for range 3 {
			c.send(askFor("x") + askFor("rejected") + sentinel + askFor("failed"))
			for _, want := range []string{"200", "429", "healthy", "500 : the quotas"} {
				c.receive(want)
			}
		}
		_ = c.Close()
		s.awaitConnections(t, 0) // and so nobody else touches the list
		want := slices.Repeat([]string{"x accepted", "rejected rejected", "failed failed"}, 3)
		if !verbose {
			want = nil
		}
		if !slices.Equal(traced, want) {
			t.Errorf("traced %q, want %q", traced, want)
		}
	}
}

// Many connections, pipelines of any depth, answers at random times from several
// goroutines, and clients that leave: each attempt is answered once, in order.
func TestLateAnswersUnderStress(t *testing.T) {
	d := newScattering(t)
	s := serve(t, runningClock, func(o *Options) { o.Decider = d })
	var wg sync.WaitGroup
	errs := make(chan error, 16)
	for i := range 16 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 2))
			for range 6 {
				if err := stress(t, s, random); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	s.awaitConnections(t, 0)
}

// stress is one client, which leaves in the middle.
func stress(t *testing.T, s *testServer, random *rand.Rand) error {
	c := s.client(t)
	defer func() { _ = c.Close() }()
	kinds := map[string]string{"x": "200", "rejected": "429", "failed": "500 : the quotas", "": "400 no_resource: X-Resource"}
	names := []string{"x", "x", "x", "x", "rejected", "rejected", "failed", ""}
	for range 40 {
		var text strings.Builder
		var wants []string
		for range 1 + random.IntN(1+random.IntN(100)) {
			name := names[random.IntN(len(names))]
			text.WriteString(askFor(name))
			wants = append(wants, kinds[name])
		}
		cut := random.IntN(text.Len())
		for _, piece := range []string{text.String()[:cut], text.String()[cut:]} {
			if _, err := io.WriteString(c, piece); err != nil {
				return err
			}
		}
		for i, want := range wants {
			if _, err := checkOne(c.in, want); err != nil {
				return fmt.Errorf("answer %d of %d, wanted %q: %w", i, len(wants), want, err)
			}
		}
	}
	if _, err := io.WriteString(c, strings.Repeat(askFor("x"), random.IntN(20))); err != nil {
		return err
	}
	if random.IntN(2) == 0 {
		return c.SetLinger(0)
	}
	return nil
}
