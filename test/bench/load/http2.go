package load

import (
	"encoding/binary"
	"errors"
	"fmt"

	h2 "golang.org/x/net/http2"
)

// http2 speaks HTTP/2 with prior knowledge (RFC 9113). A question is one HEADERS
// frame that ends its stream.
type http2 struct {
	encoder  *encoder
	decoder  *statusDecoder
	inFlight uint32
	next     uint32            // stream
	bodies   map[uint32]uint16 // the statuses of streams whose bodies are awaited
}

const (
	frameHeader  = 9
	smallestSize = 16 << 10 // of the largest frame that both sides take
)

func newHTTP2(authority string, inFlight int) *http2 {
	return &http2{
		encoder: newEncoder(authority), decoder: newStatusDecoder(),
		inFlight: uint32(inFlight), next: 1, bodies: map[uint32]uint16{},
	}
}

func (h *http2) hello(out []byte) []byte {
	out = append(out, h2.ClientPreface...)
	out = appendFrame(out, h2.FrameSettings, 0, 0, 6)
	out = binary.BigEndian.AppendUint16(out, uint16(h2.SettingEnablePush))
	return binary.BigEndian.AppendUint32(out, 0)
}

func (h *http2) ask(out []byte, key int, id uint64) ([]byte, uint32) {
	at := len(out)
	stream := h.next
	h.next += 2
	out = appendFrame(out, h2.FrameHeaders, h2.FlagHeadersEndHeaders|h2.FlagHeadersEndStream, stream, 0)
	out = h.encoder.question(out, key, id)
	putLength(out[at:], len(out)-at-frameHeader)
	return out, stream
}

func appendFrame(out []byte, kind h2.FrameType, flags h2.Flags, stream uint32, length int) []byte {
	out = append(out, byte(length>>16), byte(length>>8), byte(length), byte(kind), byte(flags))
	return binary.BigEndian.AppendUint32(out, stream)
}

func putLength(frame []byte, length int) {
	frame[0], frame[1], frame[2] = byte(length>>16), byte(length>>8), byte(length)
}

func (h *http2) hear(in []byte, got *heard) (used int, err error) {
	for len(in)-used >= frameHeader {
		head := in[used : used+frameHeader]
		length := int(head[0])<<16 | int(head[1])<<8 | int(head[2])
		if length > smallestSize {
			return used, fmt.Errorf("a frame of %d octets, which we have not said we take", length)
		}
		if len(in)-used < frameHeader+length {
			return used, nil
		}
		f := frame{
			kind: h2.FrameType(head[3]), flags: h2.Flags(head[4]),
			stream:  binary.BigEndian.Uint32(head[5:]) & (1<<31 - 1),
			payload: in[used+frameHeader : used+frameHeader+length],
		}
		used += frameHeader + length
		if err := h.take(f, got); err != nil {
			return used, err
		}
	}
	return used, nil
}

type frame struct {
	kind    h2.FrameType
	flags   h2.Flags
	stream  uint32
	payload []byte
}

func (h *http2) take(f frame, got *heard) error {
	switch f.kind {
	case h2.FrameHeaders:
		return h.headers(f, got)
	case h2.FrameData:
		// Bodies are not given back to the flow control: who answers so much that
		// it matters does not answer attempts.
		if f.flags.Has(h2.FlagDataEndStream) {
			got.answers = append(got.answers, answer{f.stream, h.bodies[f.stream]})
			delete(h.bodies, f.stream)
		}
	case h2.FrameRSTStream:
		got.answers = append(got.answers, answer{f.stream, 0})
		delete(h.bodies, f.stream)
	case h2.FrameSettings:
		if f.flags.Has(h2.FlagSettingsAck) {
			return nil
		}
		got.reply = appendFrame(got.reply, h2.FrameSettings, h2.FlagSettingsAck, 0, 0)
		return h.settings(f.payload)
	case h2.FramePing:
		if !f.flags.Has(h2.FlagPingAck) {
			got.reply = appendFrame(got.reply, h2.FramePing, h2.FlagPingAck, 0, len(f.payload))
			got.reply = append(got.reply, f.payload...)
		}
	case h2.FrameGoAway:
		if len(f.payload) < 8 {
			return errors.New("a GOAWAY that is cut short")
		}
		code := h2.ErrCode(binary.BigEndian.Uint32(f.payload[4:]))
		return fmt.Errorf("the server goes away: %v %q", code, f.payload[8:])
	case h2.FrameContinuation, h2.FramePushPromise:
		return fmt.Errorf("a frame that nothing here calls for: %v", f.kind)
	default: // WINDOW_UPDATE, and what is to be ignored
	}
	return nil
}

// headers takes the head of an answer, or its trailers.
func (h *http2) headers(f frame, got *heard) error {
	const plain = h2.FlagHeadersEndHeaders | h2.FlagHeadersEndStream
	if !f.flags.Has(h2.FlagHeadersEndHeaders) || f.flags&^plain != 0 {
		return fmt.Errorf("an answer's head in a form not read here: flags %#x", f.flags)
	}
	status, err := h.decoder.decode(f.payload)
	if err != nil {
		return err
	}
	ends := f.flags.Has(h2.FlagHeadersEndStream)
	switch {
	case status != 0 && ends:
		got.answers = append(got.answers, answer{f.stream, status})
	case status != 0:
		h.bodies[f.stream] = status
	case ends: // trailers
		got.answers = append(got.answers, answer{f.stream, h.bodies[f.stream]})
		delete(h.bodies, f.stream)
	}
	return nil
}

// settings takes what matters to a client that only asks.
func (h *http2) settings(payload []byte) error {
	for ; len(payload) >= 6; payload = payload[6:] {
		value := binary.BigEndian.Uint32(payload[2:])
		switch h2.SettingID(binary.BigEndian.Uint16(payload)) {
		case h2.SettingHeaderTableSize:
			h.encoder.limit(value)
		case h2.SettingMaxConcurrentStreams:
			if value < h.inFlight {
				return fmt.Errorf("the server takes %d streams at once, and %d are asked for", value, h.inFlight)
			}
		}
	}
	return nil
}
