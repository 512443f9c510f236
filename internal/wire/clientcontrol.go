package wire

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/hpack"
)

// settings takes the limiter's settings. How much content may be sent to it, and
// in how long frames, does not matter: none is, and none is long.
func (k *clientConn) settings(f frame, payload []byte) error {
	switch {
	case f.stream != 0:
		return faultNotStreamZero
	case f.has(flagAck) && len(payload) > 0, len(payload)%6 != 0:
		return faultFrameSize
	case f.has(flagAck):
		return nil
	}
	limit, size := -1, uint32(hpack.DefaultTableSize)
	for ; len(payload) > 0; payload = payload[6:] {
		value := binary.BigEndian.Uint32(payload[2:])
		switch binary.BigEndian.Uint16(payload) {
		case settingEnablePush:
			if value != 0 {
				return faultSetting
			}
		case settingMaxFrameSize:
			if value < maxFrame || value > 1<<24-1 {
				return faultSetting
			}
		case settingInitialWindow:
			if value > maxWindow {
				return faultInitialWindow
			}
		case settingMaxStreams:
			limit = int(min(value, maxStreams))
		case settingTableSize:
			size = min(size, value)
		}
	}
	return k.setUp(limit, size)
}

// setUp acknowledges settings and obeys them. limit is negative if they say
// nothing about it.
func (k *clientConn) setUp(limit int, size uint32) error {
	return k.control(func(b []byte) []byte {
		b = frame{kind: frameSettings, flags: flagAck}.append(b)
		if limit >= 0 {
			k.limit = limit
		} else if !k.greeted {
			k.limit = maxStreams
		}
		if !k.greeted || size < hpack.DefaultTableSize {
			k.spelling, b = k.spell(b, k.flights.skip(), size, k.spelling)
		}
		if !k.greeted {
			k.greeted, k.changed = true, true
			k.state |= connGreeted
		}
		return b
	})
}

func (k *clientConn) ping(f frame, payload []byte) error {
	switch {
	case f.stream != 0:
		return faultNotStreamZero
	case len(payload) != 8:
		return faultFrameSize
	case f.has(flagAck): // that something came is all there is to know
		return nil
	}
	return k.control(func(b []byte) []byte {
		return append(frame{length: 8, kind: framePing, flags: flagAck}.append(b), payload...)
	})
}

// peerReset takes a RST_STREAM: there will be no answer, or no more of one that
// is whole.
func (k *clientConn) peerReset(f frame) error {
	switch {
	case f.stream == 0:
		return faultStreamZero
	case f.length != 4:
		return faultFrameSize
	}
	return k.answer(wholeAnswer{stream: f.stream, err: ErrLost})
}

// goAway takes note that the limiter accepts no more streams. Those above the one
// that it names were not looked at; the others are answered.
func (k *clientConn) goAway(f frame, payload []byte) error {
	switch {
	case f.stream != 0:
		return faultNotStreamZero
	case f.length < 8:
		return faultFrameSize
	}
	if bad := k.settle(); bad != nil {
		return bad
	}
	last := binary.BigEndian.Uint32(payload) & maxStream
	k.mu.Lock()
	k.state |= connLeaving
	lost := k.flights.above(last)
	k.mu.Unlock()
	k.client.forsake(k, goneAway(binary.BigEndian.Uint32(payload[4:]), payload[8:]))
	for _, call := range lost {
		call.Done(attempt.Outcome{}, ErrLost)
	}
	return nil
}

// goneAway says why a limiter accepts no more streams.
func goneAway(code uint32, text []byte) error {
	const most = 200
	said := strings.ToValidUTF8(string(text[:min(len(text), most)]), "?")
	return fmt.Errorf("it goes away, with code %d: %q", code, said)
}
