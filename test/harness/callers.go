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
	addrs   []string
	request []byte
	every   time.Duration // between two attempts of one caller; 0: callPause after an answer
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
	return startCallers(t, &Callers{addrs: []string{addr}, request: request}, n)
}

// StartApplications starts n callers that together make so many attempts a
// second, of servers that do the same job. Each begins at one of them, in turn, and
// connects to the next one when it has to connect anew.
func StartApplications(t testing.TB, addrs []string, n int, rate float64, request []byte) *Callers {
	every := time.Duration(float64(n) / rate * float64(time.Second))
	return startCallers(t, &Callers{addrs: addrs, request: request, every: every}, n)
}

func startCallers(t testing.TB, c *Callers, n int) *Callers {
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	c.stop, c.calls = cancel, Calls{Answers: map[int]int{}}
	for i := range n {
		c.workers.Go(func() {
			c.pause(ctx, c.every*time.Duration(i)/time.Duration(n)) // take turns
			c.work(ctx, i)
		})
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

// work asks until the end, at first the server of this number.
func (c *Callers) work(ctx context.Context, server int) {
	due := time.Now()
	for ; ctx.Err() == nil; server++ {
		conn, err := dial(ctx, c.addrs[server%len(c.addrs)])
		if err != nil {
			c.note(func(n *Calls) { n.Refused++ })
			c.pause(ctx, callPause)
			continue
		}
		c.use(ctx, conn, &due)
		_ = conn.Close()
	}
}

// use asks over one connection until it has served its time. The last attempt was
// due when due says.
func (c *Callers) use(ctx context.Context, conn net.Conn, due *time.Time) {
	in := bufio.NewReader(conn)
	for ctx.Err() == nil {
		began := time.Now()
		status, last, err := c.call(conn, in)
		if err != nil {
			c.note(func(n *Calls) { n.Lost = append(n.Lost, err) })
			return
		}
		took := time.Since(began)
		c.note(func(n *Calls) {
			n.Answers[status]++
			n.Last = began.Add(took)
			n.Slowest = max(n.Slowest, took)
			if last {
				n.Told++
			}
		})
		if !last || c.every > 0 {
			c.pause(ctx, c.untilNext(due))
		}
		if last {
			return
		}
	}
}

// mostBehind is how far a caller may be behind and still make all its attempts.
const mostBehind = time.Second

// untilNext is how long to wait for the next attempt, where due is when the last
// one was.
func (c *Callers) untilNext(due *time.Time) time.Duration {
	if c.every == 0 {
		return callPause
	}
	*due = due.Add(c.every)
	if behind := time.Since(*due); behind > mostBehind {
		*due = due.Add(behind)
	}
	return time.Until(*due)
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

func (c *Callers) pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
