package harness

import (
	"bufio"
	"context"
	"net"
	"sync"
	"testing"
	"time"
)

// callPause is how long a caller waits before its next attempt.
const callPause = 5 * time.Millisecond

// Callers are clients that keep asking, each over a keep-alive connection of its
// own. One that is told Connection: close, or finds its connection gone, connects
// anew. A connection that is refused or does not come about is no attempt; a
// request that was sent and got no whole answer is a lost one.
type Callers struct {
	addr    string
	request []byte
	stop    context.CancelFunc
	workers sync.WaitGroup

	mu    sync.Mutex
	calls Calls
}

// Calls is what came of them.
type Calls struct {
	// Answers counts the answers by status.
	Answers map[int]int
	// Lost has an error for each attempt without an answer.
	Lost []error
	// Told counts the answers with Connection: close.
	Told int
	// Refused counts the connections that did not come about.
	Refused int
	// Last is when the last answer came.
	Last time.Time
	// Slowest is the longest time to an answer.
	Slowest time.Duration
}

// StartCallers starts n callers that send the request to addr until Stop, or the
// end of the test.
func StartCallers(t testing.TB, addr string, n int, request []byte) *Callers {
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	c := &Callers{addr: addr, request: request, stop: cancel, calls: Calls{Answers: map[int]int{}}}
	for range n {
		c.workers.Go(func() { c.work(ctx) })
	}
	t.Cleanup(func() { c.Stop() })
	return c
}

// Stop ends the callers, each after its answer, and returns what came of them.
func (c *Callers) Stop() Calls {
	c.stop()
	c.workers.Wait()
	return c.Calls()
}

// Calls returns what came of the callers so far. Its map and its slice must not
// be read before Stop.
func (c *Callers) Calls() Calls {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls
}

// Count returns how many answers there were so far.
func (c *Callers) Count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, of := range c.calls.Answers {
		n += of
	}
	return n
}

func (c *Callers) work(ctx context.Context) {
	for ctx.Err() == nil {
		conn, err := dial(ctx, c.addr)
		if err != nil {
			c.note(func(n *Calls) { n.Refused++ })
			wait(ctx)
			continue
		}
		c.use(ctx, conn)
		_ = conn.Close()
	}
}

// use asks over one connection until it has served its time.
func (c *Callers) use(ctx context.Context, conn net.Conn) {
	in := bufio.NewReader(conn)
	for ctx.Err() == nil {
		began := time.Now()
		status, last, err := c.call(conn, in)
		if err != nil {
			c.note(func(n *Calls) { n.Lost = append(n.Lost, err) })
			return
		}
		c.note(func(n *Calls) {
			n.Answers[status]++
			n.Last = time.Now()
			n.Slowest = max(n.Slowest, n.Last.Sub(began))
			if last {
				n.Told++
			}
		})
		if last {
			return
		}
		wait(ctx)
	}
}

func (c *Callers) call(conn net.Conn, in *bufio.Reader) (status int, last bool, err error) {
	if err := conn.SetDeadline(time.Now().Add(answerTime)); err != nil {
		return 0, false, err
	}
	if _, err := conn.Write(c.request); err != nil {
		return 0, false, err
	}
	return readAnswer(in)
}

func (c *Callers) note(what func(*Calls)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	what(&c.calls)
}

func wait(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(callPause):
	}
}
