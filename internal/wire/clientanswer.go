package wire

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/hpack"
)

// wholeAnswer is an answer that is to be given to its call.
type wholeAnswer struct {
	stream  uint32
	outcome attempt.Outcome
	err     error
	part    *partAnswer // what it was made of, if it came in parts
}

// partAnswer is the answer of a stream whose end has not come. It belongs to the
// reader.
type partAnswer struct {
	status  int
	outcome attempt.Outcome
	text    []byte // of an answer that has one
}

// maxText is how much of a text is kept, in bytes.
const maxText = 1 << 10

// blockEnd takes a whole header block: a whole answer, in most cases.
func (k *clientConn) blockEnd(id uint32, end bool, block []byte) error {
	m := k.memoFor(block)
	if end && m.same(block) {
		return k.answer(wholeAnswer{stream: id, outcome: m.outcome})
	}
	a := &k.fields
	a.reset()
	err := k.decoder.Decode(block, MaxHeader, k.emit)
	switch {
	case errors.Is(err, hpack.ErrCompression):
		return faultCompression
	case err != nil || a.malformed:
		return k.spoilt(id, end)
	case !end || a.status != 200 && a.status != 429:
		return k.partOf(id, end)
	}
	o := a.outcome()
	m.learn(block, a, &o)
	return k.answer(wholeAnswer{stream: id, outcome: o})
}

// answer gives an answer, or says that there is none, before the connection waits
// for more.
func (k *clientConn) answer(w wholeAnswer) error {
	k.whole[k.n] = w
	if k.n++; k.n < len(k.whole) {
		return nil
	}
	return orNil(k.settle())
}

// settle gives the answers that are whole to their calls.
func (k *clientConn) settle() *fault {
	var bad *fault
	k.mu.Lock()
	k.heard = k.now
	if k.state&connHung != 0 {
		k.state &^= connHung
		k.changed = true
	}
	for i := range k.n {
		w := &k.whole[i]
		at := k.flights.find(w.stream)
		if at == nil {
			if k.flights.idle(w.stream) {
				bad = faultIdleStream
			}
			continue
		}
		if at.part != w.part && w.err == nil { // a second answer
			*w = wholeAnswer{stream: w.stream, err: ErrLost}
		}
		k.callers[i] = k.flights.take(w.stream)
	}
	k.mu.Unlock()
	for i := range k.n {
		if call := k.callers[i]; call != nil {
			k.callers[i] = nil
			call.Done(k.whole[i].outcome, k.whole[i].err)
		}
	}
	k.n = 0
	return bad
}

// spoilt resets a stream whose answer cannot be understood.
func (k *clientConn) spoilt(id uint32, end bool) error {
	if err := k.answer(wholeAnswer{stream: id, err: ErrLost}); err != nil || end {
		return err
	}
	return k.control(func(b []byte) []byte { return appendReset(b, id, codeProtocol) })
}

// partOf takes fields that are no whole answer to attempts: those before a text,
// interim ones, or trailers.
func (k *clientConn) partOf(id uint32, end bool) error {
	part, open, bad := k.partSoFar(id)
	if bad != nil || !open {
		return orNil(bad)
	}
	status := k.fields.status
	switch {
	case status >= 200 && part == nil:
		part = &partAnswer{status: status, outcome: k.fields.outcome()}
		k.mu.Lock()
		if at := k.flights.find(id); at != nil {
			at.part = part
		}
		k.mu.Unlock()
		if end {
			return k.finish(id, part)
		}
		return nil
	case status >= 100 && status < 200 && part == nil && !end:
		return nil
	case status == 0 && part != nil && end:
		return k.finish(id, part)
	default:
		return k.spoilt(id, end)
	}
}

// partSoFar gives what is whole, and returns what has come of the answer on a
// stream, if that is open.
func (k *clientConn) partSoFar(id uint32) (part *partAnswer, open bool, bad *fault) {
	if bad := k.settle(); bad != nil {
		return nil, false, bad
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if at := k.flights.find(id); at != nil {
		return at.part, true, nil
	}
	if k.flights.idle(id) {
		return nil, false, faultIdleStream
	}
	return nil, false, nil
}

// data takes the text of an answer.
func (k *clientConn) data(f frame, payload []byte) error {
	if f.stream == 0 {
		return faultStreamZero
	}
	payload, bad := unpad(f, payload)
	if bad != nil {
		return bad
	}
	if k.received += f.length; k.received >= defaultWindow/2 {
		n := k.received
		k.received = 0
		if err := k.control(func(b []byte) []byte { return appendWindowUpdate(b, 0, n) }); err != nil {
			return err
		}
	}
	part, open, bad := k.partSoFar(f.stream)
	if bad != nil || !open {
		return orNil(bad)
	}
	end := f.has(flagEndStream)
	if part == nil {
		return k.spoilt(f.stream, end)
	}
	part.text = append(part.text, payload[:min(len(payload), maxText-len(part.text))]...)
	if !end && len(part.text) < maxText {
		return nil
	}
	if err := k.finish(f.stream, part); err != nil || end {
		return err
	}
	return k.control(func(b []byte) []byte { return appendReset(b, f.stream, codeCancel) })
}

// finish gives an answer whose text has come, as far as it is kept.
func (k *clientConn) finish(id uint32, part *partAnswer) error {
	o := part.outcome
	if o.Result == attempt.Failed {
		o.Failure = part.failure()
	}
	return k.answer(wholeAnswer{stream: id, outcome: o, part: part})
}

// failure is the line of a failed attempt.
func (p *partAnswer) failure() string {
	line, _, _ := bytes.Cut(p.text, []byte("\n"))
	text := strings.ToValidUTF8(string(bytes.TrimSpace(line)), "?")
	if p.status == 500 && text != "" {
		return text
	}
	said := "the limiter answered " + strconv.Itoa(p.status)
	if text != "" {
		said += ": " + text
	}
	return said
}
