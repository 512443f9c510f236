package wire

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

// clientWriter is the part of a connection that belongs to flush.
type clientWriter struct {
	awake   chan struct{} // told once for each time that flush is asleep
	flushed chan struct{} // closed when flush has ended

	unsent   []byte                // what is being written
	rest     []byte                // what is left of it
	write    func(fd uintptr) bool // tryWrite, bound once
	last     bool                  // nothing more is written
	blocked  bool                  // a deadline for writing is set
	writeErr error                 // result of write
}

const (
	// pendingHigh is how many bytes may be pending before calls are refused.
	pendingHigh = 128 << 10
	// pendingMost is how many may be pending in all. What does not fit comes of
	// frames that a limiter asks to be answered and does not let pass.
	pendingMost = 256 << 10
)

// writeMost is how long a limiter may let nothing pass.
const writeMost = 30 * time.Second

var errCalm = &fault{code: codeCalm, text: "too many frames that want an answer, and none is read"}

// unlockPending ends what has added to pending, and has it written.
func (k *clientConn) unlockPending() {
	wake := k.asleep && (len(k.pending) > 0 || k.closing)
	if wake {
		k.asleep = false
	}
	k.mu.Unlock()
	if wake {
		k.awake <- struct{}{} // there is room: it is taken each time
	}
}

// control adds a frame that is no call.
func (k *clientConn) control(add func(b []byte) []byte) error {
	k.mu.Lock()
	defer k.unlockPending()
	if len(k.pending) > pendingMost {
		return errCalm
	}
	k.pending = add(k.pending)
	return nil
}

// flush writes what is pending, until the connection closes.
func (k *clientConn) flush() {
	defer close(k.flushed)
	for k.collect() {
		if err := k.send(); err != nil {
			k.shut(fmt.Errorf("write: %w", err))
			return
		}
	}
}

// collect waits until something is pending, and takes it. It returns false when
// nothing more will be.
func (k *clientConn) collect() bool {
	k.mu.Lock()
	for len(k.pending) == 0 {
		if k.closing {
			k.mu.Unlock()
			return false
		}
		k.asleep = true
		k.mu.Unlock()
		<-k.awake
		k.mu.Lock()
	}
	k.mu.Unlock()
	// Callers come in swarms: those that are about to ask share the write. That is
	// worth a quarter of what a call costs.
	runtime.Gosched()
	k.mu.Lock()
	k.unsent, k.pending = k.pending, k.unsent[:0]
	k.last = k.closing
	k.mu.Unlock()
	return true
}

// send writes what was collected. The last is not waited for: whether the limiter
// hears of the end makes no difference.
func (k *clientConn) send() error {
	k.rest = k.unsent
	if k.last {
		return k.raw.Control(func(fd uintptr) { k.write(fd) })
	}
	err := k.raw.Write(k.write)
	if err == nil {
		err = k.writeErr
	}
	if k.blocked && err == nil {
		k.blocked = false
		err = k.tcp.SetWriteDeadline(time.Time{})
	}
	return err
}

// tryWrite writes as much as the limiter takes. It returns false to be called
// again when it takes more.
func (k *clientConn) tryWrite(fd uintptr) bool {
	for len(k.rest) > 0 {
		n, errno := writeSocket(fd, k.rest)
		if errno == syscall.EAGAIN {
			if !k.blocked {
				k.blocked = true
				_ = k.tcp.SetWriteDeadline(time.Now().Add(writeMost))
			}
			return false
		}
		if errno != 0 {
			k.writeErr = os.NewSyscallError("write", errno)
			return true
		}
		k.rest = k.rest[n:]
	}
	return true
}
