package limiter

import (
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

// slack is what a busy machine may add to the time of a stop.
const slack = 500 * time.Millisecond

// A stop under load loses no attempt: every one that was sent is answered, and
// as it should be.
func TestStopUnderLoad(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			const drain = 2 * time.Second
			r := onFile(t, entries{keyDefault: plenty}, "--drain-timeout="+drain.String())
			callers := harness.StartCallers(t, r.Addr, 32, harness.AttemptText("r"))
			harness.Eventually(t, 5*time.Second, "load", func() bool { return callers.Count() > 1000 })

			r.Signal(t, signal)
			began := time.Now()
			harness.Eventually(t, time.Second, "/healthz is 503", func() bool {
				a := r.Healthz(t)
				return a.Status == http.StatusServiceUnavailable && isLine(a.Body)
			})
			want(t, r.Readyz(t), http.StatusServiceUnavailable)
			if code := r.WaitExit(t, drain+time.Second+slack); code != 0 {
				t.Errorf("exit code %d", code)
			}
			calls := callers.Stop()
			if len(calls.Lost) > 0 {
				t.Errorf("%d attempts were lost, such as: %v", len(calls.Lost), calls.Lost[0])
			}
			if len(calls.Answers) != 1 || calls.Answers[http.StatusOK] < 1000 {
				t.Errorf("answers %v, want only 200", calls.Answers)
			}
			if calls.Told < 32 {
				t.Errorf("%d answers said Connection: close, want one on each connection", calls.Told)
			}
			if served := calls.Last.Sub(began); served < time.Second {
				t.Errorf("attempts were answered for %v after the signal, want a second", served)
			}
		})
	}
}

// The same over HTTP/2, whose connections end with GOAWAY. A client that is told
// so opens another connection, until it cannot.
func TestStopUnderLoadHTTP2(t *testing.T) {
	t.Parallel()
	const drain = 2 * time.Second
	r := onFile(t, entries{keyDefault: plenty}, "--drain-timeout="+drain.String())
	load := startStreams(r.Client(t, harness.H2C), 16)
	harness.Eventually(t, 5*time.Second, "load", func() bool { return load.count() > 500 })
	r.Signal(t, syscall.SIGTERM)
	began := time.Now()
	if code := r.WaitExit(t, drain+time.Second+slack); code != 0 {
		t.Errorf("exit code %d", code)
	}
	load.wait()
	if len(load.lost) > 0 {
		t.Errorf("%d attempts were lost, such as: %v", len(load.lost), load.lost[0])
	}
	if len(load.answers) != 1 || load.answers[http.StatusOK] < 500 {
		t.Errorf("answers %v, want only 200", load.answers)
	}
	if served := load.last.Sub(began); served < time.Second {
		t.Errorf("attempts were answered for %v after the signal, want a second", served)
	}
}

// streams ask until no connection comes about.
type streams struct {
	workers sync.WaitGroup

	mu      sync.Mutex
	answers map[int]int
	lost    []error
	last    time.Time
}

func startStreams(c *harness.Client, n int) *streams {
	s := &streams{answers: map[int]int{}}
	for range n {
		s.workers.Go(func() {
			for s.ask(c) {
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	return s
}

func (s *streams) ask(c *harness.Client) (more bool) {
	a, err := c.Do(harness.Request{Fields: http.Header{"X-Resource": {"r"}}})
	s.mu.Lock()
	defer s.mu.Unlock()
	var op *net.OpError
	switch {
	case err == nil:
		s.answers[a.Status]++
		s.last = time.Now()
	case errors.As(err, &op) && op.Op == "dial":
		return false
	default:
		s.lost = append(s.lost, err)
	}
	return true
}

func (s *streams) count() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, of := range s.answers {
		n += of
	}
	return n
}

func (s *streams) wait() { s.workers.Wait() }

// Without load a stop takes about a second, in which attempts that come all the
// same are answered.
func TestStopWithoutLoad(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: plenty})
	idle := harness.Dial(t, r.Addr)
	idle.WantOpen(t)
	r.Signal(t, syscall.SIGTERM)
	began := time.Now()
	if code := r.WaitExit(t, 5*time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if took := time.Since(began); took < time.Second-slack/5 || took > 2*time.Second+slack {
		t.Errorf("the stop took %v, want about a second", took)
	}
	idle.WantClosed(t)
}

// A connection that was idle at the signal is served all the same, and told to
// close.
func TestStopServesIdleConnections(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: plenty})
	c := harness.Dial(t, r.Addr)
	c.WantOpen(t)
	r.Signal(t, syscall.SIGTERM)
	harness.Eventually(t, time.Second, "/healthz is 503", func() bool {
		return r.Healthz(t).Status == http.StatusServiceUnavailable
	})
	a := c.Ask(t, string(harness.AttemptText("r")))
	want(t, a, http.StatusOK)
	if !a.Last {
		t.Errorf("not told to close: %v", a)
	}
	c.WantClosed(t)
	if code := r.WaitExit(t, 5*time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// A request that is under way at the signal is finished.
func TestStopFinishesWhatIsInFlight(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: plenty})
	c := harness.Dial(t, r.Addr)
	c.Put(t, text(post, "X-Resource: r", "Content-Length: 5")+"hel")
	r.Signal(t, syscall.SIGTERM)
	harness.Eventually(t, time.Second, "/healthz is 503", func() bool {
		return r.Healthz(t).Status == http.StatusServiceUnavailable
	})
	want(t, c.Ask(t, "lo"), http.StatusOK)
	c.WantClosed(t)
	if code := r.WaitExit(t, 5*time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// A second signal does not wait for anything.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: plenty}, "--drain-timeout=30s")
	harness.StartCallers(t, r.Addr, 4, harness.AttemptText("r"))
	r.Signal(t, syscall.SIGTERM)
	harness.Eventually(t, time.Second, "/healthz is 503", func() bool {
		return r.Healthz(t).Status == http.StatusServiceUnavailable
	})
	r.Signal(t, syscall.SIGTERM)
	r.WaitExit(t, 2*time.Second)
}

// A limiter that still waits for its tree stops when it is told to.
func TestStopDuringTheStart(t *testing.T) {
	t.Parallel()
	l := harness.LaunchLimiter(t, harness.Command{Args: []string{"--storage-addrs=http://" + closedPort(t)}})
	l.Signal(t, syscall.SIGTERM)
	if code := l.WaitExit(t, 5*time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// With a state file a planned stop forgets no debt.
func TestStateFile(t *testing.T) {
	t.Parallel()
	s := harness.NewFileStore(t, entries{keyDefault: fits(3), ownSublimit("r", "p/GET"): fits(2), ownQuota("fast"): `{"rate": 1000, "burst": 9}`})
	state := filepath.Join(t.TempDir(), "state")
	r := on(t, s, "--state-file="+state)
	c := r.Client(t, harness.HTTP1)
	wantAccepted(t, c, 5, 3, "r")
	wantAccepted(t, c, 1, 1, "s")
	wantAccepted(t, c, 1, 1, "r", "p", "GET")
	wantAccepted(t, c, 5, 5, "fast")
	for range 2 { // twice: what was restored is saved again
		r.Signal(t, syscall.SIGTERM)
		if code := r.WaitExit(t, 5*time.Second); code != 0 {
			t.Errorf("exit code %d", code)
		}
		r = on(t, s, "--state-file="+state)
		c = r.Client(t, harness.HTTP1)
		wantRetry(t, c.Attempt(t, "r"), 3600)
	}
	wantAccepted(t, c, 5, 2, "s")
	wantAccepted(t, c, 5, 1, "r", "p", "GET")
	wantAccepted(t, c, 5, 5, "fast") // paid while it was down
}

// A state file that is damaged is said to be, and does not keep from starting.
func TestDamagedStateFile(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(state, []byte("not a state file"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := onFile(t, entries{keyDefault: fits(1)}, "--state-file="+state)
	r.WaitLog(t, logTime, "the damaged file", func(l harness.Line) bool { return l.Mentions(state) && l.Text("level") != "INFO" })
	wantAccepted(t, r.Client(t, harness.HTTP1), 2, 1, "r")
}
