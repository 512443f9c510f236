package wire

import (
	"slices"
	"strings"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"
)

// floods are shapes of work that no request pays for. Each writes one more unit,
// on streams of its own.
var floods = []struct {
	name string
	cost int
	unit func(w *script, id uint32)
}{
	{"SETTINGS", costFrame, func(w *script, _ uint32) { w.settings() }},
	{"acknowledgements of SETTINGS", costFrame, func(w *script, _ uint32) { must(w.WriteSettingsAck()) }},
	{"PING", costFrame, func(w *script, _ uint32) { must(w.WritePing(false, [8]byte{})) }},
	{"answers to PING", costFrame, func(w *script, _ uint32) { must(w.WritePing(true, [8]byte{})) }},
	{"PRIORITY", costFrame, func(w *script, id uint32) { must(w.WritePriority(id, xhttp2.PriorityParam{})) }},
	{"types unknown", costFrame, func(w *script, _ uint32) { w.frame(0xee, 0, 0, "") }},
	{"WINDOW_UPDATE of the connection", costFrame, func(w *script, _ uint32) { w.update(0, 1) }},
	{"WINDOW_UPDATE of a closed stream", costFrame, func(w *script, _ uint32) { w.update(1, 1) }},
	{"empty DATA", costFrame, func(w *script, _ uint32) { w.data(3, false, 0) }},
	{"padding", costFrame, func(w *script, _ uint32) { must(w.WriteDataPadded(3, false, nil, make([]byte, 9))) }},
	{"DATA on a closed stream", costFrame, func(w *script, _ uint32) { w.data(1, false, 1) }},
	{"trailers on a closed stream", costFrame, func(w *script, _ uint32) {
		w.data(1, false, 1)
		w.headers(1, false, "x", "y")
	}},
	{"rapid reset", costReset - earnRequest, func(w *script, id uint32) {
		w.ask(id, "x-resource", "r")
		w.reset(id)
	}},
	{"reset before the content", costReset, func(w *script, id uint32) {
		w.head(id, "x-resource", "r")
		w.reset(id)
	}},
	{"malformed requests", costReset, func(w *script, id uint32) { w.ask(id, "X", "y") }},
	{"malformed updates", costReset, func(w *script, id uint32) {
		w.head(id, "x-resource", "r")
		w.update(id, 0)
	}},
}

// A flood ends in GOAWAY, counted once, and not before it is one.
func TestHTTP2Floods(t *testing.T) {
	for _, flood := range floods {
		t.Run(flood.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			w := newScript()
			w.headers(1, true, health...)
			w.head(3, "x-resource", "r")
			id := uint32(5)
			for range 500 {
				flood.unit(w, id)
				id += 2
			}
			c := s.dialHTTP2(t, w).settle()
			if c.closed {
				t.Fatalf("500 of them ended the connection: %s", c.transcript())
			}
			for range calmBurst/flood.cost + 10 {
				flood.unit(w, id)
				id += 2
			}
			c.send(w)
			c.settle()
			if end := c.lines[0]; !c.closed || !strings.HasSuffix(end[len(end)-2], "ENHANCE_YOUR_CALM") {
				t.Errorf("it went on: %s", c.transcript())
			}
			bad, _ := s.told()
			if n := len(slices.DeleteFunc(bad, func(r Reason) bool { return r != ReasonFlood })); n != 1 {
				t.Errorf("counted %d floods, want 1", n)
			}
		})
	}
}

// A block in very many parts is a flood before it is too long.
func TestHTTP2FloodOfContinuations(t *testing.T) {
	s := serve(t)
	w := newScript()
	w.frame(frameHeaders, flagEndStream, 1, "\x83")
	for range calmBurst + 1 {
		w.frame(frameContinuation, 0, 1, "")
	}
	c := s.dialHTTP2(t, w)
	c.until(func(xhttp2.Frame) bool { return false })
	if got, want := c.transcript(), "GOAWAY 0 ENHANCE_YOUR_CALM, closed"; got != want {
		t.Errorf("received %s, want %s", got, want)
	}
}

// What a peer may send comes back with time, and with requests.
func TestHTTP2Calm(t *testing.T) {
	t.Run("time", func(t *testing.T) {
		var c calm
		c.start(0)
		now := int64(0)
		for i := range 10 * calmBurst {
			now += int64(time.Second) / calmPerSecond
			if bad := c.spend(costFrame, now); bad != nil {
				t.Fatalf("%d frames at the rate allowed are too many", i)
			}
		}
		for range calmBurst {
			if c.spend(costFrame, now) != nil {
				return
			}
		}
		if c.spend(costFrame, now) == nil {
			t.Errorf("%d frames at once are not too many", calmBurst+1)
		}
	})
	t.Run("requests", func(t *testing.T) {
		s := serve(t)
		w := newScript()
		c := s.dialHTTP2(t, w)
		id := uint32(1)
		for range 20 {
			for range calmBurst / 10 {
				must(w.WritePing(false, [8]byte{}))
				w.update(0, 1)
				w.ask(id, "x-resource", "r")
				w.ask(id+2, "x-resource", "r")
				id += 4
			}
			c.send(w)
			if c.settle(); c.closed {
				t.Fatalf("a connection with as many requests ended: %s", c.transcript())
			}
		}
	})
	t.Run("a client that opens its windows again", func(t *testing.T) {
		s := serve(t)
		w := newScript()
		c := s.dialHTTP2(t, w)
		id := uint32(1)
		for range 20 {
			for range calmBurst / 10 {
				w.headers(id, true, replaced(":path", "/")...)
				w.update(id, 41)
				w.update(0, 41)
				id += 2
			}
			c.send(w)
			if c.settle(); c.closed {
				t.Fatalf("a connection that is not told what it asks ended: %s", c.transcript())
			}
		}
	})
}
