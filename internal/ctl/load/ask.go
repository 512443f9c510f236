package load

import (
	"context"
	"time"
)

// asking reports whether attempts are still due, now or later. Those of an open
// loop that have waited for a connection until the end are still asked.
func (r *runner) asking(ctx context.Context, now int64) bool {
	if now < r.end && ctx.Err() != nil {
		r.end = now
	}
	return now < r.end || r.plan.Rate > 0 && r.due.next < r.end
}

// employ has a connection that can take attempts do so: at once in a closed loop,
// else in its turn.
func (r *runner) employ(c *conn, now int64) {
	switch {
	case !r.running:
	case r.plan.Rate > 0:
		for room := c.room(); c.queued < room; c.queued++ {
			r.idle.push(c)
		}
	case now < r.end:
		for range c.room() {
			r.ask(c, now, now)
		}
	}
}

// askDue asks what is due in an open loop, as far as connections are idle. What has
// to wait for one is asked later, and its wait is part of its time; after too long a
// wait it is lost.
func (r *runner) askDue(now int64) {
	if r.plan.Rate == 0 {
		return
	}
	for ; r.due.next <= now && r.due.next < r.end; r.due.step() {
		if now-r.due.next > int64(r.plan.Timeout) {
			r.tally.lose(1, errUnasked)
			continue
		}
		c := r.idleConn()
		if c == nil {
			return
		}
		r.ask(c, r.due.next, now)
	}
}

// idleConn returns the connection that has been idle longest, nil if there is none.
func (r *runner) idleConn() *conn {
	for {
		c := r.idle.pop()
		if c == nil {
			return nil
		}
		if c.queued--; c.room() > 0 {
			return c
		}
	}
}

// ask has an attempt written at the end of the turn.
func (r *runner) ask(c *conn, due, now int64) {
	out, number := c.dialect.ask(c.out, r.keys.draw())
	c.out = out
	c.note(question{number: number, due: due, asked: now})
	r.pending++
	r.write(c)
}

// await lets time pass until something is due that can be asked, and returns how
// long to wait for what comes.
func (r *runner) await(now int64) time.Duration {
	next := r.nextChore
	if now < r.end {
		next = min(next, r.end)
	}
	if r.plan.Rate == 0 || r.idle.n == 0 || r.due.next >= r.end {
		return time.Duration(max(0, next-now))
	}
	// What comes meanwhile is stamped, and has time.
	rest(time.Duration(min(next, r.due.next) - r.now()))
	return 0
}

// chores does what need not be done at every turn.
func (r *runner) chores(now int64) {
	r.nextChore = now + r.pause
	for _, c := range r.conns {
		switch {
		case c.fd < 0 && now >= c.again:
			r.dial(c)
		case c.fd >= 0 && c.overdue(now-int64(r.plan.Timeout)):
			r.lose(c, errLate)
		}
	}
	if r.plan.Progress != nil && now-r.told >= int64(time.Second) && now < r.end {
		r.told = now
		r.plan.Progress(time.Duration(now), &r.tally)
	}
}

// queue is a ring of connections that can ask, the longest idle first; one that
// can take several attempts is in it as often. It has room for all.
type queue struct {
	ring    []*conn
	head, n int
}

func newQueue(size int) queue { return queue{ring: make([]*conn, size)} }

func (q *queue) push(c *conn) {
	q.ring[(q.head+q.n)%len(q.ring)] = c
	q.n++
}

func (q *queue) pop() *conn {
	if q.n == 0 {
		return nil
	}
	c := q.ring[q.head]
	if q.head++; q.head == len(q.ring) {
		q.head = 0
	}
	q.n--
	return c
}
