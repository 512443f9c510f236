package wire

import (
	"errors"

	"github.com/levee-project/levee/internal/hpack"
)

// headerBlock is a header block that comes in more than one frame.
type headerBlock struct {
	open   bool
	stream uint32
	flags  byte // of the HEADERS frame
	self   bool // the stream depends on itself
	due    int64
	text   []byte
}

// maxBlock bounds an encoded header block, in bytes. Decoded it must be shorter
// than MaxHeader to be accepted; up to this bound only the request is refused.
const maxBlock = 4 * MaxHeader

// headers takes a HEADERS frame (RFC 9113, section 6.2).
func (h *http2) headers(f frame, payload []byte) *fault {
	if f.stream == 0 {
		return faultStreamZero
	}
	payload, bad := unpad(f, payload)
	if bad != nil {
		return bad
	}
	self := false
	if f.has(flagPriority) {
		if len(payload) < 5 {
			return faultFrameSize
		}
		self = dependsOn(payload) == f.stream
		payload = payload[5:]
	}
	if f.has(flagEndHeaders) {
		return h.blockEnd(f.stream, f.has(flagEndStream), self, payload)
	}
	h.block = headerBlock{
		open: true, stream: f.stream, flags: f.flags, self: self,
		due:  min(h.headDue, h.c.now+int64(h.c.s.o.HeaderTimeout)),
		text: append(h.block.text[:0], payload...),
	}
	return nil
}

// continuation takes the next part of a header block. The parts are joined, and
// counted: many small ones are as bad as a long one.
func (h *http2) continuation(f frame, payload []byte) *fault {
	b := &h.block
	switch {
	case !b.open:
		return faultContinuation
	case len(b.text)+len(payload) > maxBlock:
		return faultBlock
	}
	b.text = append(b.text, payload...)
	if f.has(flagEndHeaders) {
		b.open = false
		bad := h.blockEnd(b.stream, b.flags&flagEndStream != 0, b.self, b.text)
		b.text = nil
		if bad != nil {
			return bad
		}
	}
	return h.spend(costFrame)
}

// blockEnd takes a whole header block. Whatever becomes of its stream, it is
// decoded: the table that later blocks refer to depends on it.
func (h *http2) blockEnd(id uint32, end, self bool, block []byte) *fault {
	switch {
	case id&1 == 0:
		return faultStreamID
	case id <= h.last:
		return h.secondBlock(id, end, block)
	}
	h.last = id
	if !h.admits() {
		if bad := h.passOver(block); bad != nil {
			return bad
		}
		return h.refuseStream(id)
	}
	mark := len(h.desk.text)
	h.req.reset()
	err := h.decoder.Decode(block, MaxHeader, h.emit)
	if err != nil && !errors.Is(err, hpack.ErrTooLarge) {
		return faultCompression
	}
	return h.request(id, end, self, err != nil, mark)
}

// admits reports whether there is room for one more stream. Those count, too,
// that the peer has reset and the Decider still works for.
func (h *http2) admits() bool {
	if len(h.streams.open)+h.desk.n >= maxStreams {
		h.settle()
	}
	return len(h.streams.open) < maxStreams && h.orphans < maxStreams
}

// refuseStream resets a stream on which nothing has happened yet, so that the peer
// may ask again.
func (h *http2) refuseStream(id uint32) *fault {
	h.reset(id, codeRefused)
	return h.spend(costFrame)
}

// passOver decodes a header block for the table's sake only.
func (h *http2) passOver(block []byte) *fault {
	if err := h.decoder.Decode(block, 0, nil); err != nil && !errors.Is(err, hpack.ErrTooLarge) {
		return faultCompression
	}
	return nil
}

// request takes a new request whose fields have been decoded to h.req, and whose
// bytes are on the desk from mark on.
func (h *http2) request(id uint32, end, self, tooLarge bool, mark int) *fault {
	r := &h.req
	switch {
	case self || r.malformed || !tooLarge && !r.complete(end):
		h.desk.text = h.desk.text[:mark]
		return h.streamFault(id, codeProtocol, ReasonStream)
	case end && !tooLarge:
		h.whole(id, h.initialWindow, &r.head, mark)
		return nil
	}
	size := len(h.desk.text) - mark
	if h.streams.kept+size > maxKept {
		h.desk.text = h.desk.text[:mark]
		return h.refuseStream(id)
	}
	st := h.newStream(id, streamBody)
	st.req = r.head
	st.kept = st.req.keep(st.kept)
	h.desk.text = h.desk.text[:mark]
	h.open(st, h.c.now+int64(h.c.s.o.BodyTimeout))
	switch {
	case tooLarge:
		h.refuse(st, refuseHeader, !end)
	case r.connect:
		h.refuse(st, refusePath, true)
	case r.length > MaxBody:
		h.refuse(st, refuseBody, true)
	case r.expect:
		h.c.out = appendContinue(h.c.out, id)
	}
	return nil
}

// secondBlock takes a header block on a stream that already had one: trailers, or
// a fault.
func (h *http2) secondBlock(id uint32, end bool, block []byte) *fault {
	h.settle() // a request that was whole is answered
	st := h.streams.find(id)
	if st != nil && st.state == streamBody {
		return h.trailers(st, end, block)
	}
	if st == nil && !h.dropped.has(id) {
		return faultClosedStream
	}
	if bad := h.passOver(block); bad != nil {
		return bad
	}
	switch {
	case st == nil: // it was under way
	case st.early:
		st.early = !end
	default:
		return h.streamFault(id, codeStreamClosed, ReasonStream)
	}
	return h.spend(costFrame)
}

// trailers takes the fields after the content of a request.
func (h *http2) trailers(st *stream, end bool, block []byte) *fault {
	h.req.reset()
	err := h.decoder.Decode(block, MaxHeader, h.trailer)
	switch {
	case errors.Is(err, hpack.ErrTooLarge):
		h.refuse(st, refuseHeader, !end)
		return nil
	case err != nil:
		return faultCompression
	case !end || h.req.malformed:
		return h.streamFault(st.id, codeProtocol, ReasonStream)
	}
	return h.requestEnd(st)
}
