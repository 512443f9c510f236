package wire

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
)

// testClient is a Client that runs, and what it told its options.
type testClient struct {
	*Client
	clock *testClock
	stop  func() // ends Run and waits for it

	mu   sync.Mutex
	told []string // up, or why down
	log  strings.Builder
}

// newTestClient returns a client that does not run yet. change may set other
// options; the clock runs.
func newTestClient(addr string, change ...func(*ClientOptions)) *testClient {
	c := &testClient{clock: newTestClock()}
	c.clock.began = time.Now()
	o := ClientOptions{
		Addr: addr, Clock: c.clock.now, Timeout: patience, Connections: 1,
		Log: slog.New(slog.NewTextHandler(c, &slog.HandlerOptions{Level: slog.LevelDebug})), Changed: c.changed,
	}
	for _, f := range change {
		f(&o)
	}
	c.Client = NewClient(o)
	return c
}

// run runs the client until the test ends.
func (c *testClient) run(t testing.TB) *testClient {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.Run(ctx)
	}()
	c.stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(c.stop)
	return c
}

// connect runs a client of a limiter and waits until it is up.
func connect(t testing.TB, addr string, change ...func(*ClientOptions)) *testClient {
	t.Helper()
	c := newTestClient(addr, change...).run(t)
	c.awaitUp(t)
	return c
}

func (c *testClient) changed(up bool, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if up {
		c.told = append(c.told, "up")
		return
	}
	c.told = append(c.told, why.Error())
}

func (c *testClient) Write(line []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.Write(line)
}

// awaitUp waits until the client is up, and has told.
func (c *testClient) awaitUp(t testing.TB) {
	t.Helper()
	eventually(t, "up", func() bool { return c.Up() && strings.HasSuffix(c.changes(), "up") })
}

// awaitDown waits until the client is not up, and has told.
func (c *testClient) awaitDown(t testing.TB) {
	t.Helper()
	eventually(t, "down", func() bool { return !c.Up() && !strings.HasSuffix(c.changes(), "up") })
}

// changes returns what Changed was told so far.
func (c *testClient) changes() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.told, " | ")
}

func (c *testClient) logged() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.String()
}

// answered is what a call was told.
type answered struct {
	attempt.Outcome
	err error
}

// testCall is a Call that keeps what it is told.
type testCall struct {
	times atomic.Int32
	got   chan answered
}

func newCall() *testCall { return &testCall{got: make(chan answered, 4)} }

func (c *testCall) Done(o attempt.Outcome, err error) {
	c.times.Add(1)
	c.got <- answered{o, err}
}

// wait returns what the call was told.
func (c *testCall) wait(t testing.TB) answered {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case a := <-c.got:
		return a
	case <-late.C:
		t.Fatal("the call has never ended")
		panic("not reached")
	}
}

// about is the attempt for a resource.
func about(resource string) *attempt.Attempt {
	return &attempt.Attempt{Resource: []byte(resource), Hits: 1}
}

// ask asks, and expects to be taken.
func (c *testClient) ask(t testing.TB, a *attempt.Attempt) *testCall {
	t.Helper()
	call := newCall()
	if !c.Ask(c.o.Clock(), a, call) {
		t.Fatalf("%s is not taken", describe(a))
	}
	return call
}

// answer asks and waits.
func (c *testClient) answer(t testing.TB, a *attempt.Attempt) answered {
	t.Helper()
	return c.ask(t, a).wait(t)
}

// offlineClient returns a connection of a client that is up, and on which nothing
// is read or written.
func offlineClient(t testing.TB) (*clientConn, *testClock) {
	t.Helper()
	clock := newTestClock()
	c := newTestClient("levee:5454", func(o *ClientOptions) { standing(o, clock) })
	k, err := newClientConn(c.Client, spareSocket(t))
	if err != nil {
		t.Fatal(err)
	}
	c.conns = []*clientConn{k}
	k.receive(t, frame{kind: frameSettings}.append(nil))
	return k, clock
}

// spareSocket is a connection to nobody.
func spareSocket(t testing.TB) *net.TCPConn {
	t.Helper()
	l := listen(t)
	defer func() { _ = l.Close() }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.(*net.TCPConn)
}

// receive has the connection handle what has come.
func (k *clientConn) receive(t testing.TB, b []byte) {
	t.Helper()
	k.r, k.w = 0, copy(k.in, b)
	if err := k.frames(); err != nil {
		t.Fatal(err)
	}
	if bad := k.settle(); bad != nil {
		t.Fatal(bad)
	}
}
