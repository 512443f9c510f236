package wire

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"

	"github.com/levee-project/levee/internal/attempt"
)

// holding is a Decider that answers when it is told to.
type holding struct {
	mu     sync.Mutex
	laters map[string]attempt.Later
}

func (d *holding) Attempt(_ int64, a *attempt.Attempt, later attempt.Later) (attempt.Outcome, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.laters[string(a.Resource)] = later
	return attempt.Outcome{}, false
}

// held returns how many attempts wait for their answer.
func (d *holding) held() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.laters)
}

func (d *holding) answer(resource string) {
	d.mu.Lock()
	later := d.laters[resource]
	delete(d.laters, resource)
	d.mu.Unlock()
	later.Answer(outcomeFor(resource))
}

func serveHolding(t *testing.T, change ...func(*Options)) (*testServer, *holding) {
	d := &holding{laters: map[string]attempt.Later{}}
	return serve(t, append(change, func(o *Options) { o.Decider = d })...), d
}

// Answers come in any order, while the connection goes on.
func TestHTTP2LateAnswers(t *testing.T) {
	s, d := serveHolding(t)
	w := newScript()
	w.ask(1, "x-resource", "a")
	w.ask(3, "x-resource", "rejected")
	w.ask(5, "x-resource", "failed")
	c := s.dialHTTP2(t, w).settle()
	w.ask(7, "x-resource", "b")
	w.headers(9, true, health...)
	w.data(1, false, 5) // its end has come
	w.ask(11, "x-resource", "c")
	w.headers(11, true, "x", "y")
	c.send(w)
	c.settle()
	d.answer("b")
	d.answer("failed")
	if got, want := c.settle().transcript(), "1: RST STREAM_CLOSED | 5: 500, \"the quotas are not loaded\\n\" end | 7: "+accepted+" | 9: "+healthy+" | 11: RST STREAM_CLOSED"; got != want {
		t.Errorf("received\n\t%s, want\n\t%s", got, want)
	}
	d.answer("rejected")
	d.answer("a") // nobody waits for it any more
	if got, want := c.settle().transcript(), "3: 429 retry-after=2 end"; got != want {
		t.Errorf("received\n\t%s, want\n\t%s", got, want)
	}
}

// A late answer reaches a connection on which nothing comes.
func TestHTTP2LateAnswerWakes(t *testing.T) {
	s, d := serveHolding(t)
	w := newScript()
	c := s.dialHTTP2(t, w).settle()
	for id := uint32(1); id < 200; id += 2 {
		w.ask(id, "x-resource", "r")
		c.send(w)
		eventually(t, "the attempt is asked", func() bool { return d.held() == 1 })
		d.answer("r")
		c.until(func(f xhttp2.Frame) bool { return f.Header().StreamID == id })
	}
}

// A text that comes late obeys the window as it then is.
func TestHTTP2LateText(t *testing.T) {
	s, d := serveHolding(t)
	w := newScript()
	w.settings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize})
	w.ask(1, "x-resource", "failed")
	c := s.dialHTTP2(t, w).settle()
	w.update(1, 3)
	c.send(w)
	c.settle()
	d.answer("failed")
	if got, want := c.settle().transcript(), `1: 500, "the"`; got != want {
		t.Errorf("received %s, want %s", got, want)
	}
}

// Answers for streams and connections that are gone are dropped.
func TestHTTP2LateAnswerForNobody(t *testing.T) {
	s, d := serveHolding(t)
	w := newScript()
	w.ask(1, "x-resource", "reset")
	w.ask(3, "x-resource", "kept")
	w.ask(5, "x-resource", "lost")
	c := s.dialHTTP2(t, w).settle()
	w.reset(1)
	c.send(w)
	c.settle()
	d.answer("reset")
	d.answer("kept")
	if got, want := c.settle().transcript(), "3: "+accepted; got != want {
		t.Errorf("received %s, want %s", got, want)
	}
	_ = c.tcp.Close()
	eventually(t, "the connection ends", func() bool { return s.connections() == 0 })
	d.answer("lost")
}

// A peer cannot have more work done than it may have streams, by resetting them:
// those that are still worked for count.
func TestHTTP2ResetWhileAsked(t *testing.T) {
	s, d := serveHolding(t)
	w := newScript()
	c := s.dialHTTP2(t, w)
	for i := range uint32(maxStreams) {
		w.ask(2*i+1, "x-resource", fmt.Sprint(i))
	}
	c.send(w)
	c.settle()
	for i := range uint32(maxStreams) {
		w.reset(2*i + 1)
	}
	w.ask(501, "x-resource", "refused")
	c.send(w)
	if got, want := c.settle().transcript(), "501: RST REFUSED_STREAM"; got != want {
		t.Errorf("received %s, want %s", got, want)
	}
	d.answer("7")
	c.settle()
	w.ask(503, "x-resource", "asked")
	c.send(w)
	c.settle()
	d.answer("asked")
	if got, want := c.settle().transcript(), "503: "+accepted; got != want {
		t.Errorf("received %s, want %s", got, want)
	}
}

// hasty is a Decider that gives late answers before the call has returned.
type hasty struct{}

func (hasty) Attempt(_ int64, a *attempt.Attempt, later attempt.Later) (attempt.Outcome, bool) {
	later.Answer(outcomeFor(string(a.Resource)))
	return attempt.Outcome{}, false
}

func TestHTTP2LateAnswerWithinTheCall(t *testing.T) {
	s := serve(t, func(o *Options) { o.Decider = hasty{} })
	w := newScript()
	w.ask(1, "x-resource", "a")
	w.ask(3, "x-resource", "rejected")
	if got, want := s.dialHTTP2(t, w).settle().transcript(), "1: "+accepted+" | 3: 429 retry-after=2 end"; got != want {
		t.Errorf("received %s, want %s", got, want)
	}
}

// scattering is a Decider whose answers come at random times from several
// goroutines.
type scattering struct{ queues []chan func() }

func newScattering(t *testing.T) *scattering {
	d := &scattering{}
	var wg sync.WaitGroup
	for i := range 4 {
		queue := make(chan func(), 10_000)
		d.queues = append(d.queues, queue)
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			for answer := range queue {
				if random.IntN(20) == 0 {
					<-time.After(time.Duration(random.IntN(300)) * time.Microsecond)
				}
				answer()
			}
		})
	}
	t.Cleanup(func() {
		for _, queue := range d.queues {
			close(queue)
		}
		wg.Wait()
	})
	return d
}

func (d *scattering) Attempt(_ int64, a *attempt.Attempt, later attempt.Later) (attempt.Outcome, bool) {
	o := outcomeFor(string(a.Resource))
	d.queues[rand.IntN(len(d.queues))] <- func() { later.Answer(o) }
	return attempt.Outcome{}, false
}

// Many late answers and requests at once: each stream gets its own answer, once.
func TestHTTP2LateAnswersInSwarms(t *testing.T) {
	d := newScattering(t)
	s := serve(t, func(o *Options) { o.Decider = d })
	const rounds, swarm = 60, 200
	kinds := map[string]string{"r": accepted, "rejected": "429 retry-after=2 end", "failed": "500, \"the quotas are not loaded\\n\" end"}
	names := []string{"r", "r", "r", "rejected", "failed"}
	w := newScript()
	c := s.dialHTTP2(t, w)
	id := uint32(1)
	for range rounds {
		want := map[uint32]string{}
		for range swarm {
			name := names[rand.IntN(len(names))]
			w.ask(id, "x-resource", name)
			want[id] = kinds[name]
			id += 2
		}
		w.update(0, 30*swarm) // what the texts have used
		c.send(w)
		for left := swarm; left > 0 && !c.closed; {
			if f := c.read(); f != nil && f.Header().StreamID != 0 && f.Header().Flags&flagEndStream != 0 {
				left--
			}
		}
		for id, want := range want {
			if got := strings.Join(c.lines[id], ", "); got != want {
				t.Fatalf("stream %d: received %s, want %s", id, got, want)
			}
		}
		clear(c.lines)
	}
}

// Each attempt is observed once, and traced with its answer while that is wanted.
func TestHTTP2ObservesAndTraces(t *testing.T) {
	for _, batches := range []bool{false, true} {
		for _, verbose := range []bool{false, true} {
			traced := map[string]attempt.Result{}
			r := &recorder{}
			s := serve(t, func(o *Options) {
				o.Verbose = func() bool { return verbose }
				o.Trace = func(a *attempt.Attempt, o *attempt.Outcome) { traced[describe(a)] = o.Result }
				if o.Decider = r; batches {
					o.Decider = batching{r}
				}
			})
			w := newScript()
			for id := uint32(1); id < 400; id += 2 {
				w.ask(id, "x-resource", fmt.Sprint(id))
			}
			w.ask(401, "x-resource", "rejected")
			c := s.dialHTTP2(t, w).settle()
			_ = c.tcp.Close()
			s.awaitConnections(t, 0) // and so nobody else touches the map
			if _, n := s.told(); n != 201 {
				t.Errorf("batches %v: %d attempts were observed, want 201", batches, n)
			}
			if want := map[bool]int{true: 201}[verbose]; len(traced) != want || verbose && traced["rejected"] != attempt.Rejected {
				t.Errorf("batches %v: %d attempts were traced, want %d: %v", batches, len(traced), want, traced)
			}
		}
	}
}

// awaitHTTP2 waits until the state of the server's only connection is as wanted.
func (s *testServer) awaitHTTP2(t *testing.T, what string, holds func(h *http2) bool) {
	t.Helper()
	eventually(t, what, func() (ok bool) {
		s.eachConn(func(c *conn) {
			if h := c.h2.Load(); h != nil {
				h.mu.Lock()
				defer h.mu.Unlock()
				ok = holds(h)
			}
		})
		return ok
	})
}

// awaitWaiting waits until its goroutine waits for the peer, with so many
// attempts asked.
func (s *testServer) awaitWaiting(t *testing.T, asked int) {
	t.Helper()
	s.awaitHTTP2(t, "the connection waits", func(h *http2) bool { return h.waiting && h.asked == asked })
}

// The goroutine that gives an answer writes it, and nobody is woken: not for the
// last one, and not for one while others are outstanding.
func TestHTTP2LateAnswerWakesNobody(t *testing.T) {
	s, d := serveHolding(t)
	w := newScript()
	c := s.dialHTTP2(t, w).settle()
	for i := range 10 {
		id := uint32(4*i + 1)
		w.ask(id, "x-resource", "rejected")
		w.ask(id+2, "x-resource", "b")
		c.send(w)
		s.awaitWaiting(t, 2*(i+1))
		before := s.clock.reads.Load()
		d.answer("rejected")
		c.until(func(f xhttp2.Frame) bool { return f.Header().StreamID == id })
		d.answer("b")
		c.until(func(f xhttp2.Frame) bool { return f.Header().StreamID == id+2 })
		s.awaitWaiting(t, 2*(i+1))
		if reads := s.clock.reads.Load() - before; reads != 2 { // how long each took
			t.Fatalf("the clock was read %d times, want twice: once more for each wake", reads)
		}
		want := fmt.Sprintf("%d: 429 retry-after=2 end | %d: %s", id, id+2, accepted)
		if got := c.transcript(); got != want {
			t.Fatalf("received %s, want %s", got, want)
		}
	}
	if _, observed := s.told(); observed != 20 {
		t.Errorf("observed %d attempts, want 20", observed)
	}
}

// What is to be said about streams that are answered late holds afterwards.
func TestHTTP2AfterLateAnswers(t *testing.T) {
	s, d := serveHolding(t)
	w := newScript()
	c := s.dialHTTP2(t, w)
	id := uint32(1)
	for range 3 { // more streams than may be open at once
		for i := range maxStreams {
			w.ask(id, "x-resource", fmt.Sprint(i))
			id += 2
		}
		c.send(w)
		eventually(t, "all are asked", func() bool { return d.held() == maxStreams })
		for i := range maxStreams {
			d.answer(fmt.Sprint(i))
		}
		c.settle()
	}
	if len(c.lines) != 3*maxStreams {
		t.Errorf("%d streams are answered, want %d", len(c.lines), 3*maxStreams)
	}
	c.transcript()
	w.data(id-2, false, 1)
	w.reset(id - 4)
	w.update(id-6, 100)
	c.send(w)
	if got, want := c.settle().transcript(), fmt.Sprintf("%d: RST STREAM_CLOSED", id-2); got != want {
		t.Errorf("received %s, want %s", got, want)
	}
}

// The idle deadline begins with the answer.
func TestHTTP2IdleAfterLateAnswer(t *testing.T) {
	t.Parallel()
	s, d := serveHolding(t)
	w := newScript()
	w.ask(1, "x-resource", "a")
	c := s.dialHTTP2(t, w).settle()
	s.awaitWaiting(t, 1)
	s.clock.move(time.Hour)
	s.awaitShepherd(t)
	d.answer("a")
	c.until(func(f xhttp2.Frame) bool { return f.Header().StreamID == 1 })
	s.clock.move(5*time.Minute - time.Millisecond)
	s.awaitShepherd(t)
	if s.connections() != 1 {
		t.Fatal("an idle connection is cut too early")
	}
	s.clock.move(2 * time.Millisecond)
	if got, want := c.end().transcript(), "1: "+accepted+" | GOAWAY 1 NO_ERROR, closed"; got != want {
		t.Errorf("received %s, want %s", got, want)
	}
	if bad, _ := s.told(); len(bad) > 0 {
		t.Errorf("bad requests counted: %v", bad)
	}
}

// Who gives an answer does not wait for a peer that does not read, and neither do
// the answers get lost.
func TestHTTP2LateAnswerThatDoesNotFit(t *testing.T) {
	s, d := serveHolding(t)
	w := newScript()
	c := s.dialHTTP2(t, w).settle()
	_ = c.tcp.SetReadBuffer(4 << 10)
	s.eachConn(func(c *conn) { _ = c.tcp.SetWriteBuffer(4 << 10) })
	const swarm = 200
	id, full := uint32(1), false
	for !full {
		for i := range swarm {
			w.ask(id, "x-resource", fmt.Sprint(i))
			id += 2
		}
		c.send(w)
		eventually(t, "all are asked", func() bool { return d.held() == swarm })
		s.awaitHTTP2(t, "the connection waits", func(h *http2) bool { return h.waiting })
		for i := range swarm {
			d.answer(fmt.Sprint(i))
		}
		s.awaitHTTP2(t, "the answers are written, or do not fit", func(h *http2) bool {
			full = !h.waiting
			return full || h.sent == len(h.late)
		})
	}
	c.settle()
	for i := uint32(1); i < id; i += 2 {
		if got := strings.Join(c.lines[i], ", "); got != accepted {
			t.Fatalf("stream %d: received %q, want %s", i, got, accepted)
		}
	}
}

// A drain does not wait for streams that are answered, though the connection's
// goroutine has not woken for it.
func TestHTTP2DrainAfterLateAnswer(t *testing.T) {
	t.Parallel()
	s, d := serveHolding(t, runningClock)
	w := newScript()
	w.ask(1, "x-resource", "a")
	c := s.dialHTTP2(t, w).settle()
	s.awaitWaiting(t, 1)
	d.answer("a")
	c.until(func(f xhttp2.Frame) bool { return f.Header().StreamID == 1 })
	wait := s.drainInBackground(t)
	if got, want := c.end().transcript(), "1: "+accepted+" | "+elsewhere+", GOAWAY 1 NO_ERROR, closed"; got != want {
		t.Errorf("received %s, want %s", got, want)
	}
	_ = c.tcp.Close()
	wait()
}

// The time that a late answer took counts, and those who want to trace attempts
// see it.
func TestHTTP2LateAnswersAreObserved(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	note := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, fmt.Sprintf(format, args...))
	}
	s, d := serveHolding(t, func(o *Options) {
		o.Verbose = func() bool { return true }
		o.Trace = func(a *attempt.Attempt, o *attempt.Outcome) { note("%s %s", describe(a), o.Result) }
		o.Observe = func(n int, took time.Duration) { note("%d in %v", n, took) }
	})
	w := newScript()
	w.ask(1, "x-resource", "rejected", "x-prefix", "p", "x-method", "m", "x-hits", "7", "x-req-id", "id")
	c := s.dialHTTP2(t, w).settle()
	s.clock.move(30 * time.Millisecond)
	d.answer("rejected")
	if got, want := c.settle().transcript(), "1: 429 retry-after=2 end"; got != want {
		t.Errorf("received %s, want %s", got, want)
	}
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"rejected prefix=p method=m hits=7 id=id rejected", "1 in 30ms"}; !slices.Equal(seen, want) {
		t.Errorf("seen %q, want %q", seen, want)
	}
}

// Connections that are lost at any moment, while answers come from several
// goroutines.
func TestHTTP2LateAnswersToLostConnections(t *testing.T) {
	d := newScattering(t)
	s := serve(t, runningClock, func(o *Options) { o.Decider = d })
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 3))
			for range 10 {
				w := newScript()
				c := s.dialHTTP2(t, w)
				n := random.IntN(200)
				for i := range n {
					w.ask(uint32(2*i+1), "x-resource", "r")
				}
				c.send(w)
				for range random.IntN(n + 1) {
					c.read()
				}
				_ = c.tcp.SetLinger(random.IntN(2) - 1)
				_ = c.tcp.Close()
			}
		})
	}
	wg.Wait()
	s.awaitConnections(t, 0)
}
