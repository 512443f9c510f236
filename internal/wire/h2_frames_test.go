package wire

import (
	"encoding/binary"
	"strings"
	"testing"

	xhttp2 "golang.org/x/net/http2"
)

// Every fault of framing ends the connection, after the answers to the requests
// that were whole.
func TestHTTP2FaultsOfFraming(t *testing.T) {
	const (
		protocol = "GOAWAY 0 PROTOCOL_ERROR, closed"
		size     = "GOAWAY 0 FRAME_SIZE_ERROR, closed"
		window   = "GOAWAY 0 FLOW_CONTROL_ERROR, closed"
	)
	setting := func(id xhttp2.SettingID, value uint32) func(w *script) {
		return func(w *script) { w.settings(xhttp2.Setting{ID: id, Val: value}) }
	}
	raw := func(kind, flags byte, id uint32, payload string) func(w *script) {
		return func(w *script) { w.frame(kind, flags, id, payload) }
	}
	four, five, eight := strings.Repeat("\x00", 4), strings.Repeat("\x00", 5), strings.Repeat("\x00", 8)
	var table []dialogue
	for _, row := range []struct {
		name string
		send func(w *script)
		want string
	}{
		{"a frame of 16,385 bytes", raw(0xee, 0, 0, strings.Repeat("x", 16385)), size},
		{"DATA of 16,385 bytes", raw(frameData, 0, 1, strings.Repeat("x", 16385)), size},

		{"SETTINGS on a stream", raw(frameSettings, 0, 1, ""), protocol},
		{"SETTINGS of 5 bytes", raw(frameSettings, 0, 0, five), size},
		{"SETTINGS acknowledged with content", raw(frameSettings, flagAck, 0, five+"\x00"), size},
		{"ENABLE_PUSH of 2", setting(xhttp2.SettingEnablePush, 2), protocol},
		{"INITIAL_WINDOW_SIZE of 2^31", setting(xhttp2.SettingInitialWindowSize, 1<<31), window},
		{"MAX_FRAME_SIZE of 16,383", setting(xhttp2.SettingMaxFrameSize, 16383), protocol},
		{"MAX_FRAME_SIZE of 2^24", setting(xhttp2.SettingMaxFrameSize, 1<<24), protocol},

		{"PING on a stream", raw(framePing, 0, 1, eight), protocol},
		{"PING of 4 bytes", raw(framePing, 0, 0, four), size},
		{"GOAWAY on a stream", raw(frameGoAway, 0, 1, eight), protocol},
		{"GOAWAY of 4 bytes", raw(frameGoAway, 0, 0, four), size},
		{"PRIORITY on stream 0", raw(framePriority, 0, 0, five), protocol},
		{"PRIORITY of 4 bytes", raw(framePriority, 0, 1, four), size},
		{"PRIORITY on itself", raw(framePriority, 0, 3, "\x00\x00\x00\x03\x10"), protocol},
		{"PUSH_PROMISE", raw(framePushPromise, flagEndHeaders, 1, "\x00\x00\x00\x02\x88"), protocol},
		{"RST_STREAM on stream 0", raw(frameReset, 0, 0, four), protocol},
		{"RST_STREAM on an idle stream", raw(frameReset, 0, 1, four), protocol},
		{"RST_STREAM on an even stream", raw(frameReset, 0, 2, four), protocol},
		{"RST_STREAM of 5 bytes", raw(frameReset, 0, 1, five), size},
		{"WINDOW_UPDATE of 5 bytes", raw(frameWindowUpdate, 0, 0, five), size},
		{"WINDOW_UPDATE of nothing", raw(frameWindowUpdate, 0, 0, four), protocol},
		{"WINDOW_UPDATE on an idle stream", raw(frameWindowUpdate, 0, 1, "\x00\x00\x00\x01"), protocol},
		{"WINDOW_UPDATE above 2^31-1", raw(frameWindowUpdate, 0, 0, "\x7f\xff\xff\xff"), window},

		{"DATA on stream 0", raw(frameData, 0, 0, "x"), protocol},
		{"DATA on an idle stream", raw(frameData, 0, 1, "x"), protocol},
		{"CONTINUATION of nothing", raw(frameContinuation, flagEndHeaders, 1, ""), protocol},
		{"HEADERS on stream 0", raw(frameHeaders, flagEndHeaders, 0, ""), protocol},
		{"HEADERS on an even stream", raw(frameHeaders, flagEndHeaders, 2, ""), protocol},
		{"HEADERS of padding", raw(frameHeaders, flagEndHeaders|flagPadded, 1, "\x04\x88\x88\x88"), protocol},
		{"HEADERS without the length of its padding", raw(frameHeaders, flagEndHeaders|flagPadded, 1, ""), size},
		{"HEADERS without all of its priority", raw(frameHeaders, flagEndHeaders|flagPriority, 1, four), size},
		{"a block interrupted by PING", func(w *script) {
			w.frame(frameHeaders, 0, 1, "")
			w.frame(framePing, 0, 0, eight)
		}, protocol},
		{"a block interrupted by a type unknown", func(w *script) {
			w.frame(frameHeaders, 0, 1, "")
			w.frame(0xee, 0, 1, "")
		}, protocol},
		{"a block continued on another stream", func(w *script) {
			w.frame(frameHeaders, 0, 1, "")
			w.frame(frameContinuation, flagEndHeaders, 3, "")
		}, protocol},
	} {
		bad := ReasonFraming
		if row.want == window {
			bad = ReasonFlowControl
		}
		table = append(table, dialogue{name: row.name, send: row.send, want: row.want, bad: bad.String()})
	}
	converse(t, append(table, []dialogue{
		{
			name: "a compressed block that cannot be decoded",
			send: func(w *script) { w.frame(frameHeaders, flagEndHeaders|flagEndStream, 1, "\xbe") },
			want: "GOAWAY 1 COMPRESSION_ERROR, closed", bad: "h2_compression",
		},
		{
			name: "the requests before a fault",
			send: func(w *script) {
				w.headers(1, true, health...)
				w.headers(3, true, health...)
				w.frame(framePushPromise, 0, 0, "")
				w.headers(5, true, health...)
			},
			want: "1: " + healthy + " | 3: " + healthy + " | GOAWAY 3 PROTOCOL_ERROR, closed", bad: "h2_framing",
		},
		{
			name: "DATA of more padding than content",
			send: func(w *script) {
				w.head(1, "x-resource", "r")
				w.frame(frameData, flagPadded, 1, "\x03xx")
			},
			want: "GOAWAY 1 PROTOCOL_ERROR, closed", bad: "h2_framing",
		},
		{
			name: "DATA without the length of its padding",
			send: func(w *script) {
				w.head(1, "x-resource", "r")
				w.frame(frameData, flagPadded, 1, "")
			},
			want: "GOAWAY 1 FRAME_SIZE_ERROR, closed", bad: "h2_framing",
		},
	}...))
}

// What is allowed changes nothing.
func TestHTTP2FramesThatAreOverlooked(t *testing.T) {
	converse(t, []dialogue{
		{
			name: "types, flags and settings that nobody knows",
			send: func(w *script) {
				w.frame(0xee, 0xff, 0, "whatever")
				w.frame(0xee, 0xff, 77, strings.Repeat("x", 16384))
				w.settings(xhttp2.Setting{ID: 0x7777, Val: 7}, xhttp2.Setting{ID: xhttp2.SettingHeaderTableSize, Val: 0})
				w.frame(frameHeaders, 0xc2|flagEndHeaders|flagEndStream, 1, string(w.fields(append(usual, "x-resource", "r")...)))
			},
			want: "1: " + accepted, asked: "r",
		},
		{
			name: "GOAWAY, after which requests go on",
			send: func(w *script) {
				must(w.WriteGoAway(0, xhttp2.ErrCodeNo, []byte("bye")))
				w.ask(1, "x-resource", "r")
			},
			want: "1: " + accepted, asked: "r",
		},
		{
			name: "PRIORITY on any stream",
			send: func(w *script) {
				must(w.WritePriority(3, xhttp2.PriorityParam{StreamDep: 1, Weight: 5}))
				w.ask(1, "x-resource", "r")
				must(w.WritePriority(1, xhttp2.PriorityParam{Exclusive: true}))
				must(w.WritePriority(100, xhttp2.PriorityParam{}))
			},
			want: "1: " + accepted, asked: "r",
		},
		{
			name: "padding and priority of HEADERS",
			send: func(w *script) {
				must(w.WriteHeaders(xhttp2.HeadersFrameParam{
					StreamID: 1, EndStream: true, EndHeaders: true, PadLength: 200,
					Priority:      xhttp2.PriorityParam{StreamDep: 7, Weight: 3, Exclusive: true},
					BlockFragment: w.fields(append(usual, "x-resource", "r")...),
				}))
			},
			want: "1: " + accepted, asked: "r",
		},
		{
			name: "a block in many frames, one of them empty",
			send: func(w *script) {
				block := w.fields(append(usual, "x-resource", "r")...)
				must(w.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1, EndStream: true, BlockFragment: block[:1]}))
				must(w.WriteContinuation(1, false, block[1:7]))
				must(w.WriteContinuation(1, false, nil))
				must(w.WriteContinuation(1, true, block[7:]))
			},
			want: "1: " + accepted, asked: "r",
		},
		{
			name: "WINDOW_UPDATE and RST_STREAM on a closed stream",
			send: func(w *script) {
				w.headers(1, true, health...)
				w.update(1, 100)
				w.reset(1)
				w.update(1, 100)
			},
			want: "1: " + healthy,
		},
		{
			name: "acknowledgements",
			send: func(w *script) {
				must(w.WriteSettingsAck())
				must(w.WriteSettingsAck())
				must(w.WritePing(true, [8]byte{}))
			},
		},
	})
}

// The first frame is SETTINGS, on either side.
func TestHTTP2Beginning(t *testing.T) {
	for _, test := range []struct {
		name  string
		first func(w *script)
		want  string
	}{
		{"SETTINGS", func(w *script) { w.settings() }, ""},
		{"SETTINGS with one setting", func(w *script) { w.settings(xhttp2.Setting{ID: 1, Val: 1}) }, ""},
		{"PING", func(w *script) { must(w.WritePing(false, [8]byte{})) }, "GOAWAY 0 PROTOCOL_ERROR, closed"},
		{"an acknowledgement", func(w *script) { must(w.WriteSettingsAck()) }, "GOAWAY 0 PROTOCOL_ERROR, closed"},
		{"HEADERS", func(w *script) { w.ask(1, "x-resource", "r") }, "GOAWAY 0 PROTOCOL_ERROR, closed"},
		{"HTTP/1.1", func(w *script) { w.sent.WriteString("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }, "GOAWAY 0 PROTOCOL_ERROR, closed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t)
			w := bareScript()
			w.sent.WriteString(preface)
			test.first(w)
			c := s.dialHTTP2(t, w)
			f, ok := c.read().(*xhttp2.SettingsFrame)
			if !ok || f.IsAck() {
				t.Fatalf("the first frame is %v", f)
			}
			for id, want := range map[xhttp2.SettingID]uint32{
				xhttp2.SettingMaxConcurrentStreams: 250,
				xhttp2.SettingMaxHeaderListSize:    16 << 10,
				xhttp2.SettingHeaderTableSize:      4096,
			} {
				if got, ok := f.Value(id); !ok || got != want {
					t.Errorf("%v is %d, want %d", id, got, want)
				}
			}
			if got := c.settle().transcript(); got != test.want {
				t.Errorf("received %s, want %s", got, test.want)
			}
		})
	}
}

// Each SETTINGS and each PING is acknowledged, in order, and with its content.
func TestHTTP2Acknowledgements(t *testing.T) {
	s := serve(t)
	w := newScript()
	for i := range 20 {
		w.settings()
		must(w.WritePing(false, [8]byte{byte(i)}))
	}
	c := s.dialHTTP2(t, w)
	settings, pings := 0, byte(0)
	c.until(func(f xhttp2.Frame) bool {
		switch f := f.(type) {
		case *xhttp2.SettingsFrame:
			if f.IsAck() {
				settings++
			}
		case *xhttp2.PingFrame:
			if !f.IsAck() || f.Data != [8]byte{pings} {
				t.Fatalf("PING %d was answered with %v %v", pings, f.Data, f.Flags)
			}
			pings++
		}
		return pings == 20
	})
	if settings != 21 {
		t.Errorf("%d SETTINGS were acknowledged, want 21", settings)
	}
}

// A frame header is read as it was written.
func TestHTTP2FrameHeader(t *testing.T) {
	for _, f := range []frame{
		{},
		{length: 1<<24 - 1, kind: 0xff, flags: 0xff, stream: maxStream},
		{length: 0x010203, kind: 4, flags: 5, stream: 0x06070809},
	} {
		if got := parseFrame(f.append(nil)); got != f {
			t.Errorf("%+v became %+v", f, got)
		}
	}
	reserved := frame{stream: 1}.append(nil)
	binary.BigEndian.PutUint32(reserved[5:], 1<<31|1)
	if got := parseFrame(reserved); got.stream != 1 {
		t.Errorf("with the reserved bit set, stream 1 is %d", got.stream)
	}
}
