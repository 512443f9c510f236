package wire

import (
	"encoding/binary"

	"github.com/levee-project/levee/internal/hpack"
)

// Types of frames (RFC 9113, section 6).
const (
	frameData         = 0x0
	frameHeaders      = 0x1
	framePriority     = 0x2
	frameReset        = 0x3
	frameSettings     = 0x4
	framePushPromise  = 0x5
	framePing         = 0x6
	frameGoAway       = 0x7
	frameWindowUpdate = 0x8
	frameContinuation = 0x9
)

// Flags of frames.
const (
	flagEndStream  = 0x1  // DATA, HEADERS
	flagAck        = 0x1  // SETTINGS, PING
	flagEndHeaders = 0x4  // HEADERS, CONTINUATION
	flagPadded     = 0x8  // DATA, HEADERS
	flagPriority   = 0x20 // HEADERS
)

// Error codes (section 7).
const (
	codeNone         = 0x0
	codeProtocol     = 0x1
	codeFlowControl  = 0x3
	codeStreamClosed = 0x5
	codeFrameSize    = 0x6
	codeRefused      = 0x7
	codeCancel       = 0x8
	codeCompression  = 0x9
	codeCalm         = 0xb
)

// Settings (section 6.5.2).
const (
	settingTableSize     = 0x1
	settingEnablePush    = 0x2
	settingMaxStreams    = 0x3
	settingInitialWindow = 0x4
	settingMaxFrameSize  = 0x5
	settingMaxHeaderList = 0x6
)

const (
	frameHeader   = 9
	maxFrame      = 16384 // the longest payload that either side sends: the default
	maxStream     = 1<<31 - 1
	maxWindow     = 1<<31 - 1
	defaultWindow = 65535
)

// maxStreams bounds the streams that a peer may have open at a time.
const maxStreams = 250

// frame is a frame's header.
type frame struct {
	length int
	kind   byte
	flags  byte
	stream uint32
}

func parseFrame(b []byte) frame {
	_ = b[frameHeader-1]
	return frame{
		length: int(b[0])<<16 | int(b[1])<<8 | int(b[2]),
		kind:   b[3],
		flags:  b[4],
		stream: binary.BigEndian.Uint32(b[5:]) & maxStream,
	}
}

func (f frame) has(flag byte) bool { return f.flags&flag != 0 }

func (f frame) append(b []byte) []byte {
	b = append(b, byte(f.length>>16), byte(f.length>>8), byte(f.length), f.kind, f.flags)
	return binary.BigEndian.AppendUint32(b, f.stream)
}

// appendSettings announces what differs from the defaults, and the table size,
// so that nobody has to know them.
func appendSettings(b []byte) []byte {
	settings := [...]struct {
		id    uint16
		value uint32
	}{
		{settingTableSize, hpack.DefaultTableSize},
		{settingMaxStreams, maxStreams},
		{settingMaxHeaderList, MaxHeader},
	}
	b = frame{length: 6 * len(settings), kind: frameSettings}.append(b)
	for _, s := range settings {
		b = binary.BigEndian.AppendUint16(b, s.id)
		b = binary.BigEndian.AppendUint32(b, s.value)
	}
	return b
}

func appendReset(b []byte, stream, code uint32) []byte {
	b = frame{length: 4, kind: frameReset, stream: stream}.append(b)
	return binary.BigEndian.AppendUint32(b, code)
}

func appendWindowUpdate(b []byte, stream uint32, n int) []byte {
	b = frame{length: 4, kind: frameWindowUpdate, stream: stream}.append(b)
	return binary.BigEndian.AppendUint32(b, uint32(n))
}

func appendGoAway(b []byte, last uint32, why *fault) []byte {
	b = frame{length: 8 + len(why.text), kind: frameGoAway}.append(b)
	b = binary.BigEndian.AppendUint32(b, last)
	b = binary.BigEndian.AppendUint32(b, why.code)
	return append(b, why.text...)
}
