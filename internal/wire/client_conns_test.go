package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"

	"github.com/levee-project/levee/internal/attempt"
)

func limited(n uint32) xhttp2.Setting {
	return xhttp2.Setting{ID: xhttp2.SettingMaxConcurrentStreams, Val: n}
}

// connected returns how many connections there are, and how many take calls.
func (c *testClient) connected() (all, ready int) {
	c.Client.mu.Lock()
	defer c.Client.mu.Unlock()
	return len(c.conns), len(*c.ready.Load())
}

// A limiter is asked for no more than it permits: on as many connections as there
// may be, and not at all when these are full.
func TestClientConnections(t *testing.T) {
	p := newPeer(t)
	clock := newTestClock()
	c := newTestClient(p.addr, func(o *ClientOptions) {
		standing(o, clock)
		o.Connections = 3
	}).run(t)
	first := p.greet(t, limited(8))
	c.awaitUp(t)
	var calls []*testCall
	ask := func(n int) {
		t.Helper()
		for range n {
			calls = append(calls, c.ask(t, about("r")))
		}
	}
	ask(5)
	if all, _ := c.connected(); all != 1 {
		t.Errorf("%d connections", all)
	}
	ask(3)
	second := p.greet(t, limited(4))
	eventually(t, "two", func() bool { _, ready := c.connected(); return ready == 2 })
	ask(4)
	third := p.greet(t, limited(1))
	eventually(t, "three", func() bool { _, ready := c.connected(); return ready == 3 })
	ask(1)
	if c.Ask(clock.now(), about("r"), newCall()) {
		t.Error("more is taken than all permit")
	}
	must(third.WriteSettings(limited(2)))
	eventually(t, "more room", func() bool {
		call := newCall()
		if c.Ask(clock.now(), about("r"), call) {
			calls = append(calls, call)
			return true
		}
		return false
	})
	for n, k := range map[int]*peerConn{8: first, 4: second, 2: third} {
		for _, id := range k.requests(n) {
			k.accepted(id)
		}
	}
	for _, call := range calls {
		if got := call.wait(t); got.Result != attempt.Accepted {
			t.Errorf("%+v", got)
		}
	}
	if all, _ := c.connected(); all != 3 || len(calls) != 14 {
		t.Errorf("%d connections, %d calls", all, len(calls))
	}
	// Those that are not needed end.
	for all := 3; all > 1; all, _ = c.connected() {
		clock.move(surplusIdle)
		call := c.ask(t, about("r"))
		first.accepted(first.request())
		call.wait(t)
	}
	if got := third.end(); !strings.HasPrefix(got, "NO_ERROR") {
		t.Errorf("the third ends with %s", got)
	}
	if got := second.end(); !strings.HasPrefix(got, "NO_ERROR") {
		t.Errorf("the second ends with %s", got)
	}
	call := c.ask(t, about("r"))
	first.accepted(first.request())
	call.wait(t)
	if got := c.changes(); got != "up" {
		t.Errorf("told %s", got)
	}
}

// A limiter that permits nothing is asked nothing.
func TestClientNoStreams(t *testing.T) {
	c, k, _, clock := greeted(t, limited(0))
	if c.Ask(clock.now(), about("r"), newCall()) {
		t.Error("taken")
	}
	must(k.WriteSettings(limited(1)))
	call := newCall()
	eventually(t, "room", func() bool { return c.Ask(clock.now(), about("r"), call) })
	k.accepted(k.request())
	call.wait(t)
}

// Answers may overtake each other, but not without end.
func TestClientSpan(t *testing.T) {
	c, k, _, clock := greeted(t)
	slow := c.ask(t, about("slow"))
	first := k.request()
	asked := 1
	for ; asked < 2*flightSpan; asked++ {
		call := newCall()
		if !c.Ask(clock.now(), about("fast"), call) {
			break
		}
		k.accepted(k.request())
		call.wait(t)
	}
	if asked != flightSpan {
		t.Errorf("%d calls within the time of one", asked)
	}
	// Once nobody waits for it, it is in nobody's way.
	clock.move(shortly / 2)
	must(k.WriteSettingsAck())
	c.only(t).awaitLife(t, clock)
	clock.move(shortly / 2)
	if got := slow.wait(t); !errors.Is(got.err, ErrTimeout) {
		t.Errorf("%+v", got)
	}
	call := c.ask(t, about("r"))
	k.until("a reset", func(f xhttp2.Frame) bool {
		return f.Header().Type == xhttp2.FrameRSTStream && f.Header().StreamID == first
	})
	k.accepted(k.request())
	call.wait(t)
}

// A connection whose numbers run out is replaced in time.
func TestClientNumbersRunOut(t *testing.T) {
	p := newPeer(t)
	c := newTestClient(p.addr)
	c.first = maxStream - 2*lastStreams - 8
	c.run(t)
	k := p.greet(t)
	c.awaitUp(t)
	old := c.only(t)
	held := c.ask(t, about("held"))
	id := k.request()
	for range 4 {
		call := c.ask(t, about("r"))
		k.accepted(k.request())
		call.wait(t)
	}
	other := p.greet(t)
	eventually(t, "the other alone is asked", func() bool {
		ready := *c.ready.Load()
		return len(ready) == 1 && ready[0] != old
	})
	call := c.ask(t, about("r"))
	other.accepted(other.request())
	call.wait(t)
	if all, _ := c.connected(); all != 2 {
		t.Errorf("%d connections while a call is under way", all)
	}
	k.accepted(id)
	held.wait(t)
	if got := k.end(); !strings.HasPrefix(got, "NO_ERROR") {
		t.Errorf("the first ends with %s", got)
	}
	if got := c.changes(); got != "up" {
		t.Errorf("told %s", got)
	}
}

// The last number is used, and none after it.
func TestClientLastNumber(t *testing.T) {
	k, clock := offlineClient(t)
	k.flights.start(maxStream - 2)
	for i, want := range []bool{true, true, false, false} {
		if taken, _ := k.ask(clock.now(), about("r"), nobody{}); taken != want {
			t.Errorf("%d: taken: %v", i, taken)
		}
	}
	if got := k.flights.above(0); len(got) != 2 {
		t.Errorf("%d calls", len(got))
	}
}

// Of a limiter that goes away no more is asked. What it has not looked at is lost
// at once, and what it has is awaited.
func TestClientGoAway(t *testing.T) {
	c, k, p, clock := greeted(t)
	var calls []*testCall
	for range 4 {
		calls = append(calls, c.ask(t, about("r")))
	}
	ids := k.requests(4)
	k.accepted(ids[0])
	must(k.WriteGoAway(ids[2], xhttp2.ErrCodeNo, []byte("bye")))
	if got := calls[3].wait(t); !errors.Is(got.err, ErrLost) {
		t.Errorf("%+v", got)
	}
	if c.Up() || c.Ask(clock.now(), about("r"), newCall()) {
		t.Error("up")
	}
	must(k.WriteGoAway(ids[1], xhttp2.ErrCodeNo, nil))
	if got := calls[2].wait(t); !errors.Is(got.err, ErrLost) {
		t.Errorf("%+v", got)
	}
	k.accepted(ids[1])
	for _, call := range calls[:2] {
		if got := call.wait(t); got.Result != attempt.Accepted {
			t.Errorf("%+v", got)
		}
	}
	if got := k.end(); !strings.HasPrefix(got, "NO_ERROR") {
		t.Errorf("the connection ends with %s", got)
	}
	clock.move(longestPause)
	p.greet(t)
	eventually(t, "up", func() bool {
		return c.changes() == fmt.Sprintf(`up | limiter %s: it goes away, with code 0: "bye" | up`, p.addr)
	})
}

// A limiter that goes away and then does not answer is not waited for longer than
// for any answer.
func TestClientGoAwayAndHang(t *testing.T) {
	c, k, _, clock := greeted(t)
	call := c.ask(t, about("r"))
	id := k.request()
	must(k.WriteGoAway(id, xhttp2.ErrCodeNo, nil))
	c.awaitDown(t)
	clock.move(shortly)
	if got := call.wait(t); !errors.Is(got.err, ErrTimeout) {
		t.Errorf("%+v", got)
	}
	k.end()
}

// A limiter that greets only to go away was never up.
func TestClientGoAwayAtOnce(t *testing.T) {
	p := newPeer(t)
	clock := newTestClock()
	c := newTestClient(p.addr, func(o *ClientOptions) { standing(o, clock) }).run(t)
	for range 3 {
		k := p.accept(t)
		hello := frame{kind: frameSettings}.append(nil)
		_, err := k.tcp.Write(appendGoAway(hello, maxStream, faultNone))
		must(err)
		k.end()
		clock.move(longestPause)
	}
	if got := c.changes(); got != "" {
		t.Errorf("told %s", got)
	}
}

// A limiter that drains is left without the loss of an attempt.
func TestClientDrain(t *testing.T) {
	s := serve(t, runningClock)
	c := connect(t, s.addr, func(o *ClientOptions) { o.Connections = 2 })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				call := newCall()
				if !c.Ask(c.o.Clock(), about("r"), call) {
					return
				}
				if got := call.wait(t); got.Result != attempt.Accepted {
					t.Errorf("%+v", got)
					return
				}
			}
		})
	}
	eventually(t, "load", func() bool { _, n := s.told(); return n > 0 })
	if err := s.Drain(context.Background(), 1200*time.Millisecond); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if c.Up() || !strings.Contains(c.changes(), faultNone.text) && !strings.Contains(c.changes(), "goes away") {
		t.Errorf("told %s", c.changes())
	}
}

// A client that ends takes no more calls, and waits for those under way.
func TestClientStops(t *testing.T) {
	p := newPeer(t)
	c := newTestClient(p.addr).run(t)
	k := p.greet(t)
	c.awaitUp(t)
	call := c.ask(t, about("r"))
	id := k.request()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.stop()
	}()
	c.awaitDown(t)
	if c.Ask(c.o.Clock(), about("r"), newCall()) {
		t.Error("taken")
	}
	k.accepted(id)
	if got := call.wait(t); got.Result != attempt.Accepted {
		t.Errorf("%+v", got)
	}
	<-ended
	if got := k.end(); !strings.HasPrefix(got, "NO_ERROR") {
		t.Errorf("the connection ends with %s", got)
	}
	if got, want := c.changes(), "up | "+errStopped.Error(); got != want {
		t.Errorf("told %s, want %s", got, want)
	}
}

// It does not wait for ever: neither for an answer, nor for a limiter that does
// not read.
func TestClientStopsInTime(t *testing.T) {
	p := newNarrowPeer(t)
	clock := newTestClock()
	c := newTestClient(p.addr, func(o *ClientOptions) { standing(o, clock) }).run(t)
	p.greet(t)
	c.awaitUp(t)
	must(c.only(t).tcp.SetWriteBuffer(8 << 10)) // else the kernel may take it all
	long := &attempt.Attempt{Resource: []byte("r"), ReqID: []byte(strings.Repeat("x", maxReqID)), Hits: 1}
	var calls []*testCall
	for range 200 {
		call := newCall()
		if c.Ask(clock.now(), long, call) {
			calls = append(calls, call)
		}
	}
	if len(calls) == 200 {
		t.Error("all is taken though nothing is read")
	}
	c.stop()
	for _, call := range calls {
		if got := call.wait(t); !errors.Is(got.err, ErrLost) {
			t.Errorf("%+v", got)
		}
	}
}

// It ends while it dials, and while it waits to.
func TestClientStopsWhileDown(t *testing.T) {
	p := newPeer(t)
	must(p.l.Close())
	c := newTestClient(p.addr).run(t)
	eventually(t, "failure", func() bool { return strings.Contains(c.logged(), "cannot be reached") })
	c.stop()
	if got := c.changes(); got != "" {
		t.Errorf("told %s", got)
	}
}

// A limiter that is not there yet is found when it is; that it is missed is said
// once.
func TestClientWaitsForLimiter(t *testing.T) {
	l := listen(t)
	addr := l.Addr().String()
	must(l.Close())
	c := newTestClient(addr).run(t)
	eventually(t, "failures", func() bool {
		c.Client.mu.Lock()
		defer c.Client.mu.Unlock()
		return c.failures > 3
	})
	if c.Up() || c.Ask(0, about("r"), newCall()) {
		t.Error("up")
	}
	back, err := net.Listen("tcp", addr)
	must(err)
	p := &peer{back.(*net.TCPListener), addr}
	defer func() { _ = back.Close() }()
	p.greet(t)
	eventually(t, "up", func() bool { return c.changes() == "up" })
	if log := c.logged(); strings.Count(log, "level=WARN") != 1 || !strings.Contains(log, "connection refused") {
		t.Errorf("logged: %s", log)
	}
}

// Connections that do not last are made ever more slowly; after one that has lasted
// the next is made soon.
func TestClientShortLives(t *testing.T) {
	p := newPeer(t)
	clock := newTestClock()
	c := newTestClient(p.addr, func(o *ClientOptions) { standing(o, clock) }).run(t)
	live := func(life time.Duration, failures int) {
		t.Helper()
		k := p.greet(t)
		c.awaitUp(t)
		clock.move(life)
		must(k.tcp.Close())
		c.awaitDown(t)
		c.Client.mu.Lock()
		if c.failures != failures {
			t.Errorf("%d failures, want %d", c.failures, failures)
		}
		c.Client.mu.Unlock()
		clock.move(longestPause)
	}
	for i := range 3 {
		live(soundLife-1, i+1)
	}
	live(soundLife, 1)
	live(0, 2)
	if n := strings.Count(c.logged(), "level=WARN"); n != 2 {
		t.Errorf("said %d times: %s", n, c.logged())
	}
}

// The pauses between connections grow, and are never the same for all.
func TestClientBackOff(t *testing.T) {
	c := NewClient(ClientOptions{})
	for i, most := range []int64{20, 40, 80, 160, 320, 640, 1000, 1000, 1000} {
		c.failures = i
		seen := map[int64]bool{}
		for range 20 {
			c.failures = i
			c.backOff(5)
			pause := time.Duration(c.nextDial - 5)
			if most := time.Duration(most) * time.Millisecond; pause < most/2 || pause > most {
				t.Errorf("the pause %d is %v", i, pause)
			}
			seen[c.nextDial] = true
		}
		if len(seen) < 10 {
			t.Errorf("20 clients choose %d pauses", len(seen))
		}
	}
}
