package wire

import (
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/hpack"
)

// connState says what has become of a connection. It takes calls while it is
// greeted and nothing else.
type connState uint8

const (
	connGreeted connState = 1 << iota // the limiter's SETTINGS have come
	connLeaving                       // it ends when the last call is answered
	connHung                          // nothing comes, though something should
	connShut                          // it ends
)

// clientConn is one connection of a [Client]. Two goroutines serve it: serve
// reads and gives the answers to their calls, flush writes. Callers add to what
// is pending, under a lock that is held for no longer than that takes.
type clientConn struct {
	client *Client
	tcp    *net.TCPConn
	raw    syscall.RawConn
	born   int64 // clock

	mu       sync.Mutex // guards what follows
	state    connState
	why      error // of connShut; nil if that was planned
	limit    int   // streams that the limiter permits at a time
	flights  flights
	spelling *spelling
	heard    int64 // clock at which something came
	missed   int64 // clock at which a call was last given up
	pending  []byte
	asleep   bool // flush waits for awake
	closing  bool // what is pending is the last

	forsaken bool // guarded by the client's lock

	// The keeper's.
	pinged int64  // clock
	hungAt int64  // clock
	seen   uint32 // the next stream when it was last looked at
	usedAt int64  // clock at which that had changed

	clientWriter
	clientReader
}

var (
	errNoSettings = errors.New("it has sent no SETTINGS in time")
	errNoAnswer   = errors.New("it has not answered in time, and nothing else comes")
	errHung       = errors.New("nothing has come for long, though something should")
	errClosed     = errors.New("it has closed the connection")
	errStopped    = errors.New("the client stops")
)

// newClientConn returns a connection that greets the limiter when it is served.
func newClientConn(c *Client, tcp *net.TCPConn) (*clientConn, error) {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil, err
	}
	now := c.o.Clock()
	k := &clientConn{client: c, tcp: tcp, raw: raw, born: now, heard: now, usedAt: now, seen: c.first}
	k.flights.start(c.first)
	k.awake = make(chan struct{}, 1)
	k.flushed = make(chan struct{})
	k.write, k.read, k.emit = k.tryWrite, k.tryRead, k.fields.field
	k.decoder.Reset()
	k.pending = appendGreeting(make([]byte, 0, largeBuffer))
	k.unsent = make([]byte, 0, largeBuffer)
	k.in = make([]byte, largeBuffer)
	return k, nil
}

// appendGreeting begins a connection: no pushes, and short fields.
func appendGreeting(b []byte) []byte {
	b = append(b, preface...)
	b = frame{length: 12, kind: frameSettings}.append(b)
	b = append(b, 0, settingEnablePush, 0, 0, 0, 0)
	return append(b, 0, settingMaxHeaderList, 0, 0, MaxHeader>>8, MaxHeader&0xff)
}

// ask takes a call if it can. room is false when it hardly can take more.
func (k *clientConn) ask(now int64, a *attempt.Attempt, call Call) (taken, room bool) {
	k.mu.Lock()
	if k.state != connGreeted || k.flights.open >= k.limit || k.flights.next > maxStream || len(k.pending) > pendingHigh {
		k.mu.Unlock()
		return false, false
	}
	ok, reset := k.flights.room()
	if !ok {
		k.mu.Unlock()
		return false, false
	}
	if reset != 0 {
		k.pending = appendReset(k.pending, reset, codeCancel)
	}
	k.pending = k.spelling.append(k.pending, k.flights.add(now, call), a)
	room = 4*k.flights.open < 3*k.limit
	k.unlockPending()
	return true, room
}

// takes reports whether the connection takes calls.
func (k *clientConn) takes() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state == connGreeted
}

// shut has the connection end. why is nil when that is as planned. The calls that
// are under way are lost.
func (k *clientConn) shut(why error) {
	k.mu.Lock()
	if k.state&connShut == 0 {
		k.state |= connShut
		k.why = why
	}
	k.mu.Unlock()
	_ = k.tcp.SetReadDeadline(time.Unix(1, 0)) // serve wakes
}

// leave has the connection end when the calls that are under way are answered. It
// returns false if that was so already.
func (k *clientConn) leave() bool {
	k.mu.Lock()
	news := k.state&connLeaving == 0
	k.state |= connLeaving
	over := k.flights.live == 0
	k.mu.Unlock()
	if over {
		k.shut(nil)
	}
	return news
}

// serve reads until the connection ends, and ends it.
func (k *clientConn) serve() {
	err := k.answers()
	k.mu.Lock()
	if k.state&connShut != 0 {
		err = k.why
	}
	k.state |= connShut
	lost := k.flights.above(0)
	var bad *fault
	if !errors.As(err, &bad) {
		bad = faultDone
	}
	k.pending = appendGoAway(k.pending, 0, bad)
	k.closing = true
	k.unlockPending()
	k.client.remove(k, err, len(lost))
	for _, call := range lost {
		call.Done(attempt.Outcome{}, ErrLost)
	}
	_ = k.tcp.SetWriteDeadline(time.Now().Add(farewell)) // for what is being written
	<-k.flushed
	_ = k.tcp.Close()
}

// farewell is how long a limiter may take to let pass what is being written when
// the connection ends.
const farewell = 100 * time.Millisecond

// faultDone is the end of a connection that is nobody's fault.
var faultDone = &fault{code: codeNone, text: "the client needs the connection no more"}

// clientReader is the part of a connection that belongs to serve.
type clientReader struct {
	in   []byte
	r, w int // unread bytes are in[r:w]
	now  int64

	read func(fd uintptr) bool // tryRead, bound once
	got  int                   // result of read
	err  error                 // result of read

	greeted  bool // the limiter's SETTINGS have come
	changed  bool // the client is to look at the state
	block    headerBlock
	decoder  hpack.Decoder
	emit     hpack.Emit // fields.field, bound once
	fields   answerFields
	memos    [2]memo
	received int // bytes of content that the limiter has not been given leave for again

	n       int // answers that are whole and not yet given
	whole   [batchSize]wholeAnswer
	callers [batchSize]Call
}
