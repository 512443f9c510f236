package wire

import (
	"bytes"
	"errors"
	"io"
)

// preface begins every HTTP/2 connection (RFC 9113, section 3.4).
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// serve answers a connection's requests until it ends. The first bytes say in
// which protocol.
func (c *conn) serve() {
	if c.fill() != nil {
		return
	}
	due := c.now + int64(c.s.o.HeaderTimeout)
	for {
		got := c.unread()
		n := min(len(got), len(preface))
		switch {
		case string(got[:n]) != preface[:n]:
			newHTTP1(c, due).serve()
			return
		case n == len(preface):
			c.use(n)
			c.serveHTTP2()
			return
		}
		c.busy = true
		c.due.Store(due &^ idle)
		if c.fill() != nil {
			return
		}
	}
}

// http1 is a connection that speaks HTTP/1.0 or 1.1.
type http1 struct {
	c       *conn
	scanned int // bytes of unread that hold no end of a head, up to a line's start
	req     head
	kept    []byte // fields of a request whose body had to be waited for
	due     int64  // clock by which the head or body that has begun must be whole
	began   int64  // clock when the answers in out were begun
	decided int    // attempts among them
	turns
}

// newHTTP1 returns a connection whose first head must be whole at the clock due.
func newHTTP1(c *conn, due int64) *http1 {
	return &http1{c: c, due: due, turns: turns{ready: make(chan struct{}, 1)}}
}

// serve answers requests in the order in which they come, all that are there
// before the next wait.
func (h *http1) serve() {
	c := h.c
	h.began = c.now
	for {
		n, bad := endOfHead(c.unread(), &h.scanned)
		switch {
		case bad != nil:
			h.req.reset()
			h.refuse(bad)
			return
		case n > 0:
			if !h.request(n) {
				return
			}
		default:
			if h.moreHead() != nil {
				return
			}
		}
	}
}

// moreHead waits for the next request, or for the rest of its head.
func (h *http1) moreHead() error {
	c := h.c
	if len(c.unread()) == 0 {
		if cap(h.kept) > keptOut {
			h.kept = nil
		}
		return h.more(c.expireIdle)
	}
	if !c.busy {
		h.settle()
		c.busy = true
		h.due = c.now + int64(c.s.o.HeaderTimeout)
	}
	return h.more(h.expire)
}

// expire has the connection end when what has begun to come is not whole in
// time, however often a part of it comes.
func (h *http1) expire() { h.c.due.Store(h.due &^ idle) }

// request answers the request whose head is the next n bytes, and says whether
// the connection goes on.
func (h *http1) request(n int) bool {
	c, req := h.c, &h.req
	h.scanned, c.busy = 0, false
	req.reset()
	if bad := req.parse(c.unread()[:n]); bad != nil {
		h.refuse(bad)
		return false
	}
	c.use(n)
	if bad, err := h.skipBody(); err != nil {
		return false
	} else if bad != nil {
		h.refuse(bad)
		return false
	}
	c.busy = false
	if !h.respond() {
		h.end()
		return false
	}
	return true
}

// respond writes the answer to a whole request, and says whether the connection
// goes on.
func (h *http1) respond() bool {
	c, req := h.c, &h.req
	conn := req.persistence(h.ending())
	bad := req.refusal()
	switch {
	case bad != nil:
		h.settle()
		c.s.o.Bad(bad.reason)
		c.out = c.prep.appendLine(c.out, bad.status, bad.allow, bad.text, conn, req.method != methodHead)
	case req.path == pathHealth:
		h.settle()
		status := 503
		ready, line := c.s.o.Health()
		if ready {
			status = 200
		}
		c.out = c.prep.appendLine(c.out, status, "", line, conn, req.method != methodHead)
	default:
		h.attempt(conn)
	}
	return conn != persistClose
}

// ending says whether the connection ends with this answer because the server
// does. Requests that came together with this one are answered first; a buffer
// that was filled to the brim may not have held all of them.
func (h *http1) ending() bool {
	c := h.c
	return c.s.draining.Load() && len(c.unread()) == 0 && c.w < len(c.in)
}

// more waits for more bytes of what has begun; the answers that are due go out
// first. It is the only place where this connection waits for its client.
func (h *http1) more(expire func()) error {
	c := h.c
	h.observe()
	if err := h.rest(expire); err != nil {
		return err
	}
	err := c.fill()
	h.unpark()
	h.began = c.now
	if errors.Is(err, io.EOF) { // the client may still read
		h.settle()
		_ = c.flush()
	}
	if errors.Is(err, errFull) {
		h.refuse(refuseHeader)
	}
	return err
}

// observe tells of the attempts decided since the last read.
func (h *http1) observe() {
	h.c.s.decided(h.decided, h.began)
	h.decided = 0
}

// refuse answers what cannot be gone on with, and ends the connection.
func (h *http1) refuse(bad *refusal) {
	c := h.c
	h.settle()
	c.s.o.Bad(bad.reason)
	c.out = c.prep.appendLine(c.out, bad.status, bad.allow, bad.text, persistClose, h.req.method != methodHead)
	h.end()
}

// end writes what is due and closes so that the client can read it.
func (h *http1) end() {
	h.observe()
	if h.c.flush() == nil {
		h.c.linger()
	}
}

// endOfHead returns the length of the head at the start of b, with its empty
// line, or 0 when that is not all there. scanned remembers how far it looked, so
// that a head that comes byte by byte is looked at once. Line ends that are not
// CRLF are refused as soon as they are seen.
func endOfHead(b []byte, scanned *int) (n int, bad *refusal) {
	start := *scanned
	for {
		i := bytes.IndexByte(b[start:], '\n')
		if i < 0 {
			break
		}
		switch end := start + i + 1; {
		case end > MaxHeader:
			return 0, refuseHeader
		case i == 0 || b[end-2] != '\r':
			return 0, malformed(ReasonField, "a line ends with LF alone")
		case i > 1 || start == 0: // a line, or the empty one that may stand before the first
			start = end
		case start == 2 && b[0] == '\r':
			return 0, malformed(ReasonRequestLine, "more than one empty line before the request")
		default:
			return end, nil
		}
	}
	*scanned = start
	if len(b) > MaxHeader {
		return 0, refuseHeader
	}
	return 0, nil
}
