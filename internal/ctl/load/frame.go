package load

import "encoding/binary"

// frame is one frame of HTTP/2 (RFC 9113, section 4.1).
type frame struct {
	kind    byte
	flags   byte
	stream  uint32
	payload []byte
}

// The types of frames (RFC 9113, section 6).
const (
	frameData         = 0x0
	frameHeaders      = 0x1
	frameReset        = 0x3
	frameSettings     = 0x4
	framePushPromise  = 0x5
	framePing         = 0x6
	frameGoAway       = 0x7
	frameWindowUpdate = 0x8
	frameContinuation = 0x9
)

// Their flags.
const (
	flagAck        = 0x1
	flagEndStream  = 0x1
	flagEndHeaders = 0x4
)

const (
	frameHeader = 9
	maxFrame    = 16 << 10 // what both sides take
	maxStream   = 1<<31 - 1
)

// preface begins a connection (RFC 9113, section 3.4).
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// Settings that matter here (RFC 9113, section 6.5.2).
const (
	settingTableSize  = 0x1
	settingEnablePush = 0x2
	settingMaxStreams = 0x3
)

func appendFrame(out []byte, kind, flags byte, stream uint32, length int) []byte {
	out = append(out, byte(length>>16), byte(length>>8), byte(length), kind, flags)
	return binary.BigEndian.AppendUint32(out, stream)
}

// firstFrame returns the first whole frame, and how long it is; 0 if there is none.
// ok is false if it is longer than it may be.
func firstFrame(in []byte) (f frame, size int, ok bool) {
	if len(in) < frameHeader {
		return f, 0, true
	}
	length := int(in[0])<<16 | int(in[1])<<8 | int(in[2])
	size = frameHeader + length
	switch {
	case length > maxFrame:
		return f, 0, false
	case len(in) < size:
		return f, 0, true
	}
	return frame{in[3], in[4], binary.BigEndian.Uint32(in[5:]) & maxStream, in[frameHeader:size]}, size, true
}
