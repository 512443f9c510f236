package wire

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/levee-project/levee/internal/attempt"
)

// TestMain checks that whoever starts a goroutine also waits for it. Most of the
// tests wait for a tick or the end of a drain, so that many can at once.
func TestMain(m *testing.M) {
	if args := os.Getenv(benchVariable); args != "" {
		runOther(args)
		return
	}
	flag.Parse()
	if flag.Lookup("test.fuzz").Value.String() == "" {
		_ = flag.Set("test.parallel", "16")
	}
	goleak.VerifyTestMain(m)
}

// patience bounds every wait of the tests for what must happen. It is far longer
// than anything takes, so that a slow machine fails no test.
const patience = 20 * time.Second

// testClock is the server's clock. It stands still until it is moved, so that no
// deadline passes by accident; one that runs is needed where the server itself
// waits for time to pass.
type testClock struct {
	began time.Time // zero: stands still
	moved atomic.Int64
	reads atomic.Int64  // how often it was read, but for the shepherd's reads
	looks atomic.Int64  // how often the shepherd read it
	woken chan struct{} // told of reads
}

func newTestClock() *testClock {
	c := &testClock{woken: make(chan struct{}, 1)}
	c.move(time.Hour) // any time but 0
	return c
}

func (c *testClock) now() int64 {
	now := c.moved.Load() // before the read counts, and the test goes on
	if pc, _, _, _ := runtime.Caller(1); strings.Contains(runtime.FuncForPC(pc).Name(), "shepherd") {
		c.looks.Add(1)
	} else {
		c.reads.Add(1)
	}
	select {
	case c.woken <- struct{}{}:
	default:
	}
	if !c.began.IsZero() {
		now += int64(time.Since(c.began))
	}
	return now
}

func (c *testClock) move(d time.Duration) { c.moved.Add(int64(d)) }

// hasBeenRead waits until one of the clock's counts has come so far. The server
// reads the clock when a connection begins and after each read from one, and the
// shepherd does every tick.
func (c *testClock) hasBeenRead(count *atomic.Int64, times int64) bool {
	late := time.NewTimer(patience)
	defer late.Stop()
	for count.Load() < times {
		select {
		case <-c.woken:
		case <-late.C:
			return false
		}
	}
	return true
}

// recorder is a Decider that writes down what it is asked. Resources called
// rejected and failed get that answer.
type recorder struct {
	mu    sync.Mutex
	asked []string
}

func (r *recorder) Attempt(_ int64, a *attempt.Attempt, _ attempt.Later) (attempt.Outcome, bool) {
	r.mu.Lock()
	r.asked = append(r.asked, describe(a))
	r.mu.Unlock()
	return outcomeFor(string(a.Resource)), true
}

// take returns what was asked since the last call.
func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := r.asked
	r.asked = nil
	return asked
}

func outcomeFor(resource string) attempt.Outcome {
	switch resource {
	case "rejected":
		return attempt.Outcome{Result: attempt.Rejected, Level: attempt.Resource, RetryAfter: 1500 * time.Millisecond}
	case "failed":
		return attempt.Outcome{Result: attempt.Failed, Failure: "the quotas are not loaded"}
	default:
		return attempt.Outcome{Result: attempt.Accepted, Level: attempt.Resource}
	}
}

// describe spells an attempt as the tables do: the resource, and then what else
// is given.
func describe(a *attempt.Attempt) string {
	var b strings.Builder
	b.Write(a.Resource)
	if len(a.Prefix) > 0 {
		fmt.Fprintf(&b, " prefix=%s", a.Prefix)
	}
	if len(a.Method) > 0 {
		fmt.Fprintf(&b, " method=%s", a.Method)
	}
	if a.Hits != 1 {
		fmt.Fprintf(&b, " hits=%d", a.Hits)
	}
	if len(a.ReqID) > 0 {
		fmt.Fprintf(&b, " id=%s", a.ReqID)
	}
	return b.String()
}

// testServer is a Server on a loopback port and what it told its options.
type testServer struct {
	*Server
	addr    string
	clock   *testClock
	decider *recorder
	ended   chan error

	mu       sync.Mutex
	bad      []Reason
	observed int
}

// healthLine is what the test servers say of their health.
const healthLine = "all is well"

// serve starts a server, which ends with the test. change may set other options;
// the deadlines are those of the manual.
func serve(t testing.TB, change ...func(*Options)) *testServer {
	t.Helper()
	s := &testServer{clock: newTestClock(), decider: &recorder{}, ended: make(chan error, 1)}
	o := Options{
		Decider:       s.decider,
		Clock:         s.clock.now,
		Health:        func() (bool, string) { return true, healthLine },
		Headers:       func() Headers { return HeadersRetryAfter },
		Observe:       s.observe,
		Verbose:       func() bool { return false },
		Trace:         func(*attempt.Attempt, *attempt.Outcome) {},
		Bad:           s.countBad,
		Log:           slog.New(slog.DiscardHandler),
		HeaderTimeout: 10 * time.Second,
		BodyTimeout:   10 * time.Second,
		IdleTimeout:   5 * time.Minute,
		WriteTimeout:  10 * time.Second,
	}
	for _, c := range change {
		c(&o)
	}
	l := listen(t)
	s.addr = l.Addr().String()
	s.Server = NewServer(l, o)
	go func() { s.ended <- s.Serve() }()
	t.Cleanup(func() {
		s.Close()
		if err := <-s.ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return s
}

// runningClock is for servers that wait for time to pass.
func runningClock(o *Options) {
	c := newTestClock()
	c.began = time.Now()
	o.Clock = c.now
}

// listen opens a port for plain TCP: the filter that a drain puts on a listener
// does nothing on one of multipath TCP.
func listen(t testing.TB) *net.TCPListener {
	t.Helper()
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	l, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l.(*net.TCPListener)
}

func (s *testServer) countBad(r Reason) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bad = append(s.bad, r)
}

func (s *testServer) observe(n int, _ time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observed += n
}

// told returns the bad requests and the number of decided attempts that the
// server told of since the last call.
func (s *testServer) told() (bad []Reason, observed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	bad, observed = s.bad, s.observed
	s.bad, s.observed = nil, 0
	return bad, observed
}

// connections returns how many connections the server has.
func (s *testServer) connections() (n int) {
	s.eachConn(func(*conn) { n++ })
	return n
}

// awaitConnections waits until the server has n connections.
func (s *testServer) awaitConnections(t testing.TB, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d connections", n), func() bool { return s.connections() == n })
}

// dial connects, for as long as the test takes at most.
func (s *testServer) dial(t testing.TB) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(patience))
	t.Cleanup(func() { _ = c.Close() })
	return c.(*net.TCPConn)
}

// eventually polls until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
		<-ticker.C
	}
}
