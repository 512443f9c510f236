package wire

import (
	"context"
	"fmt"
	"time"

	"github.com/levee-project/levee/internal/attempt"
)

// keeper is the part of a client that belongs to Run.
type keeper struct {
	tick   time.Duration // how exactly the time of calls is kept
	want   int           // connections that there should be
	up     bool          // what Changed was last told
	looked int64         // clock of the last look
	busyAt int64         // clock at which a stream was last open
	spare  []*clientConn
	over   []Call
}

// Times of connections.
const (
	surplusIdle = 10 * time.Second       // until one that is not needed is closed
	hungMost    = 30 * time.Second       // until one that is hung is closed
	pingLeast   = 100 * time.Millisecond // between two pings of one that is hung
	lookAgain   = time.Second            // until there is another look though nothing is due
	nothingDue  = time.Hour
)

// lastStreams is how many streams are left to a connection when another is made
// in its place: more than can be asked meanwhile.
const lastStreams = 1 << 20

// Run connects, and keeps connected, until ctx ends. Then no more calls are
// taken, those under way are awaited for Timeout at most, and the others end with
// ErrLost. It returns when its goroutines have ended. It may be called once.
func (c *Client) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			c.stop(timer)
			return
		case <-c.roused:
		case <-timer.C:
		}
		timer.Reset(c.look(ctx))
	}
}

// stop ends everything.
func (c *Client) stop(timer *time.Timer) {
	c.mu.Lock()
	c.stopping = true
	c.why = errStopped
	c.mu.Unlock()
	c.rebuild()
	c.tell()
	late := time.NewTimer(c.o.Timeout)
	defer late.Stop()
	for why := error(nil); ; {
		conns := c.list()
		if len(conns) == 0 {
			break
		}
		for _, k := range conns {
			if k.leave(); why != nil {
				k.shut(why)
			}
			c.giveUp(k, c.o.Clock())
		}
		timer.Reset(c.tick)
		select {
		case <-c.roused:
		case <-timer.C:
		case <-late.C:
			why = errStopped
		}
	}
	c.wg.Wait()
}

// list returns the connections. It is valid until the next call.
func (c *Client) list() []*clientConn {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.spare)
	c.spare = append(c.spare[:0], c.conns...)
	return c.spare
}

// look does what is due, and returns the time until something else may be.
func (c *Client) look(ctx context.Context) time.Duration {
	now := c.o.Clock()
	// A client that was stopped itself lets its readers go first: what it has
	// missed may have come.
	stopped := time.Duration(now-c.looked) > 2*c.tick+c.o.Timeout/2
	c.looked = now
	pause := nothingDue
	conns := c.list()
	busy := false
	for _, k := range conns {
		if !stopped {
			busy = c.giveUp(k, now) || busy
		}
		pause = min(pause, k.look(now))
	}
	if busy || stopped {
		c.busyAt = now
	}
	c.tell() // that it is down, before it can be up again
	pause = min(pause, c.supply(ctx, conns, now))
	c.tell()
	if time.Duration(now-c.busyAt) < lookAgain {
		return min(pause, c.tick)
	}
	// From here on Ask rouses; what was asked before is seen now.
	c.keeping.Store(false)
	for _, k := range conns {
		if k.busy() {
			c.keeping.Store(true)
			return min(pause, c.tick)
		}
	}
	return pause
}

// tell tells of changes.
func (c *Client) tell() {
	up := c.Up()
	if up == c.up {
		return
	}
	c.up = up
	var why error
	if !up {
		c.mu.Lock()
		why = c.why
		c.mu.Unlock()
	}
	c.o.Changed(up, why)
}

// giveUp ends the calls of a connection whose time is over. It returns true if
// streams are open.
func (c *Client) giveUp(k *clientConn, now int64) bool {
	over, hung := k.expire(now, c.over[:0])
	if hung {
		c.mu.Lock()
		c.why = fmt.Errorf("limiter %s: %w", c.o.Addr, errNoAnswer)
		c.mu.Unlock()
		c.rebuild()
	}
	for i, call := range over {
		over[i] = nil
		call.Done(attempt.Outcome{}, ErrTimeout)
	}
	c.over = over
	return k.busy()
}

// supply sees to it that there are as many connections as needed, and returns the
// time until there may be more to do about that.
func (c *Client) supply(ctx context.Context, conns []*clientConn, now int64) time.Duration {
	fresh, ready := 0, 0
	var spare *clientConn
	for _, k := range conns {
		if !c.fresh(k) {
			continue
		}
		fresh++
		if k.takes() {
			ready++
			spare = k
		}
	}
	switch {
	case c.crowded.Swap(false) && ready == fresh && ready > 0:
		c.want = min(fresh+1, c.o.Connections)
	case fresh == 0:
		c.want = 1
	}
	if ready > 0 {
		for _, k := range conns {
			if k.aged() && k.leave() {
				c.forsake(k, nil)
			}
		}
	}
	if fresh < c.want {
		return c.dialSoon(ctx, now)
	}
	if fresh == 1 {
		return nothingDue
	}
	if ready > 1 && time.Duration(now-spare.usedAt) >= surplusIdle && spare.retire() {
		c.want = fresh - 1
		c.forsake(spare, nil)
	}
	return lookAgain
}

// fresh reports whether a connection may still take calls some time.
func (c *Client) fresh(k *clientConn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !k.forsaken && !k.aged()
}

// dialSoon makes a connection, or returns the time until it may.
func (c *Client) dialSoon(ctx context.Context, now int64) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dialing {
		return nothingDue
	}
	if now < c.nextDial {
		return time.Duration(c.nextDial - now)
	}
	c.dialing = true
	c.wg.Go(func() { c.dial(ctx) })
	return nothingDue
}

// busy reports whether streams are open.
func (k *clientConn) busy() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.flights.open > 0
}

// aged reports whether another connection is to be made in its place.
func (k *clientConn) aged() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.flights.next > maxStream-2*lastStreams
}

// retire ends a connection unless it is in use.
func (k *clientConn) retire() bool {
	k.mu.Lock()
	idle := k.flights.live == 0 && k.flights.next == k.seen
	if idle {
		k.state |= connLeaving
	}
	k.mu.Unlock()
	if idle {
		k.shut(nil)
	}
	return idle
}

// expire takes the calls whose time is over and appends them to a list. hung is
// true when the connection takes no more calls from now on, because nothing else
// has come either.
func (k *clientConn) expire(now int64, over []Call) (_ []Call, hung bool) {
	c := k.client
	timeout := int64(c.o.Timeout)
	k.mu.Lock()
	defer k.unlockPending()
	for {
		call := k.flights.overdue(now - timeout)
		if call == nil {
			break
		}
		over = append(over, call)
		k.missed = now
	}
	// An answer that is late by no more than patience is likely to come, and until
	// then the limiter is not asked for more than it can take.
	for {
		id := k.flights.forgotten(now - timeout - int64(c.patience))
		if id == 0 {
			break
		}
		k.pending = appendReset(k.pending, id, codeCancel)
	}
	if k.state == connGreeted && k.missed > k.heard && now-k.heard >= timeout {
		k.state |= connHung
		k.hungAt, k.pinged = now, 0
		hung = true
	}
	return over, hung
}

// look does what is due on a connection, and returns the time until more may be.
func (k *clientConn) look(now int64) time.Duration {
	k.mu.Lock()
	state, next := k.state, k.flights.next
	k.mu.Unlock()
	if next != k.seen {
		k.seen, k.usedAt = next, now
	}
	switch {
	case state&connShut != 0:
		return nothingDue
	case state&connGreeted == 0:
		left := k.born + int64(k.client.patience) - now
		if left <= 0 {
			k.shut(errNoSettings)
			return nothingDue
		}
		return time.Duration(left)
	case state&connHung != 0:
		return k.probe(now)
	case state&connLeaving != 0:
		k.leave() // the last call may have ended
	}
	return nothingDue
}

// probe asks a limiter that is hung for a sign of life.
func (k *clientConn) probe(now int64) time.Duration {
	if time.Duration(now-k.hungAt) >= hungMost {
		k.shut(errHung)
		return nothingDue
	}
	pause := max(k.client.o.Timeout, pingLeast)
	if left := k.pinged + int64(pause) - now; k.pinged != 0 && left > 0 {
		return time.Duration(left)
	}
	k.pinged = now
	// The bound is for what a limiter asks for, so this cannot fail.
	_ = k.control(func(b []byte) []byte {
		return append(frame{length: 8, kind: framePing}.append(b), "levee up"...)
	})
	return pause
}
