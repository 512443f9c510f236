package wire

// partial reports whether something has begun to come that is to be whole soon.
// The content of a request is not: that has a deadline of its own.
func (h *http2) partial() bool {
	if h.block.open || len(h.c.unread()) > 0 {
		return true
	}
	if !h.skip.open {
		return !h.greeted
	}
	st := h.streams.find(h.skip.stream)
	return st == nil || st.state != streamBody
}

// nextDue returns the clock at which the connection is to wake though nothing
// comes.
func (h *http2) nextDue() int64 {
	o := &h.c.s.o
	switch {
	case h.block.open:
		h.headDue = h.block.due
	case h.partial():
		h.headDue = min(h.headDue, h.c.now+int64(o.HeaderTimeout))
	default:
		h.headDue = never
	}
	due := h.headDue
	if due == never && len(h.streams.open) == 0 {
		due = h.c.now + int64(o.IdleTimeout)
	}
	if h.streams.timed > 0 {
		for _, st := range h.streams.open {
			due = min(due, st.due)
		}
	}
	return due
}

// timeUp says what it means that nothing has come until wakeDue. Streams whose
// time is over are ended before the next wait.
func (h *http2) timeUp() error {
	switch {
	case h.c.now >= h.headDue:
		return faultLate
	case len(h.streams.open) == 0:
		return faultIdle
	}
	return nil
}

// endOverdue resets the streams whose peer has not done its part in time. The
// connection goes on.
func (h *http2) endOverdue() {
	for i := 0; i < len(h.streams.open); {
		st := h.streams.open[i]
		if st.due > h.c.now {
			i++
			continue
		}
		h.c.s.o.Bad(ReasonTimeout)
		h.reset(st.id, codeCancel)
		h.close(st)
	}
}
