package wire

import (
	"fmt"
	"math/rand/v2"
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
