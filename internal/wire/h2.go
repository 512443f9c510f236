package wire

import (
	"errors"
	"runtime"

	"github.com/levee-project/levee/internal/hpack"
)

// http2 is a connection that speaks HTTP/2 (RFC 9113).
//
// All of it belongs to the connection's goroutine, but for the answers that come
// late. So there are no locks on the way of a request: who has something for the
// connection puts it down and rouses the goroutine, which may be waiting for the
// peer. Only late answers, see late.go, are written without it while it waits;
// what else they mean it learns when it wakes.
//
//	h2.go          wait for the peer, be roused, end
//	h2read.go      bytes to frames; h2frame.go has their shape
//	h2headers.go   header blocks to requests; h2fields.go their fields
//	h2body.go      DATA: counted and passed over
//	h2control.go   SETTINGS, PING, RST_STREAM and the like
//	h2window.go    leave to send, and the texts that wait for it
//	h2stream.go    streams that are open between two reads
//	h2desk.go      what a connection works with meanwhile
//	h2decide.go    attempts to answers
//	h2answer.go    answers to frames; h2prepared.go has them ready
//	h2late.go      answers that come late
//	h2time.go      deadlines
//	h2flood.go     what a peer may send for nothing
//	h2fault.go     why connections end
type http2 struct {
	c    *conn
	desk *desk // nil while nothing has come
	calm calm

	// Reading.
	greeted bool // the peer's SETTINGS have come
	block   headerBlock
	skip    skipped
	headDue int64 // clock by which what has begun to come must be whole
	wakeDue int64 // clock at which there is something to do though nothing comes

	// Requests.
	decoder hpack.Decoder
	emit    hpack.Emit // h.field, bound once
	trailer hpack.Emit // h.trailerField, bound once
	req     fields     // the one being decoded
	last    uint32     // the highest stream that the peer has opened
	streams streams    // those that are open
	dropped dropped    // those that we have reset lately
	orphans int        // answers that will come for streams that are gone
	decided int        // attempts since the last wait

	// Flow control.
	received      int   // bytes of content that the peer has not been given leave for again
	window        int64 // what may be sent on the connection
	initialWindow int64 // what may be sent on a new stream

	leaving bool // the peer was told to go elsewhere

	lateAnswers
}

// serveHTTP2 serves a connection after its preface.
func (c *conn) serveHTTP2() {
	h := newHTTP2(c)
	c.h2.Store(h)
	err := h.serve()
	var bad *fault
	switch {
	case errors.As(err, &bad):
		h.leave(bad)
	case errors.Is(err, errShutdown):
		h.leave(faultNone)
	}
	h.giveBack()
}

func newHTTP2(c *conn) *http2 {
	h := &http2{c: c, window: defaultWindow, initialWindow: defaultWindow, headDue: never}
	h.calm.start(c.now)
	h.decoder.Reset()
	h.emit, h.trailer = h.field, h.trailerField
	return h
}

// serve goes on until the connection cannot. The error says why: a *fault, or a
// connection that is lost.
func (h *http2) serve() error {
	h.take()
	h.c.out = appendSettings(h.c.out)
	for {
		if err := h.frames(); err != nil {
			return err
		}
		if err := h.wait(); err != nil {
			return err
		}
	}
}

// wait waits until there is more to do: a frame, a late answer, a drain, or a
// deadline. What is due to the peer goes out first.
func (h *http2) wait() error {
	c := h.c
	h.settle()
	if h.streams.timed > 0 {
		h.endOverdue()
	}
	if c.s.draining.Load() && !h.leaving {
		h.leaving = true
		h.take()
		c.out = appendGoAway(c.out, maxStream, faultNone)
	}
	h.observe()
	if err := c.flush(); err != nil {
		return err
	}
	h.giveBack()
	if !h.sleep() {
		h.awake()
		return nil
	}
	err := c.fill()
	if err == nil && c.got == 0 {
		runtime.Gosched() // answers come in swarms: let those that are about to share a write
	}
	h.awake()
	if err == nil && c.got == 0 && c.now >= h.wakeDue {
		return h.timeUp()
	}
	return err
}

// sleep makes the connection ready to wait, and says whether it may.
func (h *http2) sleep() bool {
	c := h.c
	h.wakeDue = h.nextDue()
	c.due.Store(h.wakeDue | idle)
	c.busy = len(h.streams.open) > 0 || h.partial()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.late) > 0 || c.s.draining.Load() && !h.leaving {
		return false
	}
	h.onlyAsked = h.headDue == never && h.streams.timed == 0
	h.waiting = true
	return true
}

// awake ends what sleep began, and answers the attempts whose answers have come
// meanwhile.
func (h *http2) awake() {
	h.mu.Lock()
	h.waiting = false
	late, sent, unsent := h.late, h.sent, h.unsent
	h.late, h.sent, h.unsent = h.spare, 0, nil
	h.mu.Unlock()
	h.take()
	h.c.out = append(h.c.out, unsent...)
	h.spare = h.answerLate(late, sent)
}

// rouse ends the wait of the connection's goroutine. It returns false if that is
// not waiting; it will then look for itself before it does.
func (h *http2) rouse() bool {
	h.mu.Lock()
	was := h.waiting
	h.waiting = false
	h.mu.Unlock()
	if was {
		h.c.rouse()
	}
	return was
}

// drain has the peer told to open new streams elsewhere. What it opens here all
// the same is still answered.
func (h *http2) drain() { h.rouse() }

// leave ends the connection: requests that are whole are answered, and the peer
// learns which stream was the last that was looked at, and why there are no more.
func (h *http2) leave(why *fault) {
	c := h.c
	h.take()
	h.settle()
	h.observe()
	if why.reason != ReasonNone {
		c.s.o.Bad(why.reason)
	}
	c.out = appendGoAway(c.out, h.last, why)
	err := c.flush()
	h.giveBack()
	if err == nil {
		c.linger()
	}
}

// observe tells of the attempts decided since the last wait.
func (h *http2) observe() {
	h.c.s.decided(h.decided, h.c.now)
	h.decided = 0
}
