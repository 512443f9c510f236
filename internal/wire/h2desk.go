package wire

import (
	"sync"

	"github.com/levee-project/levee/internal/attempt"
)

// desk is what a connection works with between two waits. It is shared: an idle
// connection has none.
type desk struct {
	// Attempts that are whole and not yet decided. They are decided together: a
	// Batcher gains from that, and so do the processor's caches.
	n        int
	attempts [batchSize]attempt.Attempt
	outcomes [batchSize]attempt.Outcome
	streams  [batchSize]asker
	text     []byte // the attempts' bytes: a field is valid only until the next one
	out      [2 * outHigh]byte
}

// asker is the stream of an attempt.
type asker struct {
	id     uint32
	window int64 // what may be sent on it
}

const (
	batchSize = 64
	textHigh  = 8 << 10 // bytes of attempts that are worth deciding
	outHigh   = 8 << 10 // bytes of answers that are worth a write
)

var desks = sync.Pool{New: func() any { return &desk{text: make([]byte, 0, 2*textHigh)} }}

// take gives the connection a desk, unless it has one.
func (h *http2) take() {
	if h.desk == nil {
		h.desk = desks.Get().(*desk)
		h.c.out = h.desk.out[:0]
	}
}

// giveBack gives the desk back, when nothing is on it any more.
func (h *http2) giveBack() {
	d := h.desk
	if d == nil {
		return
	}
	h.desk, h.c.out = nil, nil
	if d.n = 0; cap(d.text) > 8*textHigh {
		return
	}
	d.text = d.text[:0]
	desks.Put(d)
}

// put copies bytes to the desk.
func (d *desk) put(b []byte) []byte {
	n := len(d.text)
	d.text = append(d.text, b...)
	return d.text[n:len(d.text):len(d.text)]
}

// hold copies the bytes of a question to the desk.
func (d *desk) hold(q *question) {
	q.Resource, q.Prefix, q.Method, q.ReqID = d.put(q.Resource), d.put(q.Prefix), d.put(q.Method), d.put(q.ReqID)
}

// drop takes back the attempt of a stream.
func (d *desk) drop(id uint32) {
	for i := range d.n {
		if d.streams[i].id == id {
			d.n--
			d.streams[i], d.attempts[i] = d.streams[d.n], d.attempts[d.n]
			return
		}
	}
}
