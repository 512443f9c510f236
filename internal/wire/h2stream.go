package wire

import (
	"slices"
	"sync"

	"github.com/levee-project/levee/internal/attempt"
)

// streamState is what an open stream waits for.
type streamState uint8

const (
	streamBody    streamState = iota // the rest of the request
	streamAsked                      // the answer of the Decider
	streamSending                    // leave to send the rest of the answer
)

// stream is a stream that is open between two reads. Most never are: a request
// that is whole is answered before the next read.
type stream struct {
	h      *http2
	id     uint32
	state  streamState
	early  bool  // answered before the request was whole
	gone   bool  // closed, while the Decider still has it
	window int64 // what may be sent
	due    int64 // clock by which the peer must have done its part; never = no such

	// streamBody
	req      head // its bytes are in kept
	kept     []byte
	body     int64 // content so far
	received int   // bytes that the peer has not been given leave for again

	text []byte // streamSending: what is left

	// streamAsked
	asked   int64 // clock
	traced  bool  // Trace is to be told; the attempt is in req
	outcome attempt.Outcome
}

var streamPool = sync.Pool{New: func() any { return new(stream) }}

// newStream returns a stream that is not open yet.
func (h *http2) newStream(id uint32, state streamState) *stream {
	st := streamPool.Get().(*stream)
	*st = stream{h: h, id: id, state: state, window: h.initialWindow, due: never, kept: st.kept[:0]}
	return st
}

// free gives a stream back that nobody knows any more.
func (st *stream) free() {
	if cap(st.kept) > keptText {
		st.kept = nil
	}
	st.h, st.text = nil, nil
	st.req.reset()
	streamPool.Put(st)
}

// keptText is the longest buffer that an unused stream keeps.
const keptText = 1 << 10

// open makes a stream known.
func (h *http2) open(st *stream, due int64) {
	h.streams.add(st)
	h.setDue(st, due)
}

func (h *http2) setDue(st *stream, due int64) {
	if st.due != never {
		h.streams.timed--
	}
	if due != never {
		h.streams.timed++
	}
	st.due = due
}

// forget makes a stream unknown.
func (h *http2) forget(st *stream) {
	h.setDue(st, never)
	h.streams.remove(st)
}

// close ends a stream. The one that the Decider still has is freed when the
// answer comes.
func (h *http2) close(st *stream) {
	h.forget(st)
	if st.state != streamAsked {
		st.free()
		return
	}
	st.gone = true
	h.orphans++
}

// finish closes a stream whose answer has been sent. A peer that has not sent the
// whole request need not (RFC 9113, section 8.1).
func (h *http2) finish(st *stream) {
	if st.early {
		h.reset(st.id, codeNone)
	}
	h.close(st)
}

// reset tells the peer that a stream is no more, and remembers it.
func (h *http2) reset(id, code uint32) {
	h.take()
	h.c.out = appendReset(h.c.out, id, code)
	h.dropped.add(id)
}

// streamFault resets a stream, open or not, through the fault of the peer.
func (h *http2) streamFault(id, code uint32, reason Reason) *fault {
	h.c.s.o.Bad(reason)
	h.reset(id, code)
	if st := h.streams.find(id); st != nil {
		h.close(st)
	}
	return h.spend(costReset)
}

// streams are the open streams, in the order of their numbers.
type streams struct {
	open  []*stream
	timed int // how many of them have a deadline
	kept  int // bytes of the requests that are not whole
}

// find returns the stream with a number, or nil.
func (s *streams) find(id uint32) *stream {
	if i, ok := s.search(id); ok {
		return s.open[i]
	}
	return nil
}

func (s *streams) search(id uint32) (int, bool) {
	if n := len(s.open); n == 0 || s.open[n-1].id < id {
		return n, false
	}
	return slices.BinarySearchFunc(s.open, id, func(st *stream, id uint32) int { return int(st.id) - int(id) })
}

func (s *streams) add(st *stream) {
	i, _ := s.search(st.id)
	s.open = slices.Insert(s.open, i, st)
	s.kept += len(st.kept)
}

func (s *streams) remove(st *stream) {
	s.kept -= len(st.kept)
	if i, ok := s.search(st.id); ok {
		s.open = slices.Delete(s.open, i, i+1)
	}
}

// maxKept bounds the bytes of the requests on a connection that are not whole. It
// is a kilobyte for each stream that there may be, and one request may have much
// more.
const maxKept = maxStreams << 10

// dropped remembers the latest streams that we have reset: what the peer had
// sent on them before it knew is no fault.
type dropped struct {
	ids [32]uint32
	n   uint8
}

func (d *dropped) add(id uint32) {
	d.ids[int(d.n)%len(d.ids)] = id
	d.n++
}

func (d *dropped) has(id uint32) bool { return slices.Contains(d.ids[:], id) }
