package wire

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"

	"github.com/levee-project/levee/internal/attempt"
)

var (
	wasAccepted = answered{attempt.Outcome{Result: attempt.Accepted}, nil}
	wasRejected = answered{attempt.Outcome{Result: attempt.Rejected, Over: true}, nil}
	wasLost     = answered{attempt.Outcome{}, ErrLost}
)

func wasFailed(line string) answered { return answered{attempt.Outcome{Failure: line}, nil} }

// Whatever comes on the stream of a call, it is told once what that means, and the
// connection goes on.
func TestClientStreams(t *testing.T) {
	p := newPeer(t)
	c := newTestClient(p.addr).run(t)
	k := p.greet(t)
	c.awaitUp(t)
	for _, test := range []struct {
		name string
		send func(id uint32)
		want answered
	}{
		{"accepted", k.accepted, wasAccepted},
		{"rejected", func(id uint32) { k.respond(id, true, ":status", "429") }, wasRejected},
		{"with content", func(id uint32) {
			k.respond(id, false, ":status", "200", "content-type", "text/html")
			must(k.WriteData(id, false, []byte("welcome")))
			must(k.WriteData(id, true, nil))
		}, wasAccepted},
		{"with trailers", func(id uint32) {
			k.respond(id, false, ":status", "429")
			k.respond(id, true, "x", "y")
		}, wasRejected},
		{"after an interim answer", func(id uint32) {
			k.respond(id, false, ":status", "103", "link", "x")
			k.respond(id, false, ":status", "100")
			k.accepted(id)
		}, wasAccepted},
		{"failed", func(id uint32) {
			k.respond(id, false, ":status", "500")
			must(k.WriteData(id, true, []byte("no quotas\n")))
		}, wasFailed("no quotas")},
		{"failed in pieces", func(id uint32) {
			k.respond(id, false, ":status", "500")
			for _, s := range []string{"", " no", " quot", "as \r\nmore"} {
				must(k.WriteDataPadded(id, false, []byte(s), make([]byte, 3)))
			}
			must(k.WriteData(id, true, nil))
		}, wasFailed("no quotas")},
		{"failed with a trailer", func(id uint32) {
			k.respond(id, false, ":status", "500")
			must(k.WriteData(id, false, []byte("no \xff quotas")))
			k.respond(id, true, "x", "y")
		}, wasFailed("no ? quotas")},
		{"failed without a text", func(id uint32) { k.respond(id, true, ":status", "500") }, wasFailed("the limiter answered 500")},
		{"failed with an empty text", func(id uint32) {
			k.respond(id, false, ":status", "500")
			must(k.WriteData(id, true, []byte("\n")))
		}, wasFailed("the limiter answered 500")},
		{"failed at length", func(id uint32) {
			k.respond(id, false, ":status", "500")
			must(k.WriteData(id, false, []byte(strings.Repeat("x", 10000))))
		}, wasFailed(strings.Repeat("x", maxText))},
		{"not found", func(id uint32) { k.respond(id, true, ":status", "404") }, wasFailed("the limiter answered 404")},
		{"bad", func(id uint32) {
			k.respond(id, false, ":status", "400")
			must(k.WriteData(id, true, []byte("X-Hits is wrong\n")))
		}, wasFailed("the limiter answered 400: X-Hits is wrong")},
		{"another success", func(id uint32) { k.respond(id, true, ":status", "204") }, wasFailed("the limiter answered 204")},
		{"reset", func(id uint32) { must(k.WriteRSTStream(id, xhttp2.ErrCodeRefusedStream)) }, wasLost},
		{"reset in the middle", func(id uint32) {
			k.respond(id, false, ":status", "500")
			must(k.WriteRSTStream(id, xhttp2.ErrCodeInternal))
		}, wasLost},
		{"reset afterwards", func(id uint32) {
			k.accepted(id)
			must(k.WriteRSTStream(id, xhttp2.ErrCodeNo))
		}, wasAccepted},
		{"answered twice", func(id uint32) {
			k.accepted(id)
			k.respond(id, true, ":status", "429")
		}, wasAccepted},
		{"two answers", func(id uint32) {
			k.respond(id, false, ":status", "200")
			k.respond(id, true, ":status", "429")
		}, wasLost},
		{"an interim answer at the end", func(id uint32) { k.respond(id, true, ":status", "100") }, wasLost},
		{"an interim answer in the middle", func(id uint32) {
			k.respond(id, false, ":status", "200")
			k.respond(id, false, ":status", "100")
		}, wasLost},
		{"no status", func(id uint32) { k.respond(id, true, "x", "y") }, wasLost},
		{"no status, no end", func(id uint32) { k.respond(id, false, "x", "y") }, wasLost},
		{"two statuses", func(id uint32) { k.respond(id, true, ":status", "200", ":status", "200") }, wasLost},
		{"a late status", func(id uint32) { k.respond(id, true, "x", "y", ":status", "200") }, wasLost},
		{"no number", func(id uint32) { k.respond(id, true, ":status", "2OO") }, wasLost},
		{"a short number", func(id uint32) { k.respond(id, true, ":status", "20") }, wasLost},
		{"a low number", func(id uint32) { k.respond(id, true, ":status", "099") }, wasLost},
		{"a request", func(id uint32) { k.respond(id, true, ":method", "GET", ":path", "/") }, wasLost},
		{"a field of HTTP/1", func(id uint32) { k.respond(id, true, ":status", "200", "connection", "close") }, wasLost},
		{"a bad name", func(id uint32) { k.respond(id, true, ":status", "200", "X", "y") }, wasLost},
		{"a bad value", func(id uint32) { k.respond(id, true, ":status", "200", "x", "a\nb") }, wasLost},
		{"too many fields", func(id uint32) {
			k.respond(id, true, ":status", "200", "x", strings.Repeat("x", MaxHeader))
		}, wasLost},
		{"content first", func(id uint32) { must(k.WriteData(id, true, []byte("x"))) }, wasLost},
		{"trailers without an end", func(id uint32) {
			k.respond(id, false, ":status", "200")
			k.respond(id, false, "x", "y")
		}, wasLost},
		{"continued", func(id uint32) {
			block := k.fields(":status", "429", "x", strings.Repeat("y", 1000))
			must(k.WriteHeaders(xhttp2.HeadersFrameParam{
				StreamID: id, BlockFragment: block[:1], EndStream: true, PadLength: 7, Priority: xhttp2.PriorityParam{StreamDep: 5},
			}))
			must(k.WriteContinuation(id, false, nil))
			must(k.WriteContinuation(id, false, block[1:500]))
			must(k.WriteContinuation(id, true, block[500:]))
		}, wasRejected},
		{"among frames that say nothing", func(id uint32) {
			must(k.WritePriority(id, xhttp2.PriorityParam{StreamDep: 3}))
			must(k.WriteWindowUpdate(0, 5))
			must(k.WriteWindowUpdate(id, 5))
			must(k.WriteRawFrame(0xee, 0xff, id, []byte("unknown")))
			must(k.WriteSettings(xhttp2.Setting{ID: 0xee, Val: 1}, xhttp2.Setting{ID: xhttp2.SettingMaxFrameSize, Val: 1 << 20}))
			must(k.WriteSettingsAck())
			must(k.WriteData(1, true, []byte("on a stream that is closed")))
			k.accepted(1)
			k.accepted(id)
		}, wasAccepted},
	} {
		call := c.ask(t, about("r"))
		id := k.request()
		test.send(id)
		if got := call.wait(t); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
		next := c.ask(t, about("r"))
		k.accepted(id) // of a stream that is closed
		k.accepted(k.request())
		if got := next.wait(t); got.Result != attempt.Accepted {
			t.Fatalf("%s: the next call: %+v", test.name, got)
		}
		if n := call.times.Load(); n != 1 {
			t.Errorf("%s: the call was told %d times", test.name, n)
		}
	}
	if open, live := c.only(t).flying(); open != 0 || live != 0 {
		t.Errorf("%d streams open, %d calls", open, live)
	}
}

// Many answers may come at once, and each reaches its call.
func TestClientManyAnswers(t *testing.T) {
	p := newPeer(t)
	c := newTestClient(p.addr).run(t)
	k := p.greet(t)
	c.awaitUp(t)
	calls := make([]*testCall, 3*batchSize)
	for i := range calls {
		calls[i] = c.ask(t, about("r"))
	}
	outcomes := []attempt.Outcome{{Result: attempt.Accepted}, {Result: attempt.Rejected}}
	var all []byte
	for i, id := range k.requests(len(calls)) {
		all = prepare(time.Now()).appendOutcomeFrame(all, id, &outcomes[i%2], HeadersNone)
	}
	_, err := k.tcp.Write(all)
	must(err)
	for i, call := range calls {
		if got := call.wait(t); got.err != nil || got.Result != outcomes[i%2].Result {
			t.Errorf("%d: %+v", i, got)
		}
	}
}

// What a limiter must not do ends the connection: the call is lost, the limiter
// is told why, and so is who reads the log.
func TestClientFaults(t *testing.T) {
	for _, test := range []struct {
		name string
		send func(k *peerConn, id uint32)
		want string
	}{
		{"push", func(k *peerConn, id uint32) {
			must(k.WritePushPromise(xhttp2.PushPromiseParam{StreamID: id, PromiseID: 2, BlockFragment: k.fields(":method", "GET"), EndHeaders: true}))
		}, "PROTOCOL_ERROR: a limiter must not push"},
		{"an idle stream", func(k *peerConn, id uint32) { k.accepted(id + 2) }, "PROTOCOL_ERROR: " + faultIdleStream.text},
		{"content on an idle stream", func(k *peerConn, id uint32) { must(k.WriteData(id+2, true, nil)) }, "PROTOCOL_ERROR: " + faultIdleStream.text},
		{"fields on an idle stream", func(k *peerConn, id uint32) { k.respond(id+2, false, ":status", "500") }, "PROTOCOL_ERROR: " + faultIdleStream.text},
		{"reset of an idle stream", func(k *peerConn, id uint32) { must(k.WriteRSTStream(id+2, 0)) }, "PROTOCOL_ERROR: " + faultIdleStream.text},
		{"an even stream", func(k *peerConn, _ uint32) { k.accepted(2) }, "PROTOCOL_ERROR: " + faultIdleStream.text},
		{"fields on stream 0", func(k *peerConn, _ uint32) { k.accepted(0) }, "PROTOCOL_ERROR: " + faultStreamZero.text},
		{"content on stream 0", func(k *peerConn, _ uint32) { must(k.WriteRawFrame(frameData, 0, 0, nil)) }, "PROTOCOL_ERROR: " + faultStreamZero.text},
		{"reset of stream 0", func(k *peerConn, _ uint32) { must(k.WriteRSTStream(0, 0)) }, "PROTOCOL_ERROR: " + faultStreamZero.text},
		{"priority of stream 0", func(k *peerConn, _ uint32) { must(k.WriteRawFrame(framePriority, 0, 0, make([]byte, 5))) }, "PROTOCOL_ERROR: " + faultStreamZero.text},
		{"settings on a stream", func(k *peerConn, id uint32) { must(k.WriteRawFrame(frameSettings, 0, id, nil)) }, "PROTOCOL_ERROR: " + faultNotStreamZero.text},
		{"ping on a stream", func(k *peerConn, id uint32) { must(k.WriteRawFrame(framePing, 0, id, make([]byte, 8))) }, "PROTOCOL_ERROR: " + faultNotStreamZero.text},
		{"goaway on a stream", func(k *peerConn, id uint32) { must(k.WriteRawFrame(frameGoAway, 0, id, make([]byte, 8))) }, "PROTOCOL_ERROR: " + faultNotStreamZero.text},
		{"a long frame", func(k *peerConn, id uint32) { must(k.WriteData(id, true, make([]byte, maxFrame+1))) }, "FRAME_SIZE_ERROR: " + faultFrameSize.text},
		{"short settings", func(k *peerConn, _ uint32) { must(k.WriteRawFrame(frameSettings, 0, 0, make([]byte, 5))) }, "FRAME_SIZE_ERROR: " + faultFrameSize.text},
		{"settings in an acknowledgement", func(k *peerConn, _ uint32) { must(k.WriteRawFrame(frameSettings, flagAck, 0, make([]byte, 6))) }, "FRAME_SIZE_ERROR: " + faultFrameSize.text},
		{"a short ping", func(k *peerConn, _ uint32) { must(k.WriteRawFrame(framePing, 0, 0, make([]byte, 7))) }, "FRAME_SIZE_ERROR: " + faultFrameSize.text},
		{"a short reset", func(k *peerConn, id uint32) { must(k.WriteRawFrame(frameReset, 0, id, make([]byte, 3))) }, "FRAME_SIZE_ERROR: " + faultFrameSize.text},
		{"a short goaway", func(k *peerConn, _ uint32) { must(k.WriteRawFrame(frameGoAway, 0, 0, make([]byte, 7))) }, "FRAME_SIZE_ERROR: " + faultFrameSize.text},
		{"a short window update", func(k *peerConn, _ uint32) { must(k.WriteRawFrame(frameWindowUpdate, 0, 0, make([]byte, 3))) }, "FRAME_SIZE_ERROR: " + faultFrameSize.text},
		{"a short priority", func(k *peerConn, id uint32) { must(k.WriteRawFrame(framePriority, 0, id, make([]byte, 4))) }, "FRAME_SIZE_ERROR: " + faultFrameSize.text},
		{"no room for a priority", func(k *peerConn, id uint32) {
			must(k.WriteRawFrame(frameHeaders, flagEndHeaders|flagPriority, id, make([]byte, 4)))
		}, "FRAME_SIZE_ERROR: " + faultFrameSize.text},
		{"no room for padding", func(k *peerConn, id uint32) { must(k.WriteRawFrame(frameData, flagPadded, id, nil)) }, "FRAME_SIZE_ERROR: " + faultFrameSize.text},
		{"too much padding", func(k *peerConn, id uint32) {
			must(k.WriteRawFrame(frameHeaders, flagEndHeaders|flagPadded, id, []byte("\x03\x88")))
		}, "PROTOCOL_ERROR: " + faultPadding.text},
		{"too much padding of content", func(k *peerConn, id uint32) { must(k.WriteRawFrame(frameData, flagPadded, id, []byte("\x03x"))) }, "PROTOCOL_ERROR: " + faultPadding.text},
		{"pushes allowed", func(k *peerConn, _ uint32) {
			must(k.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingEnablePush, Val: 1}))
		}, "PROTOCOL_ERROR: " + faultSetting.text},
		{"a small frame size", func(k *peerConn, _ uint32) {
			must(k.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingMaxFrameSize, Val: maxFrame - 1}))
		}, "PROTOCOL_ERROR: " + faultSetting.text},
		{"a large window", func(k *peerConn, _ uint32) {
			must(k.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 1 << 31}))
		}, "FLOW_CONTROL_ERROR: " + faultInitialWindow.text},
		{"an interrupted block", func(k *peerConn, id uint32) {
			must(k.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: id, BlockFragment: k.fields(":status", "200")}))
			must(k.WritePing(false, [8]byte{}))
		}, "PROTOCOL_ERROR: " + faultInterrupted.text},
		{"a block continued elsewhere", func(k *peerConn, id uint32) {
			must(k.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: id, BlockFragment: k.fields(":status", "200")}))
			must(k.WriteContinuation(id+2, true, nil))
		}, "PROTOCOL_ERROR: " + faultInterrupted.text},
		{"nothing to continue", func(k *peerConn, id uint32) { must(k.WriteContinuation(id, true, nil)) }, "PROTOCOL_ERROR: " + faultContinuation.text},
		{"an endless block", func(k *peerConn, id uint32) {
			must(k.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: id, BlockFragment: make([]byte, maxFrame)}))
			for range 4 {
				must(k.WriteContinuation(id, false, make([]byte, maxFrame)))
			}
		}, "ENHANCE_YOUR_CALM: " + faultBlock.text},
		{"bad compression", func(k *peerConn, id uint32) {
			must(k.WriteRawFrame(frameHeaders, flagEndHeaders|flagEndStream, id, []byte("\xff\xff\xff\xff\xff\xff")))
		}, "COMPRESSION_ERROR: " + faultCompression.text},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t)
			c := newTestClient(p.addr).run(t)
			k := p.greet(t)
			c.awaitUp(t)
			call := c.ask(t, about("r"))
			test.send(k, k.request())
			if got := call.wait(t); !errors.Is(got.err, ErrLost) {
				t.Errorf("%+v", got)
			}
			if got := k.end(); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			_, text, _ := strings.Cut(test.want, ": ")
			if log := c.logged(); !strings.Contains(log, "level=WARN") || !strings.Contains(log, text) {
				t.Errorf("logged: %s", log)
			}
			p.greet(t)
			want := "up | limiter " + p.addr + ": " + text + " | up"
			eventually(t, "told: "+want, func() bool { return c.changes() == want })
		})
	}
}

// A peer that is no HTTP/2 server is told from one.
func TestClientNoHTTP2(t *testing.T) {
	p := newPeer(t)
	c := newTestClient(p.addr).run(t)
	k := p.accept(t)
	_, _ = k.tcp.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	if got, want := k.end(), "PROTOCOL_ERROR: "+faultNoSettings.text; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	p.greet(t)
	eventually(t, "up", func() bool { return c.changes() == "up" })
	if !strings.Contains(c.logged(), faultNoSettings.text) {
		t.Errorf("logged: %s", c.logged())
	}
}

// PING and SETTINGS are acknowledged, and content that has come is made room for.
func TestClientAcknowledges(t *testing.T) {
	p := newPeer(t)
	c := newTestClient(p.addr).run(t)
	k := p.greet(t)
	k.until("the acknowledgement", func(f xhttp2.Frame) bool { return f.Header().Type == xhttp2.FrameSettings })
	must(k.WritePing(true, [8]byte{}))
	must(k.WritePing(false, [8]byte{1, 2, 3}))
	k.until("the pong", func(f xhttp2.Frame) bool {
		pong, ok := f.(*xhttp2.PingFrame)
		return ok && pong.IsAck() && pong.Data == [8]byte{1, 2, 3}
	})
	c.awaitUp(t)
	for range 20 {
		call := c.ask(t, about("r"))
		id := k.request()
		k.respond(id, false, ":status", "500")
		must(k.WriteData(id, false, make([]byte, 10000)))
		call.wait(t)
	}
	for k.room < 20*10000-defaultWindow {
		k.next()
	}
}

// A limiter that asks for acknowledgements and does not read them is left.
func TestClientFlood(t *testing.T) {
	p := newNarrowPeer(t)
	c := newTestClient(p.addr).run(t)
	k := p.greet(t)
	c.awaitUp(t)
	flood := make([]byte, 0, 1<<20)
	for range 1 << 20 / 17 {
		flood = append(frame{length: 8, kind: framePing}.append(flood), "pingpong"...)
	}
	for {
		if _, err := k.tcp.Write(flood); err != nil {
			if !isLost(err) {
				t.Fatal(err)
			}
			break
		}
	}
	if !strings.Contains(c.logged(), errCalm.text) {
		t.Errorf("logged: %s", c.logged())
	}
}
