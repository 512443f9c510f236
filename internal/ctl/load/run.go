package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// runner is one run under way. It belongs to one thread.
type runner struct {
	plan     *Plan
	poll     poller
	conns    []*conn
	dirty    []*conn // those with something to write
	idle     queue   // open loop: those that can ask
	due      schedule
	keys     keys
	spelling *spelling
	began    time.Time
	running  bool
	end      int64 // when no more attempts are due, in nanoseconds since began
	half     int64 // the half of that, as it is planned
	pending  int   // attempts under way
	why      error // the latest reason for which a connection has ended

	nextChore int64 // when to look at what happens rarely
	pause     int64 // from one such look to the next
	told      int64 // when Progress was told last

	in     [64 << 10]byte // what a read brings; of no use after it
	stamps *stamps        // open loop
	got    heard
	tally  Tally
}

func newRunner(p *Plan) (*runner, error) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // chance is no secret here
	r := &runner{
		plan: p, idle: newQueue(p.Connections * p.Streams), keys: newKeys(p, random), spelling: newSpelling(p),
		due: newSchedule(p.Rate, p.Poisson, random), end: int64(p.Duration), half: int64(p.Duration) / 2,
		pause: int64(min(max(p.Timeout/10, time.Millisecond), 50*time.Millisecond)), began: time.Now(),
	}
	if err := r.poll.open(); err != nil {
		return nil, err
	}
	if p.Rate > 0 {
		r.stamps = new(stamps)
	}
	for i := range p.Connections {
		r.conns = append(r.conns, &conn{number: i, fd: -1, underWay: make([]question, p.Streams)})
	}
	return r, nil
}

func (r *runner) close() {
	for _, c := range r.conns {
		if c.fd >= 0 {
			c.close()
		}
	}
	_ = unix.Close(r.poll.fd)
}

// now is the time since the run began, in nanoseconds.
func (r *runner) now() int64 { return int64(time.Since(r.began)) }

// connect makes all connections, or returns why one cannot be made.
func (r *runner) connect(ctx context.Context) error {
	for _, c := range r.conns {
		r.dial(c)
	}
	for left := len(r.conns); left > 0; {
		if err := r.turn(10 * time.Millisecond); err != nil {
			return err
		}
		switch {
		case r.why != nil:
			return r.why
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case r.now() > int64(r.plan.Timeout):
			return fmt.Errorf("%d of %d connections are not made in time", left, len(r.conns))
		}
		left = 0
		for _, c := range r.conns {
			if room := c.room(); room == 0 {
				left++
			} else if room < r.plan.Streams {
				return fmt.Errorf("the server permits %d attempts at once on a connection, not %d", room, r.plan.Streams)
			}
		}
	}
	return nil
}

// run asks and counts, until all is asked and answered.
func (r *runner) run(ctx context.Context) *Tally {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer punctual()()
	cpu := ownCPU()
	r.began, r.running = time.Now(), true
	for _, c := range r.conns {
		r.employ(c, 0)
		r.write(c)
	}
	for now := r.now(); r.asking(ctx, now) || r.pending > 0; now = r.now() {
		r.askDue(now)
		r.flush()
		if now >= r.nextChore {
			r.chores(now)
		}
		if err := r.turn(r.await(now)); err != nil {
			r.tally.lose(max(1, r.pending), err) // never: the arguments are right
			r.end = min(r.end, now)
			break
		}
	}
	r.tally.end(time.Duration(r.end), time.Duration(r.half))
	r.tally.CPU = ownCPU() - cpu
	return &r.tally
}

// turn takes what happens within a time.
func (r *runner) turn(within time.Duration) error {
	events, err := r.poll.wait(within)
	if err != nil {
		return err
	}
	for _, e := range events {
		if c := r.conns[e.Fd]; c.fd >= 0 {
			if err := r.serve(c); err != nil {
				r.lose(c, err)
			}
		}
	}
	r.flush()
	return nil
}

// flush writes what is to be written.
func (r *runner) flush() {
	for _, c := range r.dirty {
		if c.dirty { // it may have ended meanwhile
			if err := c.write(); err != nil {
				r.lose(c, err)
			}
		}
	}
	r.dirty = r.dirty[:0]
}

// write has out written at the end of the turn.
func (r *runner) write(c *conn) {
	if !c.dirty && len(c.out) > 0 {
		c.dirty = true
		r.dirty = append(r.dirty, c)
	}
}

// dial begins to connect.
func (r *runner) dial(c *conn) {
	err := c.dial(r.plan.Addr)
	if err == nil {
		err = r.poll.watch(unix.EPOLL_CTL_ADD, c.fd, c.number, unix.EPOLLOUT)
	}
	if err != nil {
		r.lose(c, err)
	}
}

// serve takes what has happened to a connection.
func (r *runner) serve(c *conn) error {
	if !c.made {
		return r.greet(c)
	}
	held := copy(r.in[:], c.rest)
	n, ago, err := c.read(r.in[held:], r.stamps)
	if n == 0 || err != nil {
		return err
	}
	now := r.now()
	came := now - int64(max(0, ago))
	r.got.answers, r.got.reply = r.got.answers[:0], c.out
	used, err := c.dialect.hear(r.in[:held+n], &r.got)
	c.out = r.got.reply
	for _, a := range r.got.answers {
		q, err := c.take(a.number)
		if err != nil {
			return err
		}
		r.pending--
		at := max(q.asked, came)
		r.tally.answer(a.status, time.Duration(at-q.due), at >= r.half && at < r.end)
	}
	if err != nil {
		return err
	}
	c.rest = append(c.rest[:0], r.in[used:held+n]...)
	c.failures = 0
	if c.dialect.over() && c.busy == 0 {
		r.renew(c)
		return nil
	}
	r.employ(c, now)
	r.write(c)
	return nil
}

// greet begins to use a connection that is made.
func (r *runner) greet(c *conn) error {
	if err := c.connected(); err != nil {
		return err
	}
	if err := r.poll.watch(unix.EPOLL_CTL_MOD, c.fd, c.number, unix.EPOLLIN); err != nil {
		return err
	}
	if r.stamps != nil {
		if err := r.stamps.want(c.fd); err != nil {
			return os.NewSyscallError("setsockopt", err)
		}
	}
	c.made = true
	if r.plan.HTTP2 {
		c.dialect = newHTTP2(r.spelling, r.plan.Streams)
	} else {
		c.dialect = newHTTP1(r.plan)
	}
	c.out = c.dialect.hello(c.out)
	r.employ(c, r.now())
	r.write(c)
	return nil
}

// The pause before a connection is made again doubles from the first to the
// longest.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = time.Second
)

// lose ends a connection, and the attempts that are under way on it have no answer.
func (r *runner) lose(c *conn, why error) {
	lost := c.close()
	r.pending -= lost
	r.tally.lose(lost, why)
	r.why = why
	c.again = r.now() + int64(min(firstPause<<min(c.failures, 10), longestPause))
	c.failures++
}

// renew makes a connection in the place of one that takes no more attempts.
func (r *runner) renew(c *conn) {
	c.close()
	c.again = 0
}
