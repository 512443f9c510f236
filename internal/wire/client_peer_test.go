package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// peer is a limiter that does what a test says.
type peer struct {
	l    *net.TCPListener
	addr string
}

func newPeer(t testing.TB) *peer {
	l := listen(t)
	t.Cleanup(func() { _ = l.Close() })
	return &peer{l, l.Addr().String()}
}

// newNarrowPeer returns one to which little can be sent that it does not read.
func newNarrowPeer(t testing.TB) *peer {
	p := newPeer(t)
	raw, err := p.l.SyscallConn()
	must(err)
	must(raw.Control(func(fd uintptr) {
		must(syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 8<<10))
	}))
	return p
}

// peerConn is the limiter's end of a connection.
type peerConn struct {
	*xhttp2.Framer
	t     testing.TB
	tcp   *net.TCPConn
	block bytes.Buffer
	enc   *hpack.Encoder
	room  int // leave to send on the connection
}

// accept takes the next connection up to the client's SETTINGS.
func (p *peer) accept(t testing.TB) *peerConn {
	t.Helper()
	_ = p.l.SetDeadline(time.Now().Add(patience))
	tcp, err := p.l.AcceptTCP()
	if err != nil {
		t.Fatal(err)
	}
	_ = tcp.SetDeadline(time.Now().Add(patience))
	t.Cleanup(func() { _ = tcp.Close() })
	c := &peerConn{t: t, tcp: tcp, Framer: xhttp2.NewFramer(tcp, tcp)}
	c.enc = hpack.NewEncoder(&c.block)
	c.AllowIllegalWrites = true
	c.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	got := make([]byte, len(preface))
	if _, err := io.ReadFull(tcp, got); err != nil || string(got) != preface {
		t.Fatalf("the preface is %q, %v", got, err)
	}
	f, ok := c.next().(*xhttp2.SettingsFrame)
	if !ok || f.IsAck() {
		t.Fatalf("the first frame is %v", f)
	}
	return c
}

// greet accepts a connection and sends settings.
func (p *peer) greet(t testing.TB, settings ...xhttp2.Setting) *peerConn {
	t.Helper()
	c := p.accept(t)
	must(c.WriteSettings(settings...))
	return c
}

// next reads a frame; nil is the end of the connection.
func (c *peerConn) next() xhttp2.Frame {
	c.t.Helper()
	f, err := c.ReadFrame()
	if errors.Is(err, io.EOF) || isLost(err) {
		return nil
	}
	if err != nil {
		c.t.Fatalf("%v %v", err, c.ErrorDetail())
	}
	if update, ok := f.(*xhttp2.WindowUpdateFrame); ok && update.StreamID == 0 {
		c.room += int(update.Increment)
	}
	return f
}

// until reads up to a frame.
func (c *peerConn) until(what string, last func(f xhttp2.Frame) bool) {
	c.t.Helper()
	for {
		f := c.next()
		if f == nil {
			c.t.Fatalf("the connection ends before %s", what)
		}
		if last(f) {
			return
		}
	}
}

// request reads up to the next request that is whole.
func (c *peerConn) request() (id uint32) {
	c.t.Helper()
	c.until("a request", func(f xhttp2.Frame) bool {
		h, ok := f.(*xhttp2.MetaHeadersFrame)
		id = f.Header().StreamID
		return ok && h.StreamEnded()
	})
	return id
}

// requests reads n requests and returns their streams.
func (c *peerConn) requests(n int) (ids []uint32) {
	c.t.Helper()
	for range n {
		ids = append(ids, c.request())
	}
	return ids
}

func (c *peerConn) fields(pairs ...string) []byte {
	c.block.Reset()
	for i := 0; i < len(pairs); i += 2 {
		must(c.enc.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]}))
	}
	return bytes.Clone(c.block.Bytes())
}

// respond sends the fields of an answer.
func (c *peerConn) respond(id uint32, end bool, pairs ...string) {
	must(c.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: id, BlockFragment: c.fields(pairs...), EndHeaders: true, EndStream: end}))
}

func (c *peerConn) accepted(id uint32) { c.respond(id, true, ":status", "200") }

// end reads up to the end of the connection and returns the GOAWAY before it.
func (c *peerConn) end() string {
	c.t.Helper()
	said := "nothing"
	for {
		switch f := c.next().(type) {
		case nil:
			return said
		case *xhttp2.GoAwayFrame:
			said = fmt.Sprintf("%v: %s", f.ErrCode, f.DebugData())
		}
	}
}
