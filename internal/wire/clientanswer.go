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
}

// partAnswer is the answer of a stream whose end has not come.
type partAnswer struct {
	status  int
	outcome attempt.Outcome
	text    []byte // of an answer that has one
}

// maxText is how much of a text is kept, in bytes.
const maxText = 1 << 10

// blockEnd takes a whole header block: an answer, in most cases.
func (k *clientConn) blockEnd(id uint32, end bool, block []byte) error {
	m := k.memoFor(block)
	if end && m.same(block) {
		return k.answer(id, m.outcome, nil)
	}
	k.fields.reset()
	err := k.decoder.Decode(block, MaxHeader, k.emit)
	if errors.Is(err, hpack.ErrCompression) {
		return faultCompression
	}
	a := &k.fields
	switch {
	case err != nil || a.malformed:
		return k.spoilt(id, end)
	case a.status < 200 || !end || a.status != 200 && a.status != 429:
		return k.partOf(id, end)
	}
	o := a.outcome()
	m.learn(block, a, &o)
	return k.answer(id, o, nil)
}

// answer gives an answer, or says that there is none, before anything else is
// done.
func (k *clientConn) answer(id uint32, o attempt.Outcome, err error) error {
	k.whole[k.n] = wholeAnswer{id, o, err}
	if k.n++; k.n < len(k.whole) {
		return nil
	}
	return orNil(k.settle())
}

// spoilt resets a stream whose answer cannot be understood.
func (k *clientConn) spoilt(id uint32, end bool) error {
	if err := k.answer(id, attempt.Outcome{}, ErrLost); err != nil || end {
		return err
	}
	return k.control(func(b []byte) []byte { return appendReset(b, id, codeProtocol) })
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
		id := k.whole[i].stream
		if at := k.flights.find(id); at != nil {
			if at.answer != nil && k.whole[i].err == nil { // it has begun before, and is malformed
				k.whole[i] = wholeAnswer{stream: id, err: ErrLost}
			}
			k.callers[i] = k.flights.take(id)
		} else if k.flights.idle(id) {
			bad = faultIdleStream
		}
	}
	over := k.state&connLeaving != 0 && k.flights.live == 0
	k.mu.Unlock()
	for i := range k.n {
		if call := k.callers[i]; call != nil {
			k.callers[i] = nil
			call.Done(k.whole[i].outcome, k.whole[i].err)
		}
	}
	k.n = 0
	if over {
		k.shut(nil)
	}
	return bad
}

// partOf takes fields that are no whole answer to attempts: one that has a text,
// an interim one, or trailers.
func (k *clientConn) partOf(id uint32, end bool) error {
	if bad := k.settle(); bad != nil {
		return bad
	}
	status := k.fields.status
	k.mu.Lock()
	at := k.flights.find(id)
	idle := k.flights.idle(id)
	begun := at != nil && at.answer != nil
	var part *partAnswer
	if at != nil && at.call != nil {
		if !begun && status >= 200 {
			at.answer = &partAnswer{status: status, outcome: k.fields.outcome()}
		}
		part = at.answer
	}
	k.mu.Unlock()
	switch {
	case idle:
		return faultIdleStream
	case at == nil, !end && status > 0 && status < 200 && !begun: // closed, or interim
		return nil
	case status > 0 && status < 200, status == 0 && !begun, status > 0 && begun, status == 0 && !end:
		return k.spoilt(id, end)
	case end:
		return k.finishPart(id, part)
	}
	return nil
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
	if bad := k.settle(); bad != nil {
		return bad
	}
	k.mu.Lock()
	at := k.flights.find(f.stream)
	idle := k.flights.idle(f.stream)
	var part *partAnswer
	waits := false
	if at != nil {
		part, waits = at.answer, at.call != nil
	}
	k.mu.Unlock()
	end := f.has(flagEndStream)
	switch {
	case idle:
		return faultIdleStream
	case at == nil:
		return nil
	case part == nil && waits:
		return k.spoilt(f.stream, end)
	case part == nil:
		if end {
			return k.answer(f.stream, attempt.Outcome{}, ErrLost) // to nobody
		}
		return nil
	}
	part.text = append(part.text, payload[:min(len(payload), maxText-len(part.text))]...)
	if !end && len(part.text) < maxText {
		return nil
	}
	if err := k.finishPart(f.stream, part); err != nil || end {
		return err
	}
	return k.control(func(b []byte) []byte { return appendReset(b, f.stream, codeCancel) })
}

// finishPart gives an answer whose text has come, as far as it is kept. part is
// nil when nobody waits for it.
func (k *clientConn) finishPart(id uint32, part *partAnswer) error {
	o := attempt.Outcome{}
	if part != nil {
		k.mu.Lock()
		if at := k.flights.find(id); at != nil {
			at.answer = nil
		}
		k.mu.Unlock()
		if o = part.outcome; o.Result == attempt.Failed {
			o.Failure = part.failure()
		}
	}
	return k.answer(id, o, nil)
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
