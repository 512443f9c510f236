package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	xhttp2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/levee-project/levee/internal/attempt"
)

// script writes what a client sends. It is a Framer that lets everything pass,
// with the usual requests added.
type script struct {
	*xhttp2.Framer
	sent  bytes.Buffer
	block bytes.Buffer
	enc   *hpack.Encoder
}

// newScript begins a connection.
func newScript() *script {
	w := bareScript()
	w.sent.WriteString(preface)
	w.settings()
	return w
}

// bareScript is one without a beginning.
func bareScript() *script {
	w := &script{}
	w.Framer = xhttp2.NewFramer(&w.sent, nil)
	w.AllowIllegalWrites = true
	w.enc = hpack.NewEncoder(&w.block)
	return w
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func (w *script) settings(s ...xhttp2.Setting) { must(w.WriteSettings(s...)) }

// fields encodes names and values in turn.
func (w *script) fields(pairs ...string) []byte {
	w.block.Reset()
	for i := 0; i < len(pairs); i += 2 {
		must(w.enc.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]}))
	}
	return bytes.Clone(w.block.Bytes())
}

// The fields that all requests have.
var (
	usual  = []string{":method", "POST", ":scheme", "http", ":path", "/attempt", ":authority", "levee"}
	health = []string{":method", "GET", ":scheme", "http", ":path", "/healthz", ":authority", "levee"}
)

// replaced returns the usual fields with other values, or without some of them.
func replaced(pairs ...string) []string {
	fields := slices.Clone(usual)
	for i := 0; i < len(pairs); i += 2 {
		at := slices.Index(fields, pairs[i])
		if pairs[i+1] == "" {
			fields = slices.Delete(fields, at, at+2)
		} else {
			fields[at+1] = pairs[i+1]
		}
	}
	return fields
}

// head sends the HEADERS of a request that goes on.
func (w *script) head(id uint32, pairs ...string) {
	w.headers(id, false, slices.Concat(usual, pairs)...)
}

// ask sends a whole request, the usual fields and more.
func (w *script) ask(id uint32, pairs ...string) { w.headers(id, true, slices.Concat(usual, pairs)...) }

// headers sends a HEADERS frame with exactly these fields.
func (w *script) headers(id uint32, end bool, pairs ...string) {
	must(w.WriteHeaders(xhttp2.HeadersFrameParam{
		StreamID: id, BlockFragment: w.fields(pairs...), EndHeaders: true, EndStream: end,
	}))
}

func (w *script) data(id uint32, end bool, n int) { must(w.WriteData(id, end, make([]byte, n))) }

func (w *script) reset(id uint32) { must(w.WriteRSTStream(id, xhttp2.ErrCodeCancel)) }

func (w *script) update(id, n uint32) { must(w.WriteWindowUpdate(id, n)) }

// frame sends any frame.
func (w *script) frame(kind, flags byte, id uint32, payload string) {
	must(w.WriteRawFrame(xhttp2.FrameType(kind), xhttp2.Flags(flags), id, []byte(payload)))
}

// h2Client is the client's end of a connection.
type h2Client struct {
	t      testing.TB
	tcp    *net.TCPConn
	framer *xhttp2.Framer
	pings  byte
	lines  map[uint32][]string // what came, by stream
	closed bool
}

// dialHTTP2 connects and sends what a script has.
func (s *testServer) dialHTTP2(t testing.TB, w *script) *h2Client {
	t.Helper()
	c := &h2Client{t: t, tcp: s.dial(t), lines: map[uint32][]string{}}
	c.framer = xhttp2.NewFramer(nil, c.tcp)
	c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.send(w)
	return c
}

// send sends what a script has gathered. A server that has closed the connection
// need not read it.
func (c *h2Client) send(w *script) {
	c.t.Helper()
	if _, err := c.tcp.Write(w.sent.Bytes()); err != nil && !isLost(err) {
		c.t.Fatal(err)
	}
	w.sent.Reset()
}

func isLost(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed)
}

// read reads one frame and writes it down; SETTINGS and their acknowledgement,
// which always come, are left out. At the end of the connection it returns nil.
func (c *h2Client) read() xhttp2.Frame {
	c.t.Helper()
	f, err := c.framer.ReadFrame()
	if err != nil {
		if !errors.Is(err, io.EOF) && !isLost(err) {
			c.t.Fatalf("after %q: %v %v", c.transcript(), err, c.framer.ErrorDetail())
		}
		c.note(0, "closed")
		c.closed = true
		return nil
	}
	id := f.Header().StreamID
	switch f := f.(type) {
	case *xhttp2.MetaHeadersFrame:
		c.note(id, headersLine(f))
	case *xhttp2.DataFrame:
		text := fmt.Sprintf("%q", f.Data())
		if len(f.Data()) > 100 {
			text = fmt.Sprint(len(f.Data()), " bytes")
		}
		c.note(id, text+ending(f.StreamEnded()))
	case *xhttp2.RSTStreamFrame:
		c.note(id, "RST "+f.ErrCode.String())
	case *xhttp2.GoAwayFrame:
		c.note(id, fmt.Sprintf("GOAWAY %d %v", f.LastStreamID, f.ErrCode))
	case *xhttp2.WindowUpdateFrame:
		c.note(id, fmt.Sprintf("+%d", f.Increment))
	case *xhttp2.SettingsFrame, *xhttp2.PingFrame:
	default:
		c.note(id, f.Header().String())
	}
	return f
}

func (c *h2Client) note(id uint32, line string) { c.lines[id] = append(c.lines[id], line) }

func headersLine(f *xhttp2.MetaHeadersFrame) string {
	line := f.PseudoValue("status")
	for _, field := range f.RegularFields() {
		switch field.Name {
		case "allow", "retry-after", "ratelimit", "ratelimit-policy":
			line += " " + field.Name + "=" + field.Value
		}
	}
	return line + ending(f.StreamEnded())
}

func ending(end bool) string {
	if end {
		return " end"
	}
	return ""
}

// settle reads until everything that was sent is answered, or the connection
// ends. An answer can be in the same write as the acknowledgement of a PING that
// was sent after its request, and behind it; so it takes two PINGs.
func (c *h2Client) settle() *h2Client {
	c.t.Helper()
	for range 2 {
		c.pings++
		w := bareScript()
		want := [8]byte{'l', 'e', 'v', 'e', 'e', 0, 0, c.pings}
		must(w.WritePing(false, want))
		c.send(w)
		c.until(func(f xhttp2.Frame) bool {
			ping, ok := f.(*xhttp2.PingFrame)
			return ok && ping.IsAck() && ping.Data == want
		})
	}
	return c
}

// until reads up to a frame, or the end of the connection.
func (c *h2Client) until(last func(xhttp2.Frame) bool) {
	c.t.Helper()
	for !c.closed {
		if f := c.read(); f != nil && last(f) {
			return
		}
	}
}

// transcript is what came since the last call, stream by stream: within one, the
// order matters. Stream 0 comes last.
func (c *h2Client) transcript() string {
	var streams []string
	ids := make([]uint32, 0, len(c.lines))
	for id := range c.lines {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b uint32) int { return int(a-1) - int(b-1) })
	for _, id := range ids {
		name := fmt.Sprintf("%d: ", id)
		if id == 0 {
			name = ""
		}
		streams = append(streams, name+strings.Join(c.lines[id], ", "))
	}
	clear(c.lines)
	return strings.Join(streams, " | ")
}

// batching is a recorder that decides batches.
type batching struct{ *recorder }

func (b batching) Attempts(now int64, as []attempt.Attempt, outcomes []attempt.Outcome) {
	for i := range as {
		outcomes[i], _ = b.Attempt(now, &as[i], nil)
	}
}

// tardy is a recorder that answers from other goroutines.
type tardy struct {
	*recorder
	wg sync.WaitGroup
}

func (d *tardy) Attempt(now int64, a *attempt.Attempt, later attempt.Later) (attempt.Outcome, bool) {
	o, _ := d.recorder.Attempt(now, a, nil)
	d.wg.Go(func() { later.Answer(o) })
	return attempt.Outcome{}, false
}
