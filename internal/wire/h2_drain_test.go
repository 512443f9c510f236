package wire

import (
	"context"
	"fmt"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"
)

// elsewhere is how a peer is told, at the beginning of a drain, to open new
// streams on another connection.
const elsewhere = "GOAWAY 2147483647 NO_ERROR"

// drainInBackground begins a drain and returns a function that awaits its end.
func (s *testServer) drainInBackground(t *testing.T) (wait func()) {
	ended := make(chan error, 1)
	go func() { ended <- s.Drain(context.Background(), 1200*time.Millisecond) }()
	return func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func isGoAway(f xhttp2.Frame) bool { return f.Header().Type == xhttp2.FrameGoAway }

// A peer is told at once, is served on, and in the end learns what was the last
// stream.
func TestHTTP2Drain(t *testing.T) {
	s := serve(t, runningClock)
	w := newScript()
	c := s.dialHTTP2(t, w).settle()
	wait := s.drainInBackground(t)
	c.until(isGoAway)
	w.ask(1, "x-resource", "r")
	c.send(w)
	if got, want := c.settle().transcript(), "1: "+accepted+" | "+elsewhere; got != want {
		t.Errorf("received %s, want %s", got, want)
	}
	late := s.dialHTTP2(t, newScript())
	late.until(isGoAway)
	if got := late.transcript(); got != elsewhere {
		t.Errorf("on a new connection: received %s, want %s", got, elsewhere)
	}
	if got, want := c.end().transcript(), "GOAWAY 1 NO_ERROR, closed"; got != want {
		t.Errorf("received %s, want %s", got, want)
	}
	if got, want := late.end().transcript(), "GOAWAY 0 NO_ERROR, closed"; got != want {
		t.Errorf("on the new connection: received %s, want %s", got, want)
	}
	wait()
}

// What is under way when the server closes is finished first: a request whose end
// is to come, an answer, and a text that waits for its window.
func TestHTTP2DrainFinishes(t *testing.T) {
	request := bareScript()
	request.headers(1, true, health...)
	ask := request.sent.String()
	for _, test := range []struct {
		name   string
		send   func(w *script)
		finish func(w *script, d *holding)
		want   string
	}{
		{
			"a request", func(w *script) { w.headers(1, false, health...) },
			func(w *script, _ *holding) { w.data(1, true, 1) }, "1: " + healthy,
		},
		{
			"the fields of a request", func(w *script) { w.sent.WriteString(ask[:20]) },
			func(w *script, _ *holding) { w.sent.WriteString(ask[20:]) }, "1: " + healthy,
		},
		{
			"a frame", func(w *script) { w.headers(1, false, health...); w.sent.WriteString("\x00\x00\x08") },
			func(w *script, _ *holding) { w.sent.WriteString("\x00\x01\x00\x00\x00\x01xxxxxxxx") }, "1: " + healthy,
		},
		{
			"an answer", func(w *script) { w.ask(1, "x-resource", "r") },
			func(_ *script, d *holding) { d.answer("r") }, "1: " + accepted,
		},
		{
			"a text", func(w *script) {
				w.settings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize})
				w.headers(1, true, health...)
			},
			func(w *script, _ *holding) { w.update(1, 100) }, "1: " + healthy,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, d := serveHolding(t, runningClock)
			w := newScript()
			test.send(w)
			c := s.dialHTTP2(t, w)
			wait := s.drainInBackground(t)
			eventually(t, "the server closes", s.closing.Load)
			c.until(isGoAway)
			test.finish(w, d)
			c.send(w)
			if got, want := c.end().transcript(), test.want+" | "+elsewhere+", GOAWAY 1 NO_ERROR, closed"; got != want {
				t.Errorf("received %s, want %s", got, want)
			}
			wait()
		})
	}
}

// A peer that goes on asking while the server closes can read which of its requests
// were answered.
func TestHTTP2DrainEndIsRead(t *testing.T) {
	s := serve(t, runningClock)
	w := newScript()
	c := s.dialHTTP2(t, w).settle()
	wait := s.drainInBackground(t)
	eventually(t, "the server closes", s.closing.Load)
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for id := uint32(1); id < 200; id += 2 {
		w.ask(id, "x-resource", "r")
		c.send(w)
		<-ticker.C
	}
	c.end()
	_ = c.tcp.Close()
	wait()
	end := c.lines[0]
	delete(c.lines, 0)
	last := max(0, 2*len(c.lines)-1)
	if len(end) != 3 || end[1] != fmt.Sprintf("GOAWAY %d NO_ERROR", last) {
		t.Errorf("%d streams were answered, and the end was %q", len(c.lines), end)
	}
}

// A peer that has sent more than it was told it may, when the connection ends, can
// still read the answers.
func TestHTTP2EndIsRead(t *testing.T) {
	s := serve(t)
	w := newScript()
	w.ask(1, "x-resource", "r")
	w.frame(framePushPromise, 0, 0, "")
	c := s.dialHTTP2(t, w)
	for range 50 {
		w.ask(3, "x-resource", "r")
		c.send(w)
	}
	if got, want := c.end().transcript(), "1: "+accepted+" | GOAWAY 1 PROTOCOL_ERROR, closed"; got != want {
		t.Errorf("received %s, want %s", got, want)
	}
	if err := c.tcp.CloseWrite(); err != nil {
		t.Errorf("the server did not wait for the client: %v", err)
	}
	eventually(t, "the connection ends", func() bool { return s.connections() == 0 })
}
