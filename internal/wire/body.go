package wire

import "bytes"

// skipBody reads and ignores the body of the request. The attempt's bytes are
// kept aside when that means waiting. An error is a lost connection.
func (h *http1) skipBody() (*refusal, error) {
	req := &h.req
	switch {
	case req.chunked:
		return h.skipChunks()
	case req.length > MaxBody:
		return refuseBody, nil
	case req.length > 0:
		return nil, h.skip(int(req.length))
	}
	return nil, nil
}

// skip reads and ignores n bytes.
func (h *http1) skip(n int) error {
	c := h.c
	for {
		have := min(n, len(c.unread()))
		c.use(have)
		if n -= have; n == 0 {
			return nil
		}
		if err := h.moreBody(); err != nil {
			return err
		}
	}
}

// moreBody waits for more of a body. The first time, the client that waits for
// leave to send is given it, and the fields get out of the read buffer's way.
func (h *http1) moreBody() error {
	c, req := h.c, &h.req
	if !c.busy {
		h.settle()
		c.busy = true
		h.kept = req.keep(h.kept)
		h.due = c.now + int64(c.s.o.BodyTimeout)
		if req.expect && !req.http10 && len(c.unread()) == 0 {
			c.out = append(c.out, "HTTP/1.1 100 Continue\r\n\r\n"...)
		}
	}
	return h.more(h.expire)
}

// chunks is what is left of the bounds of a chunked body.
type chunks struct {
	body       int // bytes of content
	extensions int // bytes of chunk extensions
	trailers   int // bytes of trailer fields
}

// skipChunks reads and ignores a chunked body (RFC 9112, section 7.1). It is as
// strict as the head: no LF without CR, no white space where none belongs.
func (h *http1) skipChunks() (*refusal, error) {
	left := chunks{body: MaxBody, extensions: MaxHeader, trailers: MaxHeader}
	for {
		line, bad, err := h.line(refuseExtensions)
		if bad != nil || err != nil {
			return bad, err
		}
		size, bad := left.chunk(line)
		if bad != nil {
			return bad, nil
		}
		h.c.use(len(line) + 2)
		if size == 0 {
			return h.skipTrailers(&left)
		}
		if err := h.skip(size); err != nil {
			return nil, err
		}
		if bad, err := h.chunkEnd(); bad != nil || err != nil {
			return bad, err
		}
	}
}

// chunk reads a chunk's first line and counts it against the bounds.
func (l *chunks) chunk(line []byte) (size int, bad *refusal) {
	digits, extension, extended := bytes.Cut(line, []byte{';'})
	if len(digits) == 0 {
		return 0, malformed(ReasonChunk, "a chunk has no size")
	}
	for _, c := range digits {
		d := hexDigit(c)
		if d < 0 {
			return 0, malformed(ReasonChunk, "a chunk's size is not a hexadecimal number")
		}
		if size = size*16 + d; size > l.body {
			return 0, refuseBody
		}
	}
	if len(digits) > maxChunkDigits {
		return 0, malformed(ReasonChunk, "a chunk's size has too many digits")
	}
	if hasControl(extension) {
		return 0, malformed(ReasonChunk, "a chunk extension has a control character")
	}
	if extended {
		l.extensions -= len(extension) + 1
	}
	if l.extensions < 0 {
		return 0, refuseExtensions
	}
	l.body -= size
	return size, nil
}

// maxChunkDigits is more than any sender pads a size to, and maxChunkLine the
// longest line that the bounds allow.
const (
	maxChunkDigits = 16
	maxChunkLine   = maxChunkDigits + MaxHeader
)

// The refusals of chunked bodies that are short and come with much else.
var (
	refuseExtensions = &refusal{
		status: 431, reason: ReasonHeaderTooLarge, text: "the chunk extensions are longer than 16 KiB", close: true,
	}
	refuseTrailers = &refusal{
		status: 431, reason: ReasonHeaderTooLarge, text: "the trailers are longer than 16 KiB", close: true,
	}
)

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	default:
		return -1
	}
}

// chunkEnd reads the line end after a chunk's content.
func (h *http1) chunkEnd() (*refusal, error) {
	for len(h.c.unread()) < 2 {
		if b := h.c.unread(); len(b) == 1 && b[0] != '\r' {
			break
		}
		if err := h.moreBody(); err != nil {
			return nil, err
		}
	}
	if b := h.c.unread(); len(b) < 2 || b[0] != '\r' || b[1] != '\n' {
		return malformed(ReasonChunk, "a chunk is not followed by a line end"), nil
	}
	h.c.use(2)
	return nil, nil
}

// skipTrailers reads and checks the fields after the last chunk. They never say
// anything about the attempt.
func (h *http1) skipTrailers(left *chunks) (*refusal, error) {
	for {
		line, bad, err := h.line(refuseTrailers)
		if bad != nil || err != nil {
			return bad, err
		}
		if len(line) == 0 {
			h.c.use(2)
			return nil, nil
		}
		if left.trailers -= len(line) + 2; left.trailers < 0 {
			return refuseTrailers, nil
		}
		var ignored head
		if bad := ignored.field(line); bad != nil {
			return bad, nil
		}
		h.c.use(len(line) + 2)
	}
}

// line waits for a line of a chunked body and returns it without its end. It is
// still unread. One that no bound allows is refused with tooLong.
func (h *http1) line(tooLong *refusal) (line []byte, bad *refusal, err error) {
	scanned := 0
	for {
		b := h.c.unread()
		i := bytes.IndexByte(b[scanned:], '\n')
		if i < 0 && len(b) <= maxChunkLine+1 { // with the CR
			scanned = len(b)
			if err := h.moreBody(); err != nil {
				return nil, nil, err
			}
			continue
		}
		switch end := scanned + i; {
		case i < 0 || end > maxChunkLine+1:
			return nil, tooLong, nil
		case end == 0 || b[end-1] != '\r':
			return nil, malformed(ReasonChunk, "a line of the chunked body ends with LF alone"), nil
		default:
			return b[:end-1], nil, nil
		}
	}
}
