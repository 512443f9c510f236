package wire

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/hpack"
)

// counted is a Call that counts.
type counted struct{ times int }

func (c *counted) Done(attempt.Outcome, error) { c.times++ }

// FuzzClient has a limiter send anything. Whatever it is, every call ends once, and
// what is kept has a bound.
func FuzzClient(f *testing.F) {
	for _, seed := range clientSeeds() {
		f.Add(seed, uint8(3))
	}
	socket := spareSocket(f)
	f.Fuzz(func(t *testing.T, sent []byte, cut uint8) {
		clock := newTestClock()
		c := newTestClient("levee:5454", func(o *ClientOptions) { standing(o, clock) })
		k, err := newClientConn(c.Client, socket)
		if err != nil {
			t.Fatal(err)
		}
		c.conns = []*clientConn{k}
		calls := make([]*counted, 0, 100)
		feed(k, func() {
			call := &counted{}
			if taken, _ := k.ask(clock.now(), &attempt.Attempt{Resource: []byte("r")}, call); taken {
				calls = append(calls, call)
			}
			clock.move(shortly / 40)
			c.giveUp(k, clock.now())
		}, sent, 1+int(cut))
		for _, call := range k.flights.above(0) {
			call.Done(attempt.Outcome{}, ErrLost)
		}
		for i, call := range calls {
			if call.times != 1 {
				t.Errorf("call %d of %d is told %d times", i, len(calls), call.times)
			}
		}
		if k.flights.open != 0 || k.flights.live != 0 {
			t.Errorf("%d open, %d live", k.flights.open, k.flights.live)
		}
		if n := cap(k.block.text); n > 2*maxBlock {
			t.Errorf("%d bytes of a header block are kept", n)
		}
		understandableRequests(t, k.pending)
	})
}

// feed has a connection handle what comes in pieces, as serve does, and calls
// between before each.
func feed(k *clientConn, between func(), sent []byte, piece int) {
	for len(sent) > 0 {
		between()
		if k.r == k.w {
			k.r, k.w = 0, 0
		} else if k.w == len(k.in) {
			k.r, k.w = 0, copy(k.in, k.in[k.r:k.w])
		}
		n := copy(k.in[k.w:min(len(k.in), k.w+piece*piece)], sent)
		k.w += n
		sent = sent[n:]
		k.now = k.client.o.Clock()
		err := k.frames()
		if bad := k.settle(); err != nil || bad != nil || k.state&connShut != 0 {
			return
		}
	}
}

// understandableRequests checks all that a client has sent on a connection, but
// for what a limiter's settings have to do with header blocks.
func understandableRequests(t *testing.T, sent []byte) {
	t.Helper()
	rest, ok := bytes.CutPrefix(sent, []byte(preface))
	if !ok {
		t.Fatalf("%q is no preface", sent)
	}
	framer := xhttp2.NewFramer(nil, bytes.NewReader(rest))
	for last := uint32(0); ; {
		f, err := framer.ReadFrame()
		if err != nil {
			if err.Error() != "EOF" {
				t.Fatalf("a limiter does not understand it: %v", err)
			}
			return
		}
		if h, ok := f.(*xhttp2.HeadersFrame); ok {
			if h.StreamID != last+2 && last != 0 || h.StreamID&1 == 0 {
				t.Fatalf("stream %d after %d", h.StreamID, last)
			}
			last = h.StreamID
		}
	}
}

// clientSeeds are sessions as limiters have them, and what they must not do.
func clientSeeds() (seeds [][]byte) {
	add := func(build func(w *script)) {
		w := bareScript()
		w.settings(xhttp2.Setting{ID: xhttp2.SettingMaxConcurrentStreams, Val: 250}, xhttp2.Setting{ID: xhttp2.SettingHeaderTableSize, Val: 4096})
		w.settings()
		must(w.WriteSettingsAck())
		build(w)
		seeds = append(seeds, slices.Clone(w.sent.Bytes()))
	}
	add(func(w *script) {
		for id := uint32(1); id < 20; id += 2 {
			w.headers(id, true, ":status", "200", "date", "now", "content-length", "0")
		}
	})
	p := prepare(time.Unix(0, 0))
	add(func(w *script) {
		o := &attempt.Outcome{Result: attempt.Rejected, RetryAfter: 1, Level: attempt.Full}
		for id := uint32(3); id < 20; id += 4 {
			w.sent.Write(p.appendOutcomeFrame(nil, id, o, HeadersRateLimit))
			w.sent.Write(p.appendLineFrame(nil, &reply{id: id + 2, status: 500, text: "failed"}))
			w.sent.Write(append(frame{length: 7, kind: frameData, flags: flagEndStream, stream: id + 2}.append(nil), "failed\n"...))
		}
	})
	add(func(w *script) {
		w.headers(3, false, ":status", "103", "link", "x")
		w.headers(3, false, ":status", "500")
		w.data(3, false, 2000)
		w.headers(5, false, ":status", "404")
		w.headers(5, true, "x", "y")
		must(w.WriteDataPadded(7, true, []byte("abc"), make([]byte, 5)))
		w.reset(9)
		w.headers(11, true, "x", "y")
	})
	add(func(w *script) {
		w.settings(xhttp2.Setting{ID: xhttp2.SettingHeaderTableSize, Val: 0}, xhttp2.Setting{ID: xhttp2.SettingMaxConcurrentStreams, Val: 2})
		must(w.WritePing(false, [8]byte{}))
		w.headers(3, true, ":status", "429", "retry-after", "9")
		must(w.WriteGoAway(5, xhttp2.ErrCodeNo, []byte("bye")))
		w.headers(5, true, ":status", "200")
	})
	add(func(w *script) {
		block := w.fields(":status", "200", "x", "y")
		must(w.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 3, EndStream: true, BlockFragment: block[:2], PadLength: 3, Priority: xhttp2.PriorityParam{StreamDep: 3}}))
		must(w.WriteContinuation(3, false, block[2:4]))
		must(w.WriteContinuation(3, true, block[4:]))
		must(w.WritePushPromise(xhttp2.PushPromiseParam{StreamID: 3, PromiseID: 2, EndHeaders: true}))
	})
	return seeds
}

// FuzzStateless: a block that counts as stateless says the same to decoders whose
// tables differ, and leaves them as they are.
func FuzzStateless(f *testing.F) {
	p := prepare(time.Unix(0, 0))
	f.Add(p.frames.accepted[frameHeader:])
	f.Add(p.frames.rejected[frameHeader:])
	f.Add(p.appendLineFrame(nil, &reply{id: 1, status: 500, text: "failed"})[frameHeader:])
	for _, seed := range []string{"\x88", "\xbe", "\x0f\x2f\x01x", "\x00\x01a\x01b", "\x40\x01a\x01b", "\x20", "\x10\x81\xff\x00", "\x48\x03\x34\x32\x39", "\x22\x02\x01y"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		if !stateless(block) {
			return
		}
		probe := []byte("\xbe\xbf") // the two newest entries
		read := func(teach string) (said []string) {
			d := hpack.New()
			for _, b := range [][]byte{[]byte(teach), block, probe} {
				err := d.Decode(b, MaxHeader, func(name hpack.Name, raw, value []byte, valid bool) {
					said = append(said, fmt.Sprintf("%v %q %q %v", name, raw, value, valid))
				})
				said = append(said, fmt.Sprint(err))
			}
			return said
		}
		one := read("\x40\x01a\x01b\x40\x01a\x01b")
		other := read("\x40\x01c\x01d\x40\x01c\x01d")
		if n := len(one); n < 6 || len(other) != n || !slices.Equal(one[3:n-3], other[3:n-3]) {
			// A block that is malformed ends the connection, and is never remembered.
			if !slices.ContainsFunc(one, func(s string) bool { return s != "<nil>" && bytes.Contains([]byte(s), []byte("decoded")) }) {
				t.Errorf("%q: %q, %q", block, one, other)
			}
			return
		}
		if !slices.Equal(one[len(one)-3:], append(one[:2:2], "<nil>")) {
			t.Errorf("%q changes the table: %q", block, one)
		}
	})
}
