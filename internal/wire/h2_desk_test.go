package wire

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

// inMemoryHTTP2 returns a connection with nobody at its other end.
func inMemoryHTTP2(o Options) *http2 {
	c := &conn{s: NewServer(nil, o), tcp: &net.TCPConn{}, raw: dry{}, prep: prepare(time.Now())}
	h := newHTTP2(c)
	h.greeted = true
	h.take()
	return h
}

// read has the connection handle bytes as if they had come. They must not be
// answered with more than outHigh.
func (h *http2) read(t testing.TB, b []byte) {
	t.Helper()
	h.c.in, h.c.r, h.c.w = b, 0, len(b)
	if err := h.frames(); err != nil {
		t.Fatal(err)
	}
}

// Small requests that refer to large fields do not fill the desk with them.
func TestHTTP2DeskStaysSmall(t *testing.T) {
	large := []string{"x-req-id", strings.Repeat("z", 3900)}
	for _, fields := range [][]string{replaced(":path", "/"), usual, append(replaced(":method", "PUT"), "X", "y")} {
		h := inMemoryHTTP2(plainOptions())
		w := bareScript()
		for id := uint32(1); id < 80; id += 2 {
			w.headers(id, true, append(fields, append(large, large...)...)...)
		}
		for id := uint32(81); id < 100; id += 2 {
			w.headers(id, false, append(fields, append(large, large...)...)...)
			w.reset(id)
		}
		h.read(t, w.sent.Bytes())
		if n := cap(h.desk.text); n > 4*textHigh {
			t.Errorf("the desk holds %d bytes", n)
		}
	}
}

// A connection writes what it has before that becomes much.
func TestHTTP2WritesInTime(t *testing.T) {
	h := inMemoryHTTP2(plainOptions())
	w := bareScript()
	for id := uint32(1); id < 1000; id += 2 {
		w.headers(id, true, health...)
	}
	h.c.in, h.c.w = w.sent.Bytes(), w.sent.Len()
	if err := h.frames(); !errors.Is(err, net.ErrClosed) { // there is nobody to write to
		t.Fatalf("it went on, with %d bytes of answers: %v", len(h.c.out), err)
	}
	if unread := len(h.c.unread()); unread == 0 {
		t.Error("everything was read before anything was written")
	}
}

// What a connection holds between two waits is given back.
func TestHTTP2IdleConnectionHoldsLittle(t *testing.T) {
	h := inMemoryHTTP2(plainOptions())
	w := bareScript()
	for id := uint32(1); id < 100; id += 2 {
		w.head(id, "x-resource", "r", "x-req-id", strings.Repeat("z", 2000))
	}
	for id := uint32(1); id < 100; id += 2 {
		w.data(id, true, 0)
	}
	h.read(t, w.sent.Bytes())
	h.settle()
	h.giveBack()
	if h.desk != nil || h.c.out != nil || h.block.text != nil {
		t.Error("it holds a desk")
	}
	if h.streams.kept != 0 || h.streams.timed != 0 || len(h.streams.open) != 0 {
		t.Errorf("it remembers %+v", h.streams)
	}
}
