package wire

import (
	"bytes"

	"github.com/levee-project/levee/internal/attempt"
)

// answer answers an attempt.
func (h *http2) answer(to asker, o *attempt.Outcome, headers Headers) {
	if o.Result == attempt.Failed {
		h.line(&reply{id: to.id, window: to.window, status: 500, text: o.Failure})
		return
	}
	h.c.out = h.c.prep.appendOutcomeFrame(h.c.out, to.id, o, headers)
}

// reply is an answer with a line of text.
type reply struct {
	id       uint32
	window   int64 // what may be sent on the stream
	status   int
	allow    string // the Allow field, unless empty
	text     string
	bodiless bool // it answers a HEAD
	early    bool // the request is not whole
}

// refuse answers a request on an open stream, whole or not, and closes the stream.
func (h *http2) refuse(st *stream, bad *refusal, early bool) {
	h.c.s.o.Bad(bad.reason)
	h.calm.earn(earnRequest)
	r := reply{
		id: st.id, window: st.window, status: bad.status, allow: bad.allow, text: bad.text,
		bodiless: st.req.method == methodHead, early: early,
	}
	h.close(st)
	h.line(&r)
}

// line answers with a line of text. What the peer's windows have no room for
// waits: it is a few bytes, and the stream stays open.
func (h *http2) line(r *reply) {
	c := h.c
	c.out = c.prep.appendLineFrame(c.out, r)
	if !r.bodiless {
		text := append([]byte(r.text), '\n')
		rest, sent := h.sendData(r.id, text, r.window)
		if len(rest) > 0 {
			st := h.newStream(r.id, streamSending)
			st.window, st.early, st.text = r.window-int64(sent), r.early, bytes.Clone(rest)
			h.open(st, c.now+int64(c.s.o.WriteTimeout))
			return
		}
	}
	if r.early {
		h.reset(r.id, codeNone)
	}
}
