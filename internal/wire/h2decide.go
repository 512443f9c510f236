package wire

import "github.com/levee-project/levee/internal/attempt"

// whole answers a request that is whole, or lays its attempt on the desk, where
// its bytes are from mark on.
func (h *http2) whole(id uint32, window int64, req *head, mark int) {
	d := h.desk
	bad := req.refusal()
	if bad == nil && req.path == pathAttempt {
		d.attempts[d.n] = req.Attempt
		d.attempts[d.n].Lane = h.c.lane
		d.streams[d.n] = asker{id, window}
		if d.n++; d.n == batchSize || len(d.text) >= textHigh {
			h.settle()
		}
		return
	}
	d.text = d.text[:mark]
	r := reply{id: id, window: window, bodiless: req.method == methodHead}
	if bad != nil {
		h.c.s.o.Bad(bad.reason)
		r.status, r.allow, r.text = bad.status, bad.allow, bad.text
	} else {
		r.status = 503
		var ready bool
		if ready, r.text = h.c.s.o.Health(); ready {
			r.status = 200
		}
	}
	h.calm.earn(earnRequest)
	h.line(&r)
}

// settle has the attempts on the desk decided, and answers them.
func (h *http2) settle() {
	d := h.desk
	if d == nil || d.n == 0 {
		return
	}
	s, n := h.c.s, d.n
	headers := s.o.Headers()
	if s.batcher != nil {
		h.askAll(d)
		h.decided += n
		for i := range n {
			h.answer(d.streams[i], &d.outcomes[i], headers)
		}
	} else {
		for i := range n {
			h.ask(d.streams[i], &d.attempts[i], headers)
		}
	}
	h.calm.earn(n * earnRequest)
	d.n, d.text = 0, d.text[:0]
}

func (h *http2) askAll(d *desk) {
	s, n := h.c.s, d.n
	s.batcher.Attempts(h.c.now, d.attempts[:n], d.outcomes[:n])
	if s.o.Verbose() {
		for i := range n {
			s.o.Trace(&d.attempts[i], &d.outcomes[i])
		}
	}
}

// ask asks a Decider whose answer may come later. The stream is what takes it.
func (h *http2) ask(to asker, a *attempt.Attempt, headers Headers) {
	st := h.newStream(to.id, streamAsked)
	st.window, st.asked = to.window, h.c.now
	if st.traced = h.c.s.o.Verbose(); st.traced {
		st.req.Attempt = *a
		st.kept = st.req.keep(st.kept)
	}
	o, answered := h.c.s.decide(h.c.now, a, st)
	if !answered {
		h.asked++
		h.open(st, never)
		return
	}
	st.free()
	h.decided++
	h.answer(to, &o, headers)
}
