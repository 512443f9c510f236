package wire

import (
	"slices"
	"strings"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"
)

// end reads to the end of the connection.
func (c *h2Client) end() *h2Client {
	c.t.Helper()
	c.until(func(xhttp2.Frame) bool { return false })
	return c
}

// What has begun to come must be whole within the time for headers, however often
// a part of it comes.
func TestHTTP2HeaderTimeout(t *testing.T) {
	block := func(w *script) { w.frame(frameHeaders, flagEndStream, 1, "\x83") }
	for _, test := range []struct {
		name string
		send func(w *script)
		more func(w *script) // after nine seconds
		want string
	}{
		{"nothing after the preface", func(w *script) { w.sent.Truncate(len(preface)) }, nil, "GOAWAY 0 PROTOCOL_ERROR, closed"},
		{
			"a frame header", func(w *script) { w.sent.WriteString("\x00\x00") },
			func(w *script) { w.sent.WriteString("\x08\x06") }, "GOAWAY 0 PROTOCOL_ERROR, closed",
		},
		{
			"a frame", func(w *script) { w.sent.WriteString("\x00\x00\x08\x06\x00\x00\x00\x00\x00xxxx") },
			func(w *script) { w.sent.WriteString("xxx") }, "GOAWAY 0 PROTOCOL_ERROR, closed",
		},
		{
			"a header block", block,
			func(w *script) { w.frame(frameContinuation, 0, 1, "\x86") }, "GOAWAY 0 PROTOCOL_ERROR, closed",
		},
		{
			"a header block, and its first frame", func(w *script) { w.sent.WriteString("\x00\x00\x02\x01\x01") },
			func(w *script) { w.sent.WriteString("\x00\x00\x00\x01\x83\x86") }, "GOAWAY 0 PROTOCOL_ERROR, closed",
		},
		{
			"DATA that nobody wants", func(w *script) {
				w.headers(1, false, "X", "y")
				w.sent.WriteString("\x00\x00\x08\x00\x00\x00\x00\x00\x01xxxx")
			},
			func(w *script) { w.sent.WriteString("xxx") }, "1: RST PROTOCOL_ERROR | GOAWAY 1 PROTOCOL_ERROR, closed",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			w := newScript()
			test.send(w)
			c := s.dialHTTP2(t, w)
			c.until(isSettings) // the server is there
			s.awaitShepherd(t)
			s.clock.move(9 * time.Second)
			s.awaitShepherd(t)
			if test.more != nil {
				test.more(w)
				c.send(w)
				s.awaitShepherd(t)
			}
			s.clock.move(time.Second + time.Millisecond)
			if got := c.end().transcript(); got != test.want {
				t.Errorf("received %s, want %s", got, test.want)
			}
			bad, _ := s.told()
			if !slices.Contains(bad, ReasonTimeout) {
				t.Errorf("counted %v, want a timeout", bad)
			}
		})
	}
}

func isSettings(f xhttp2.Frame) bool { return f.Header().Type == xhttp2.FrameSettings }

// A whole frame gives the next one its own time.
func TestHTTP2HeaderTimeoutOfEachFrame(t *testing.T) {
	ping := "\x00\x00\x08\x06\x00\x00\x00\x00\x00xxxxxxxx"
	data := "\x00\x00\x08\x00\x00\x00\x00\x00\x01xxxxxxxx"
	for name, frame := range map[string]string{"PING": ping, "DATA": data} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			w := newScript()
			w.headers(1, false, "X", "y") // is reset
			c := s.dialHTTP2(t, w).settle()
			for range 2 {
				for _, part := range []string{frame[:5], frame[5:10], frame[10:] + ping[:5]} {
					w.sent.WriteString(part)
					c.send(w)
					s.awaitShepherd(t)
					s.clock.move(4500 * time.Millisecond)
					s.awaitShepherd(t)
				}
				w.sent.WriteString(ping[5:])
				c.send(w)
				c.until(func(f xhttp2.Frame) bool { return f.Header().Type == xhttp2.FramePing })
			}
			if c.closed {
				t.Errorf("the connection ended: %s", c.transcript())
			}
		})
	}
}

// A connection on which nothing is asked ends, and the client learns that it was
// not the server that failed.
func TestHTTP2IdleTimeout(t *testing.T) {
	s := serve(t)
	w := newScript()
	c := s.dialHTTP2(t, w).settle()
	s.clock.move(5 * time.Minute)
	s.awaitShepherd(t)
	w.ask(1, "x-resource", "r")
	c.send(w)
	if got, want := c.settle().transcript(), "1: "+accepted; got != want {
		t.Fatalf("received %s, want %s", got, want)
	}
	s.clock.move(5*time.Minute + time.Millisecond)
	if got, want := c.end().transcript(), "GOAWAY 1 NO_ERROR, closed"; got != want {
		t.Errorf("received %s, want %s", got, want)
	}
	if bad, _ := s.told(); len(bad) > 0 {
		t.Errorf("counted as bad: %v", bad)
	}
}

// A stream whose content does not come, or whose text cannot go, in time is reset;
// the connection goes on.
func TestHTTP2StreamTimeouts(t *testing.T) {
	for _, test := range []struct {
		name string
		send func(w *script)
		more func(w *script) // after nine seconds
		want string
	}{
		{
			"content", func(w *script) { w.head(1, "x-resource", "r") },
			func(w *script) { w.data(1, false, 10) },
			"1: RST CANCEL | 3: " + accepted,
		},
		{
			"the rest of a frame", func(w *script) { w.head(1, "x-resource", "r") },
			func(w *script) { w.sent.WriteString("\x00\x00\x08\x00\x00\x00\x00\x00\x01xxxx") },
			"1: RST CANCEL | 3: " + accepted,
		},
		{
			"a window", func(w *script) {
				w.settings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize})
				w.headers(1, true, replaced(":path", "/")...)
			},
			func(w *script) { w.update(1, 1) },
			"1: 404, \"t\", RST CANCEL | 3: " + accepted,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			w := newScript()
			test.send(w)
			c := s.dialHTTP2(t, w).settle()
			s.awaitShepherd(t)
			s.clock.move(9 * time.Second)
			s.awaitShepherd(t)
			test.more(w)
			c.send(w)
			s.awaitShepherd(t)
			s.clock.move(time.Second + time.Millisecond)
			c.until(func(f xhttp2.Frame) bool { return f.Header().Type == xhttp2.FrameRSTStream })
			if strings.HasPrefix(test.name, "the rest") {
				w.sent.WriteString("xxxx")
			}
			w.ask(3, "x-resource", "s")
			c.send(w)
			if got := c.settle().transcript(); got != test.want {
				t.Errorf("received %s, want %s", got, test.want)
			}
			bad, _ := s.told()
			if bad = slices.DeleteFunc(bad, func(r Reason) bool { return r == ReasonPath }); !slices.Equal(bad, []Reason{ReasonTimeout}) {
				t.Errorf("counted as bad: %v", bad)
			}
		})
	}
}

// The time for headers is none for content.
func TestHTTP2BodyTimeout(t *testing.T) {
	s := serve(t, func(o *Options) { o.BodyTimeout = time.Minute })
	w := newScript()
	w.head(1, "x-resource", "r")
	w.sent.WriteString("\x00\x00\x08\x00\x01\x00\x00\x00\x01xxxx")
	c := s.dialHTTP2(t, w)
	c.until(isSettings)
	s.awaitShepherd(t)
	s.clock.move(59 * time.Second)
	s.awaitShepherd(t)
	w.sent.WriteString("xxxx")
	c.send(w)
	if got, want := c.settle().transcript(), "1: "+accepted; got != want {
		t.Errorf("received %s, want %s", got, want)
	}
}

// One slow stream does not end a connection that is busy, nor does it go on for
// ever.
func TestHTTP2StreamTimeoutAmongOthers(t *testing.T) {
	s := serve(t)
	w := newScript()
	w.head(1, "x-resource", "slow")
	c := s.dialHTTP2(t, w)
	for id := uint32(3); id < 43; id += 2 {
		w.ask(id, "x-resource", "r")
		c.send(w)
		c.settle()
		s.clock.move(time.Second)
	}
	if c.closed || len(c.lines) != 21 || !slices.Equal(c.lines[1], []string{"RST CANCEL"}) {
		t.Errorf("received %s", c.transcript())
	}
}

// A peer that does not read is cut.
func TestHTTP2WriteTimeout(t *testing.T) {
	s := serve(t, func(o *Options) { o.Decider = verbose{strings.Repeat("x", 1<<20)} })
	w := newScript()
	w.settings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: maxWindow})
	w.update(0, maxWindow-65535)
	for id := uint32(1); id < 200; id += 2 {
		w.ask(id, "x-resource", "r")
	}
	s.dialHTTP2(t, w).until(isSettings) // and no further
	eventually(t, "the connection is cut", func() bool {
		s.clock.move(100 * time.Millisecond)
		return s.connections() == 0
	})
	if bad, _ := s.told(); !slices.Equal(bad, []Reason{ReasonTimeout}) {
		t.Errorf("counted as bad: %v", bad)
	}
}
