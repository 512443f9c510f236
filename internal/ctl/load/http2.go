package load

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/levee-project/levee/internal/hpack"
)

// http2 speaks HTTP/2 with prior knowledge (RFC 9113). An attempt is one HEADERS
// frame that ends its stream.
type http2 struct {
	spelling *spelling
	taught   bool // the server's dynamic table has what the spelling refers to
	plain    bool // its table is too small for that
	greeted  bool // its SETTINGS have come
	leaving  bool // it has said GOAWAY
	permits  int  // how many streams at once
	streams  int  // how many are wanted
	next     uint32

	decoder  *hpack.Decoder
	status   uint16 // of the block being decoded
	emit     hpack.Emit
	bodies   map[uint32]uint16 // the statuses of streams whose ends are awaited
	received int               // bytes of bodies that the server has not been given leave for again
}

// defaultWindow is how much a server may send before it is given leave for more.
const defaultWindow = 65_535

func newHTTP2(s *spelling, streams int) *http2 {
	h := &http2{
		spelling: s, permits: MaxStreams, streams: streams, next: 1,
		decoder: hpack.New(), bodies: map[uint32]uint16{},
	}
	h.emit = h.field
	return h
}

func (h *http2) hello(out []byte) []byte {
	out = append(out, preface...)
	out = appendFrame(out, frameSettings, 0, 0, 6)
	return append(out, 0, settingEnablePush, 0, 0, 0, 0)
}

func (h *http2) room() int {
	if !h.greeted || h.over() {
		return 0
	}
	return min(h.streams, h.permits)
}

func (h *http2) over() bool { return h.leaving || h.next > maxStream-2 }

func (h *http2) ask(out, resource []byte) ([]byte, uint32) {
	at, stream := len(out), h.next
	h.next += 2
	out = appendFrame(out, frameHeaders, flagEndHeaders|flagEndStream, stream, 0)
	switch {
	case h.plain:
		out = append(out, h.spelling.plain...)
	case h.taught:
		out = append(out, h.spelling.brief...)
	default:
		h.taught = true
		out = append(out, h.spelling.first...)
	}
	out = appendText(out, resource)
	length := len(out) - at - frameHeader
	out[at], out[at+1], out[at+2] = byte(length>>16), byte(length>>8), byte(length)
	return out, stream
}

func (h *http2) hear(in []byte, got *heard) (used int, err error) {
	for {
		f, size, ok := firstFrame(in[used:])
		switch {
		case !ok:
			return used, errors.New("a frame that is longer than we have said we take")
		case size == 0:
			return used, nil
		}
		used += size
		if err := h.take(f, got); err != nil {
			return used, err
		}
	}
}

func (h *http2) take(f frame, got *heard) error {
	switch f.kind {
	case frameHeaders:
		return h.headers(f, got)
	case frameData:
		if h.received += len(f.payload); h.received >= defaultWindow/2 {
			got.reply = appendFrame(got.reply, frameWindowUpdate, 0, 0, 4)
			got.reply = binary.BigEndian.AppendUint32(got.reply, uint32(h.received))
			h.received = 0
		}
		if f.flags&flagEndStream != 0 {
			h.end(f.stream, got)
		}
	case frameReset:
		delete(h.bodies, f.stream)
		got.answers = append(got.answers, answer{number: f.stream})
	case frameSettings:
		if f.flags&flagAck != 0 {
			return nil
		}
		got.reply = appendFrame(got.reply, frameSettings, flagAck, 0, 0)
		h.settings(f.payload)
	case framePing:
		if f.flags&flagAck == 0 {
			got.reply = appendFrame(got.reply, framePing, flagAck, 0, len(f.payload))
			got.reply = append(got.reply, f.payload...)
		}
	case frameGoAway:
		return h.goAway(f.payload)
	case frameContinuation, framePushPromise:
		return fmt.Errorf("a frame of type %d, which no limiter sends", f.kind)
	}
	return nil // WINDOW_UPDATE, and what is to be ignored
}

// goAway takes no more attempts. Those that the server has seen are still answered.
func (h *http2) goAway(payload []byte) error {
	if len(payload) < 8 {
		return errors.New("a GOAWAY that is cut short")
	}
	if code := binary.BigEndian.Uint32(payload[4:]); code != 0 {
		return fmt.Errorf("the server goes away with error %d: %.80q", code, payload[8:])
	}
	h.leaving = true
	return nil
}

// headers takes the head of an answer, or its trailers.
func (h *http2) headers(f frame, got *heard) error {
	const plain = flagEndHeaders | flagEndStream
	if f.flags&^plain != 0 || f.flags&flagEndHeaders == 0 {
		return fmt.Errorf("an answer's fields in a form that no limiter uses: flags %#x", f.flags)
	}
	h.status = 0
	if err := h.decoder.Decode(f.payload, maxHead, h.emit); err != nil {
		return fmt.Errorf("an answer's fields: %w", err)
	}
	switch {
	case f.flags&flagEndStream == 0:
		h.bodies[f.stream] = h.status
	case h.status == 0: // trailers
		h.end(f.stream, got)
	default:
		got.answers = append(got.answers, answer{f.stream, h.status})
	}
	return nil
}

// end is the end of an answer that has come in parts.
func (h *http2) end(stream uint32, got *heard) {
	got.answers = append(got.answers, answer{stream, h.bodies[stream]})
	delete(h.bodies, stream)
}

func (h *http2) field(name hpack.Name, _, value []byte, _ bool) {
	if name == hpack.Status {
		if n, err := strconv.ParseUint(string(value), 10, 16); err == nil {
			h.status = uint16(n)
		}
	}
}

// settings takes what matters to a client that only asks.
func (h *http2) settings(payload []byte) {
	for ; len(payload) >= 6; payload = payload[6:] {
		value := binary.BigEndian.Uint32(payload[2:])
		switch binary.BigEndian.Uint16(payload) {
		case settingTableSize:
			h.plain = h.plain || value < tableSize
		case settingMaxStreams:
			h.permits = int(min(value, MaxStreams))
		}
	}
	h.greeted = true
	h.plain = h.plain || h.spelling.size > tableSize
}
