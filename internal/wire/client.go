package wire

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/levee-project/levee/internal/attempt"
)

// Call takes the answer to a question that a [Client] has accepted.
type Call interface {
	// Done is called exactly once, from any goroutine and without any lock of the
	// Client held, so it may ask at once, this Client or another. It must not block:
	// other answers wait behind it. err is nil, or says that there is no answer:
	// ErrTimeout or ErrLost.
	Done(o attempt.Outcome, err error)
}

// Why there is no answer.
var (
	// ErrTimeout: it has not come in time.
	ErrTimeout = errors.New("the limiter has not answered in time")
	// ErrLost: the connection was lost, or the limiter refused the stream. The
	// attempt may have been decided all the same.
	ErrLost = errors.New("the connection to the limiter was lost")
)

// ClientOptions say how a [Client] asks. All are required.
type ClientOptions struct {
	// Addr is the limiter's host:port.
	Addr string
	// Clock returns nanoseconds of a monotonic clock. It is read once for all
	// answers that are read together.
	Clock func() int64
	// Timeout bounds the wait for each answer. It is kept to a tenth, or to 10 ms
	// when that is less.
	Timeout time.Duration
	// Connections bounds the connections that are open at once. There is one until
	// the limiter permits no more attempts on it.
	Connections int
	// Log takes what goes wrong with the connections.
	Log *slog.Logger
	// Changed is told when Up changes, and why it became false. It is not called
	// concurrently.
	Changed func(up bool, why error)
}

// Client asks one limiter over HTTP/2 without TLS. Attempts of many callers share
// connections, and what is asked at about the same time shares a write.
//
//	client.go        ask
//	clientkeep.go    connections: as many as needed, no longer than they are sound
//	clientdial.go    make one, and take note of its end
//	clientconn.go    one connection: take a call, give it back
//	clientflights.go the calls that are under way on it
//	clientwrite.go   pending frames to the socket
//	clientread.go    bytes to frames
//	clientanswer.go  frames to answers; clientfields.go their fields
//	clientcontrol.go SETTINGS, PING, GOAWAY and the like
//	clientspell.go   attempts to header blocks
type Client struct {
	o        ClientOptions
	patience time.Duration // for a connection to be made, and for an answer that is too late
	first    uint32        // the first stream of a connection

	ready   atomic.Pointer[[]*clientConn] // those that take calls, in the order they are asked
	keeping atomic.Bool                   // the keeper looks at deadlines: it need not be roused for a call
	crowded atomic.Bool                   // the ready ones are nearly full
	roused  chan struct{}                 // the keeper is to look at everything
	wg      sync.WaitGroup                // one for each goroutine

	brief, plain *spelling

	mu       sync.Mutex    // guards the rest
	conns    []*clientConn // all whose readers have not ended
	stopping bool
	dialing  bool
	failures int   // connections in a row that could not be made, or did not last
	nextDial int64 // clock before which nothing is dialled
	why      error // the latest reason for which a connection takes no more calls
	saidDial bool  // that the limiter cannot be reached has been said
	saidLost bool  // that connections do not last has been said

	keeper
}

// NewClient returns a client that takes calls once it runs and is up.
func NewClient(o ClientOptions) *Client {
	c := &Client{
		o: o, patience: max(time.Second, o.Timeout), first: 1, roused: make(chan struct{}, 1),
		brief: briefSpelling(o.Addr), plain: plainSpelling(o.Addr),
		keeper: keeper{want: 1, tick: min(max(o.Timeout/10, time.Millisecond), 10*time.Millisecond)},
	}
	c.ready.Store(new([]*clientConn))
	return c
}

// Up reports whether the limiter is connected, and answers as far as is known. It
// is false once a call has had no answer in time while nothing else came either,
// until something comes again.
func (c *Client) Up() bool { return len(*c.ready.Load()) > 0 }

// Ask asks a, which is the caller's again when Ask returns, at the time now of the
// client's clock. It returns false if the question is not taken, and call will not
// hear of it: the limiter is not up, it permits no more questions at once, or a
// has bytes that no HTTP field can carry (NUL, CR or LF, white space at an end of
// a part, a key part that is longer than attempt.MaxKeyPart).
func (c *Client) Ask(now int64, a *attempt.Attempt, call Call) bool {
	if !spellable(a) {
		return false
	}
	ready := *c.ready.Load()
	for i, k := range ready {
		taken, room := k.ask(now, a, call)
		if !taken {
			continue
		}
		if !room && i == len(ready)-1 {
			c.crowd()
		}
		if !c.keeping.Load() && c.keeping.CompareAndSwap(false, true) {
			c.rouse()
		}
		return true
	}
	if len(ready) > 0 {
		c.crowd()
	}
	return false
}

// crowd has the keeper told that one more connection would be of use.
func (c *Client) crowd() {
	if !c.crowded.Load() && c.crowded.CompareAndSwap(false, true) {
		c.rouse()
	}
}

// rouse has the keeper look at everything.
func (c *Client) rouse() {
	select {
	case c.roused <- struct{}{}:
	default:
	}
}

// rebuild publishes which connections take calls.
func (c *Client) rebuild() {
	c.mu.Lock()
	c.publish()
	c.mu.Unlock()
	c.rouse()
}

// publish is rebuild for who holds c.mu, and rouses the keeper afterwards.
func (c *Client) publish() {
	ready := make([]*clientConn, 0, len(c.conns))
	for _, k := range c.conns {
		if k.takes() && !c.stopping {
			ready = append(ready, k)
		}
	}
	c.ready.Store(&ready)
}
