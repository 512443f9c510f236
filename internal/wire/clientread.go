package wire

import (
	"os"
	"syscall"
)

// answers reads until the connection cannot go on. The error says why: a *fault,
// or that the connection is lost.
func (k *clientConn) answers() error {
	for {
		if err := k.fill(); err != nil {
			return err
		}
		err := k.frames()
		if bad := k.settle(); err == nil {
			err = orNil(bad)
		}
		if k.changed {
			k.changed = false
			k.client.rebuild()
		}
		if err != nil {
			return err
		}
	}
}

// fill waits until more has come, and then reads the clock.
func (k *clientConn) fill() error {
	if k.r == k.w {
		k.r, k.w = 0, 0
	} else if k.w == len(k.in) { // a frame is shorter than the buffer
		k.r, k.w = 0, copy(k.in, k.in[k.r:k.w])
	}
	err := k.raw.Read(k.read)
	if err == nil {
		err = k.err
	}
	k.now = k.client.o.Clock()
	k.w += k.got
	return err
}

// tryRead reads if there is something. It returns false to be called again when
// there is.
func (k *clientConn) tryRead(fd uintptr) bool {
	k.got, k.err = 0, nil
	switch n, errno := readSocket(fd, k.in[k.w:]); {
	case errno == syscall.EAGAIN:
		return false
	case errno != 0:
		k.err = os.NewSyscallError("read", errno)
	case n == 0:
		k.err = errClosed
	default:
		k.got = n
	}
	return true
}

// frames handles all frames that have come whole.
func (k *clientConn) frames() error {
	for {
		b := k.in[k.r:k.w]
		if len(b) < frameHeader {
			return nil
		}
		f := parseFrame(b)
		if bad := k.inOrder(f); bad != nil {
			return bad
		}
		if len(b) < frameHeader+f.length {
			return nil
		}
		k.r += frameHeader + f.length
		if err := k.frame(f, b[frameHeader:frameHeader+f.length]); err != nil {
			return err
		}
	}
}

// inOrder checks what can be said of a frame by its header.
func (k *clientConn) inOrder(f frame) *fault {
	switch {
	case !k.greeted && (f.kind != frameSettings || f.has(flagAck)):
		return faultNoSettings
	case f.length > maxFrame:
		return faultFrameSize
	case k.block.open && (f.kind != frameContinuation || f.stream != k.block.stream):
		return faultInterrupted
	}
	return nil
}

// frame handles a frame that is whole.
func (k *clientConn) frame(f frame, payload []byte) error {
	switch f.kind {
	case frameHeaders:
		return k.headers(f, payload)
	case frameContinuation:
		return k.continuation(f, payload)
	case frameData:
		return k.data(f, payload)
	case frameReset:
		return k.peerReset(f)
	case frameSettings:
		return k.settings(f, payload)
	case framePing:
		return k.ping(f, payload)
	case frameGoAway:
		return k.goAway(f, payload)
	case framePushPromise:
		return faultPushed
	case frameWindowUpdate:
		return windowFrame(f)
	case framePriority:
		return priorityFrame(f)
	default: // an extension that we do not know
		return nil
	}
}

var faultPushed = &fault{code: codeProtocol, text: "a limiter must not push"}

// orNil makes an error of a fault that may be nil.
func orNil(bad *fault) error {
	if bad == nil {
		return nil
	}
	return bad
}

// windowFrame checks leave to send content, which we never do.
func windowFrame(f frame) error {
	if f.length != 4 {
		return faultFrameSize
	}
	return nil
}

// priorityFrame checks a frame that says nothing any more.
func priorityFrame(f frame) error {
	switch {
	case f.stream == 0:
		return faultStreamZero
	case f.length != 5:
		return faultFrameSize
	}
	return nil
}

// headers takes a HEADERS frame.
func (k *clientConn) headers(f frame, payload []byte) error {
	if f.stream == 0 {
		return faultStreamZero
	}
	payload, bad := unpad(f, payload)
	if bad != nil {
		return bad
	}
	if f.has(flagPriority) {
		if len(payload) < 5 {
			return faultFrameSize
		}
		payload = payload[5:]
	}
	if f.has(flagEndHeaders) {
		return k.blockEnd(f.stream, f.has(flagEndStream), payload)
	}
	k.block = headerBlock{open: true, stream: f.stream, flags: f.flags, text: append(k.block.text[:0], payload...)}
	return nil
}

// continuation takes the next part of a header block.
func (k *clientConn) continuation(f frame, payload []byte) error {
	b := &k.block
	switch {
	case !b.open:
		return faultContinuation
	case len(b.text)+len(payload) > maxBlock:
		return faultBlock
	}
	b.text = append(b.text, payload...)
	if !f.has(flagEndHeaders) {
		return nil
	}
	text := b.text
	b.open, b.text = false, nil
	return k.blockEnd(b.stream, b.flags&flagEndStream != 0, text)
}
