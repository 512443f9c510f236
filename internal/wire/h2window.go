package wire

import "encoding/binary"

// windowUpdate takes leave to send more (RFC 9113, section 6.9).
func (h *http2) windowUpdate(f frame, payload []byte) *fault {
	if len(payload) != 4 {
		return faultFrameSize
	}
	n := int64(binary.BigEndian.Uint32(payload) & maxWindow)
	switch {
	case f.stream == 0 && n == 0:
		return faultIncrement
	case f.stream == 0:
		if h.window += n; h.window > maxWindow {
			return faultInitialWindow
		}
		h.sendTexts()
	case h.neverOpened(f.stream):
		return faultIdleStream
	default:
		h.settle() // the stream may be there after that only
		return h.streamWindow(h.streams.find(f.stream), n)
	}
	return h.spend(costFrame)
}

// streamWindow takes leave to send more on a stream; nil stands for one that is
// closed.
func (h *http2) streamWindow(st *stream, n int64) *fault {
	if st == nil {
		return h.spend(costFrame)
	}
	if n == 0 {
		return h.streamFault(st.id, codeProtocol, ReasonStream)
	}
	if st.window += n; st.window > maxWindow {
		return h.streamFault(st.id, codeFlowControl, ReasonFlowControl)
	}
	if st.state == streamSending {
		h.sendText(st)
	}
	return h.spend(costFrame)
}

// setInitialWindow takes the setting, which also concerns the streams that are
// open (section 6.9.2).
func (h *http2) setInitialWindow(n int64) *fault {
	h.settle() // answers must know whether to wait for a window
	delta := n - h.initialWindow
	h.initialWindow = n
	for _, st := range h.streams.open {
		if st.window += delta; st.window > maxWindow {
			return faultInitialWindow
		}
	}
	return nil
}

// sendTexts goes on with the texts that waited for a window, oldest first.
func (h *http2) sendTexts() {
	for i := 0; i < len(h.streams.open); {
		st := h.streams.open[i]
		if st.state == streamSending && h.sendText(st) {
			continue // st is gone, and the next one is in its place
		}
		i++
	}
}

// sendText sends as much of a stream's text as the windows allow. It returns true
// when that was all: the stream is closed.
func (h *http2) sendText(st *stream) bool {
	n := 0
	st.text, n = h.sendData(st.id, st.text, st.window)
	st.window -= int64(n)
	if len(st.text) > 0 {
		return false
	}
	h.finish(st)
	return true
}

// sendData sends as much of a stream's text as the windows allow, in frames that
// are not too long, and returns the rest. The last frame ends the stream. A text
// is not empty.
func (h *http2) sendData(id uint32, text []byte, window int64) (rest []byte, sent int) {
	h.take()
	for len(text) > 0 {
		n := int(min(int64(len(text)), h.window, window-int64(sent), maxFrame))
		if n <= 0 {
			break
		}
		f := frame{length: n, kind: frameData, stream: id}
		if n == len(text) {
			f.flags = flagEndStream
		}
		h.c.out = append(f.append(h.c.out), text[:n]...)
		text = text[n:]
		sent += n
		h.window -= int64(n)
		h.calm.earn(earnData)
	}
	return text, sent
}
