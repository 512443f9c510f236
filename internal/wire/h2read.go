package wire

// frames handles all frames that have come whole. What is left then is the
// beginning of one, or nothing. Answers are in c.out, but for those of the
// attempts that are not settled.
func (h *http2) frames() error {
	c := h.c
	for {
		if len(c.out) >= outHigh {
			if err := c.flush(); err != nil {
				return err
			}
		}
		if h.skip.open {
			if bad := h.skipData(); bad != nil {
				return bad
			}
			if h.skip.open {
				return nil
			}
		}
		b := c.unread()
		if len(b) < frameHeader {
			return nil
		}
		f := parseFrame(b)
		if bad := h.inOrder(f); bad != nil {
			return bad
		}
		if f.kind == frameData {
			// The payload need not be there.
			if f.has(flagPadded) && f.length > 0 && len(b) == frameHeader {
				return nil
			}
			if bad := h.data(f, b[frameHeader:]); bad != nil {
				return bad
			}
			continue
		}
		if len(b) < frameHeader+f.length {
			return nil
		}
		c.use(frameHeader + f.length)
		if bad := h.frame(f, b[frameHeader:frameHeader+f.length]); bad != nil {
			return bad
		}
		h.headDue = never
	}
}

// inOrder checks what can be said of a frame by its header.
func (h *http2) inOrder(f frame) *fault {
	switch {
	case !h.greeted && (f.kind != frameSettings || f.has(flagAck)):
		return faultNoSettings
	case f.length > maxFrame:
		return faultFrameSize
	case h.block.open && (f.kind != frameContinuation || f.stream != h.block.stream):
		return faultInterrupted
	}
	return nil
}

// frame handles a frame that is whole, of any type but DATA.
func (h *http2) frame(f frame, payload []byte) *fault {
	switch f.kind {
	case frameHeaders:
		return h.headers(f, payload)
	case frameContinuation:
		return h.continuation(f, payload)
	case frameSettings:
		return h.settings(f, payload)
	case framePing:
		return h.ping(f, payload)
	case frameWindowUpdate:
		return h.windowUpdate(f, payload)
	case frameReset:
		return h.peerReset(f)
	case framePriority:
		return h.priority(f, payload)
	case frameGoAway:
		return goAway(f)
	case framePushPromise:
		return faultPush
	default: // an extension that we do not know
		return h.spend(costFrame)
	}
}

// unpad cuts the padding that a DATA or HEADERS frame may have.
func unpad(f frame, payload []byte) ([]byte, *fault) {
	if !f.has(flagPadded) {
		return payload, nil
	}
	if len(payload) == 0 {
		return nil, faultFrameSize
	}
	pad := int(payload[0])
	if payload = payload[1:]; pad > len(payload) {
		return nil, faultPadding
	}
	return payload[:len(payload)-pad], nil
}
