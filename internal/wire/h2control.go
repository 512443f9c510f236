package wire

import "encoding/binary"

// settings takes the peer's settings (RFC 9113, section 6.5). Those that are not
// looked at say what we never do: push, send long frames, use a table.
func (h *http2) settings(f frame, payload []byte) *fault {
	switch {
	case f.stream != 0:
		return faultNotStreamZero
	case f.has(flagAck) && len(payload) > 0, len(payload)%6 != 0:
		return faultFrameSize
	}
	if h.greeted {
		if bad := h.spend(costFrame); bad != nil {
			return bad
		}
	}
	if f.has(flagAck) {
		return nil
	}
	h.greeted = true
	for ; len(payload) > 0; payload = payload[6:] {
		if bad := h.setting(binary.BigEndian.Uint16(payload), binary.BigEndian.Uint32(payload[2:])); bad != nil {
			return bad
		}
	}
	h.c.out = frame{kind: frameSettings, flags: flagAck}.append(h.c.out)
	h.sendTexts() // of a larger window the peer learns by the acknowledgement first
	return nil
}

func (h *http2) setting(id uint16, value uint32) *fault {
	switch id {
	case settingEnablePush:
		if value > 1 {
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
		return h.setInitialWindow(int64(value))
	}
	return nil
}

func (h *http2) ping(f frame, payload []byte) *fault {
	switch {
	case f.stream != 0:
		return faultNotStreamZero
	case len(payload) != 8:
		return faultFrameSize
	}
	if !f.has(flagAck) {
		h.c.out = frame{length: 8, kind: framePing, flags: flagAck}.append(h.c.out)
		h.c.out = append(h.c.out, payload...)
	}
	return h.spend(costFrame)
}

// priority checks a frame that says nothing any more (section 6.3), but still
// has a shape.
func (h *http2) priority(f frame, payload []byte) *fault {
	switch {
	case f.stream == 0:
		return faultStreamZero
	case len(payload) != 5:
		// This may concern one stream only, but that need not be open.
		return faultFrameSize
	case dependsOn(payload) == f.stream:
		return faultSelfDependency
	}
	return h.spend(costFrame)
}

// dependsOn returns the stream that priority data name.
func dependsOn(priority []byte) uint32 { return binary.BigEndian.Uint32(priority) & maxStream }

// goAway takes note that the peer will not accept streams, of which we open
// none. It closes the connection when it has its answers.
func goAway(f frame) *fault {
	switch {
	case f.stream != 0:
		return faultNotStreamZero
	case f.length < 8:
		return faultFrameSize
	}
	return nil
}

// peerReset takes a RST_STREAM.
func (h *http2) peerReset(f frame) *fault {
	switch {
	case f.stream == 0:
		return faultStreamZero
	case f.length != 4:
		return faultFrameSize
	case h.neverOpened(f.stream):
		return faultIdleStream
	}
	h.desk.drop(f.stream)
	if st := h.streams.find(f.stream); st != nil {
		h.close(st)
	}
	return h.spend(costReset)
}

// neverOpened reports whether a stream is idle: no frame but HEADERS can be on it.
func (h *http2) neverOpened(stream uint32) bool { return stream > h.last || stream&1 == 0 }
