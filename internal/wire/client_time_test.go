package wire

import (
	"errors"
	"strings"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"

	"github.com/levee-project/levee/internal/attempt"
)

const shortly = 100 * time.Millisecond // the time of a call, where that matters

func standing(o *ClientOptions, clock *testClock) {
	o.Clock, o.Timeout = clock.now, shortly
}

// greeted returns a client whose clock stands still and a limiter that it is
// connected to.
func greeted(t *testing.T, settings ...xhttp2.Setting) (*testClient, *peerConn, *peer, *testClock) {
	t.Helper()
	p := newPeer(t)
	clock := newTestClock()
	c := newTestClient(p.addr, func(o *ClientOptions) { standing(o, clock) }).run(t)
	k := p.greet(t, settings...)
	c.awaitUp(t)
	return c, k, p, clock
}

// only returns the one connection.
func (c *testClient) only(t testing.TB) *clientConn {
	t.Helper()
	c.Client.mu.Lock()
	defer c.Client.mu.Unlock()
	if len(c.conns) != 1 {
		t.Fatalf("%d connections", len(c.conns))
	}
	return c.conns[0]
}

// flying returns how many streams are open, and how many calls wait.
func (k *clientConn) flying() (open, live int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.flights.open, k.flights.live
}

// awaitLife waits until something has come now.
func (k *clientConn) awaitLife(t *testing.T, clock *testClock) {
	t.Helper()
	eventually(t, "a sign of life", func() bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.heard == clock.moved.Load() && k.state == connGreeted
	})
}

func pinged(f xhttp2.Frame) bool {
	ping, ok := f.(*xhttp2.PingFrame)
	return ok && !ping.IsAck()
}

// A call whose answer does not come ends in time, and a late answer is nobody's.
// Until it comes the stream counts.
func TestClientTimeout(t *testing.T) {
	c, k, _, clock := greeted(t)
	first := c.ask(t, about("a"))
	id := k.request()
	clock.move(shortly - 1)
	second := c.ask(t, about("b"))
	next := k.request()
	clock.move(1)
	if got := first.wait(t); !errors.Is(got.err, ErrTimeout) {
		t.Errorf("%+v", got)
	}
	conn := c.only(t)
	if open, live := conn.flying(); open != 2 || live != 1 {
		t.Errorf("%d open, %d live", open, live)
	}
	k.respond(id, false, ":status", "200")
	must(k.WriteData(id, true, []byte("late")))
	k.accepted(next)
	if got := second.wait(t); got.Result != attempt.Accepted {
		t.Errorf("%+v", got)
	}
	if open, live := conn.flying(); open != 0 || live != 0 {
		t.Errorf("%d open, %d live", open, live)
	}
	if n := first.times.Load() + second.times.Load(); n != 2 {
		t.Errorf("told %d times", n)
	}
}

// A call whose answer has begun to come ends in time, too.
func TestClientTimeoutAmidAnswer(t *testing.T) {
	c, k, _, clock := greeted(t)
	call := c.ask(t, about("a"))
	id := k.request()
	k.respond(id, false, ":status", "500")
	must(k.WriteData(id, false, []byte("no")))
	conn := c.only(t)
	eventually(t, "the beginning", func() bool {
		conn.mu.Lock()
		defer conn.mu.Unlock()
		return conn.flights.find(id).part != nil
	})
	clock.move(shortly)
	if got := call.wait(t); !errors.Is(got.err, ErrTimeout) {
		t.Errorf("%+v", got)
	}
	must(k.WriteData(id, true, []byte("quotas")))
	eventually(t, "the end", func() bool { open, _ := conn.flying(); return open == 0 })
	if n := call.times.Load(); n != 1 {
		t.Errorf("told %d times", n)
	}
}

// A stream that has waited long for nobody is reset, so that a limiter that
// forgets questions is asked on.
func TestClientForgotten(t *testing.T) {
	c, k, _, clock := greeted(t)
	call := c.ask(t, about("a"))
	id := k.request()
	clock.move(shortly)
	call.wait(t)
	conn := c.only(t)
	clock.move(c.patience - 1)
	must(k.WriteSettingsAck())
	conn.awaitLife(t, clock)
	if open, _ := conn.flying(); open != 1 {
		t.Errorf("%d open", open)
	}
	clock.move(1)
	k.until("a reset", func(f xhttp2.Frame) bool {
		reset, ok := f.(*xhttp2.RSTStreamFrame)
		return ok && reset.StreamID == id && reset.ErrCode == xhttp2.ErrCodeCancel
	})
	k.accepted(id) // it was under way
	call = c.ask(t, about("b"))
	k.accepted(k.request())
	call.wait(t)
	if open, _ := conn.flying(); open != 0 {
		t.Errorf("%d open", open)
	}
}

// A limiter that does not answer while nothing else comes is down, is pinged, and
// is up again when anything comes.
func TestClientHung(t *testing.T) {
	c, k, p, clock := greeted(t)
	for range 2 {
		call := c.ask(t, about("a"))
		clock.move(shortly)
		if got := call.wait(t); !errors.Is(got.err, ErrTimeout) {
			t.Errorf("%+v", got)
		}
		c.awaitDown(t)
		if c.Ask(clock.now(), about("b"), newCall()) {
			t.Error("taken")
		}
		for range 3 {
			k.until("a ping", pinged)
			clock.move(shortly)
		}
		must(k.WritePing(true, [8]byte{}))
		c.awaitUp(t)
	}
	want := "limiter " + p.addr + ": " + errNoAnswer.Error()
	eventually(t, "all is told", func() bool { return c.changes() == "up | "+want+" | up | "+want+" | up" })
}

// One that is slow, and not silent, is not down.
func TestClientSlow(t *testing.T) {
	c, k, _, clock := greeted(t)
	for range 5 {
		call := c.ask(t, about("a"))
		conn := c.only(t)
		id := k.request()
		clock.move(shortly / 2)
		must(k.WriteSettingsAck())
		conn.awaitLife(t, clock)
		clock.move(shortly / 2)
		call.wait(t)
		k.accepted(id)
		eventually(t, "the late answer", func() bool { open, _ := conn.flying(); return open == 0 })
	}
	if got := c.changes(); got != "up" {
		t.Errorf("told %s", got)
	}
}

// One that stays hung is connected to anew.
func TestClientHungForLong(t *testing.T) {
	c, k, p, clock := greeted(t)
	call := c.ask(t, about("a"))
	clock.move(shortly)
	call.wait(t)
	k.until("a ping", pinged)
	clock.move(hungMost)
	if got := k.end(); !strings.HasPrefix(got, "NO_ERROR") {
		t.Errorf("the connection ends with %s", got)
	}
	clock.move(longestPause)
	p.greet(t)
	c.awaitUp(t)
	if !strings.Contains(c.logged(), errHung.Error()) {
		t.Errorf("logged: %s", c.logged())
	}
}

// A limiter whose kernel accepts connections for it is not up.
func TestClientNoSettings(t *testing.T) {
	p := newPeer(t)
	clock := newTestClock()
	c := newTestClient(p.addr, func(o *ClientOptions) { standing(o, clock) }).run(t)
	k := p.accept(t)
	if c.Up() {
		t.Error("up")
	}
	clock.move(c.patience)
	k.end()
	clock.move(longestPause)
	k = p.accept(t)
	if log := c.logged(); !strings.Contains(log, errNoSettings.Error()) {
		t.Errorf("logged: %s", log)
	}
	must(k.WriteSettings())
	c.awaitUp(t)
	clock.move(10 * c.patience)
	call := c.ask(t, about("a"))
	k.accepted(k.request())
	call.wait(t)
}

// A client that was stopped itself blames nobody: what has come meanwhile is
// read first.
func TestClientStoppedItself(t *testing.T) {
	k, clock := offlineClient(t)
	call := newCall()
	k.ask(clock.now(), about("a"), call)
	k.client.look(t.Context())
	clock.move(time.Hour)
	k.client.look(t.Context())
	if n := call.times.Load(); n != 0 {
		t.Error("the call is given up at once")
	}
	k.client.look(t.Context())
	if got := call.wait(t); !errors.Is(got.err, ErrTimeout) {
		t.Errorf("%+v", got)
	}
}

// While nothing is asked nobody looks at the clock.
func TestClientRests(t *testing.T) {
	c, k, _, clock := greeted(t)
	call := c.ask(t, about("a"))
	k.accepted(k.request())
	call.wait(t)
	eventually(t, "rest", func() bool {
		clock.move(shortly / 10)
		return !c.keeping.Load()
	})
	call = c.ask(t, about("b"))
	if !c.keeping.Load() {
		t.Error("nobody looks at the deadline")
	}
	k.accepted(k.request())
	call.wait(t)
}
