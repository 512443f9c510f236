package wire

import (
	"errors"
	"io"
	"math"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Sizes of read buffers. A connection takes a small one when something has come
// and a large one when a header or a frame does not fit, and gives it back when
// everything in it is answered.
const (
	smallBuffer = 8 << 10
	largeBuffer = 32 << 10 // holds the longest header, and the longest frame
)

var (
	smallBuffers = sync.Pool{New: func() any { return new([smallBuffer]byte) }}
	largeBuffers = sync.Pool{New: func() any { return new([largeBuffer]byte) }}
)

// keptOut is the largest answer buffer that an idle HTTP/1.x connection keeps: a
// new one for each request would be an allocation.
const keptOut = 4 << 10

var (
	errFull     = errors.New("request does not fit the largest buffer")
	errShutdown = errors.New("the server shuts down")
)

// never is a deadline that does not come.
const never = int64(math.MaxInt64 - 1)

// idle is the lowest bit of a deadline that ends a connection on which nothing
// was under way, so that this counts as no fault of the peer's.
const idle = 1

// conn is one connection. Its goroutine owns all but the atomics.
type conn struct {
	s   *Server
	tcp *net.TCPConn
	raw syscall.RawConn

	lane uint8 // of its attempts

	in    []byte // read buffer, one of the next two; nil while nothing is unread
	small *[smallBuffer]byte
	large *[largeBuffer]byte
	r, w  int    // unread bytes are in[r:w]
	busy  bool   // a request has begun to come and is not answered
	asked bool   // a request has come, whatever became of it
	out   []byte // answers not yet written

	now  int64        // clock at the last read
	prep *prepared    // answers of the second of the last read
	due  atomic.Int64 // clock at which the shepherd ends the connection; lowest bit: idle

	h2     atomic.Pointer[http2] // set once the connection speaks HTTP/2
	roused atomic.Bool           // fill is to return though nothing comes

	// Answers that come late, see late.go.
	pending    atomic.Bool      // an HTTP/1.x attempt is not answered
	writePiece func(fd uintptr) // c.tryPiece, bound once
	piece      []byte           // what it writes
	taken      int              // how much of it was

	unsent   []byte                // what is left of out while it is written
	write    func(fd uintptr) bool // c.tryWrite, bound once
	writeErr error                 // result of write

	read func(fd uintptr) bool // c.tryRead, bound once
	got  int                   // result of read
	err  error                 // result of read
}

func newConn(s *Server, tcp *net.TCPConn) (*conn, error) {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil, err
	}
	c := &conn{s: s, tcp: tcp, raw: raw, lane: uint8(s.came.Add(1))}
	c.read, c.write, c.writePiece = c.tryRead, c.tryWrite, c.tryPiece
	c.now = s.o.Clock()
	c.expireIdle()
	return c, nil
}

// unread returns the bytes that have come and are not used. They move at the
// next fill.
func (c *conn) unread() []byte { return c.in[c.r:c.w] }

// use counts n unread bytes as used.
func (c *conn) use(n int) { c.r += n }

// expire sets when the connection ends if what it waits for has not come: more
// of a request, or room for an answer.
func (c *conn) expire(after time.Duration) { c.due.Store((c.now + int64(after)) &^ idle) }

// expireIdle sets when the connection ends if no request comes.
func (c *conn) expireIdle() { c.due.Store((c.now + int64(c.s.o.IdleTimeout)) | idle) }

// fill waits until more bytes have come, or the connection is roused, and then
// reads the clock. While it waits and nothing is unread, the connection holds no
// buffer.
func (c *conn) fill() error {
	if err := c.room(); err != nil {
		return err
	}
	err := c.raw.Read(c.read)
	for errors.Is(err, os.ErrDeadlineExceeded) {
		if c.roused.Swap(false) || !c.s.closing.Load() {
			c.got, c.err = 0, nil
			err = c.tcp.SetReadDeadline(time.Time{})
			break
		}
		if err = c.lastLook(); !errors.Is(err, errShutdown) || !c.awaited() {
			break
		}
		_ = c.tcp.SetReadDeadline(time.Now().Add(tick))
		err = c.raw.Read(c.read)
	}
	if err == nil {
		err = c.err
	}
	c.now = c.s.o.Clock()
	c.prep = c.s.prepared.Load()
	if err != nil {
		return err
	}
	c.w += c.got
	c.asked = true
	return nil
}

// rouse makes a fill that waits return, and one that does not the next time it
// would. It may be called from any goroutine.
func (c *conn) rouse() {
	c.roused.Store(true)
	_ = c.tcp.SetReadDeadline(time.Unix(1, 0)) // fails on a connection that is lost
}

// room makes space after the unread bytes.
func (c *conn) room() error {
	switch {
	case c.r == c.w:
		c.r, c.w = 0, 0
		if len(c.in) == largeBuffer { // the next request will hardly need it
			c.release()
		}
	case c.w < len(c.in):
	case c.r > 0:
		copy(c.in, c.in[c.r:c.w])
		c.r, c.w = 0, c.w-c.r
	case len(c.in) == largeBuffer:
		return errFull
	default:
		large := largeBuffers.Get().(*[largeBuffer]byte)
		n := copy(large[:], c.in[c.r:c.w])
		c.release()
		c.large, c.in, c.r, c.w = large, large[:], 0, n
	}
	return nil
}

// tryRead reads if there is something. It returns false to be called again
// when there is.
func (c *conn) tryRead(fd uintptr) bool {
	if c.in == nil {
		c.small = smallBuffers.Get().(*[smallBuffer]byte)
		c.in = c.small[:]
	}
	switch n, errno := readSocket(fd, c.in[c.w:]); {
	case errno == syscall.EAGAIN:
		if c.w == 0 {
			c.release()
		}
		return false
	case errno != 0:
		c.got, c.err = 0, os.NewSyscallError("read", errno)
	case n == 0:
		c.got, c.err = 0, io.EOF
	default:
		c.got, c.err = n, nil
	}
	return true
}

// awaited says whether a connection that was woken because the server shuts down
// waits on all the same: the rest of a request until the server is closed, the
// first one of a new connection for almost as long, because its client is about
// to send it.
func (c *conn) awaited() bool {
	return c.busy || c.pending.Load() || !c.asked && c.s.o.Clock() < c.s.closedAt.Load()+int64(firstRequest)
}

// lastLook is for a connection that was woken because the server shuts down: a
// request that came in this very moment is still answered. It returns
// errShutdown when nothing has come.
func (c *conn) lastLook() error {
	c.got, c.err = 0, errShutdown
	if err := c.raw.Control(func(fd uintptr) { c.tryRead(fd) }); err != nil {
		return err
	}
	return c.err
}

// release gives the read buffer back.
func (c *conn) release() {
	if c.small != nil {
		smallBuffers.Put(c.small)
	}
	if c.large != nil {
		largeBuffers.Put(c.large)
	}
	c.in, c.small, c.large = nil, nil, nil
}

// flush writes the answers, in one piece.
func (c *conn) flush() error {
	if len(c.out) == 0 {
		return nil
	}
	c.expire(c.s.o.WriteTimeout)
	c.unsent = c.out
	c.out = c.out[:0]
	if err := c.raw.Write(c.write); err != nil {
		return err
	}
	return c.writeErr
}

// tryWrite writes as much as the peer takes. It returns false to be called again
// when it takes more.
func (c *conn) tryWrite(fd uintptr) bool {
	for len(c.unsent) > 0 {
		n, errno := writeSocket(fd, c.unsent)
		if errno == syscall.EAGAIN {
			return false
		}
		if errno != 0 {
			c.writeErr = os.NewSyscallError("write", errno)
			return true
		}
		c.unsent = c.unsent[n:]
	}
	return true
}

// How long and how many bytes a peer is listened to that has been told the end.
const (
	lingerTime = 2 * time.Second
	lingerMost = 64 << 20
)

// linger ends a connection whose peer may still be sending: closing at once
// would make the kernel reset it, and the peer might never see the answer. So
// what comes is read and ignored for a while.
func (c *conn) linger() {
	if c.tcp.CloseWrite() != nil {
		return
	}
	c.busy = true // also while the server shuts down
	last := c.now + int64(c.s.o.BodyTimeout)
	for n := 0; n < lingerMost; n += c.got {
		pause := lingerTime
		if c.s.closing.Load() {
			pause = lastAnswers / 2
		}
		c.due.Store(min(last, c.now+int64(pause)) | idle)
		c.r, c.w = 0, 0
		if c.fill() != nil {
			return
		}
	}
}

// overdue is called when the time of the connection is over. It returns true if
// its goroutine was told, and ends what has to end.
func (c *conn) overdue() bool {
	h := c.h2.Load()
	return h != nil && h.rouse()
}

// drain tells a peer that can be told at any time to go elsewhere. Over HTTP/1.x
// the next answer does.
func (c *conn) drain() {
	if h := c.h2.Load(); h != nil {
		h.drain()
	}
}
