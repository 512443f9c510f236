package wire

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"time"
)

// The pause before a connection is made again doubles from the first to the
// longest. Up to half of it is left to chance, so that the many clients of a limiter
// that is back do not come all at once.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = time.Second
)

// soundLife is how long a connection must have lasted for its end not to count as
// one more failure.
const soundLife = time.Second

// backOff puts off the next connection. The caller holds c.mu.
func (c *Client) backOff(now int64) {
	pause := min(firstPause<<min(c.failures, 10), longestPause)
	c.failures++
	c.nextDial = now + int64(pause/2+rand.N(pause/2)) //nolint:gosec // jitter is no secret
}

// dial makes one more connection.
func (c *Client) dial(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", c.o.Addr)
	if err == nil {
		err = c.join(conn.(*net.TCPConn))
	}
	c.mu.Lock()
	c.dialing = false
	say := err != nil && !c.stopping && !c.saidDial
	c.saidDial = err != nil
	if err != nil {
		c.backOff(c.o.Clock())
	}
	c.mu.Unlock()
	if say {
		c.o.Log.Warn("the limiter cannot be reached", "limiter", c.o.Addr, "err", err)
	}
	c.rouse()
}

// join begins to serve a connection.
func (c *Client) join(tcp *net.TCPConn) error {
	k, err := newClientConn(c, tcp)
	if err != nil {
		_ = tcp.Close()
		return fmt.Errorf("take over the connection: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopping {
		return tcp.Close()
	}
	c.conns = append(c.conns, k)
	c.wg.Go(k.flush)
	c.wg.Go(k.serve)
	return nil
}

// forsake takes note that a connection takes no more calls, and of the reason,
// which is nil if that was planned.
func (c *Client) forsake(k *clientConn, why error) {
	c.mu.Lock()
	if !k.forsaken {
		k.forsaken = true
		if why != nil {
			now := c.o.Clock()
			if now-k.born >= int64(soundLife) {
				c.failures, c.saidLost = 0, false
			}
			c.backOff(now)
			c.why = fmt.Errorf("limiter %s: %w", c.o.Addr, why)
		}
	}
	c.publish()
	c.mu.Unlock()
	c.rouse()
}

// remove takes note that a connection has ended, and how many calls are lost by
// that.
func (c *Client) remove(k *clientConn, why error, lost int) {
	c.forsake(k, why)
	c.mu.Lock()
	c.conns = slices.DeleteFunc(c.conns, func(other *clientConn) bool { return other == k })
	level := slog.LevelDebug
	if why != nil && !c.stopping && (lost > 0 || !c.saidLost) {
		level, c.saidLost = slog.LevelWarn, true
	}
	c.mu.Unlock()
	if why != nil {
		c.o.Log.Log(context.Background(), level, "the connection to the limiter is lost", "limiter", c.o.Addr, "calls", lost, "err", why)
	}
	c.rouse()
}
