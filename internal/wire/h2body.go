package wire

// skipped is a DATA frame whose payload is being passed over.
type skipped struct {
	open   bool
	left   int // bytes to come
	stream uint32
	end    bool // it ends the request
}

// data takes the header of a DATA frame, and passes over as much of its payload
// as has come. The first byte of padded data is there.
func (h *http2) data(f frame, payload []byte) *fault {
	switch {
	case f.stream == 0:
		return faultStreamZero
	case h.neverOpened(f.stream):
		return faultIdleStream
	}
	content := f.length
	if f.has(flagPadded) {
		if f.length == 0 {
			return faultFrameSize
		}
		if content -= 1 + int(payload[0]); content < 0 {
			return faultPadding
		}
	}
	h.c.use(frameHeader)
	h.skip = skipped{open: true, left: f.length, stream: f.stream, end: f.has(flagEndStream)}
	// Half of the window and a frame fit into it: nobody can send too much.
	if h.received += f.length; h.received >= defaultWindow/2 {
		h.c.out = appendWindowUpdate(h.c.out, 0, h.received)
		h.received = 0
	}
	if content == 0 && !h.skip.end {
		if bad := h.spend(costFrame); bad != nil {
			return bad
		}
	}
	return h.content(f, int64(content))
}

// content counts what a DATA frame brings to its stream.
func (h *http2) content(f frame, n int64) *fault {
	st := h.streams.find(f.stream)
	switch {
	case st == nil && h.dropped.has(f.stream):
		return h.spend(costFrame) // it was under way
	case st == nil || st.state != streamBody && !st.early:
		h.settle() // the answer goes before
		return h.streamFault(f.stream, codeStreamClosed, ReasonStream)
	}
	if st.received += f.length; st.received > defaultWindow {
		return h.streamFault(st.id, codeFlowControl, ReasonFlowControl)
	}
	if st.early {
		return nil
	}
	st.body += n
	switch {
	case st.req.length >= 0 && st.body > st.req.length:
		return h.streamFault(st.id, codeProtocol, ReasonStream)
	case st.body > MaxBody:
		h.refuse(st, refuseBody, !h.skip.end)
		return nil
	case !h.skip.end && st.received >= defaultWindow/2:
		h.c.out = appendWindowUpdate(h.c.out, st.id, st.received)
		st.received = 0
	}
	return nil
}

// skipData passes over as much of a DATA frame's payload as has come. At its end
// the request may be whole.
func (h *http2) skipData() *fault {
	n := min(h.skip.left, len(h.c.unread()))
	h.c.use(n)
	if h.skip.left -= n; h.skip.left > 0 {
		return nil
	}
	h.skip.open = false
	h.headDue = never
	if !h.skip.end {
		return nil
	}
	if st := h.streams.find(h.skip.stream); st != nil {
		return h.requestEnd(st)
	}
	return nil
}

// requestEnd takes note that the last byte of a request has come.
func (h *http2) requestEnd(st *stream) *fault {
	if st.early {
		st.early = false
		return nil
	}
	if st.req.length >= 0 && st.body != st.req.length {
		return h.streamFault(st.id, codeProtocol, ReasonStream)
	}
	id, window, mark := st.id, st.window, len(h.desk.text)
	h.req.head = st.req
	h.desk.hold(&h.req.question)
	h.close(st) // before its number may be used again, for an answer that comes late
	h.whole(id, window, &h.req.head, mark)
	return nil
}
