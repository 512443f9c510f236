package graphite

import (
	"context"
	"math/rand/v2"
	"time"
)

// deliver sends a poll, over one connection after another if need be. It returns
// false when ctx has ended, or when the process stops and there is no collector:
// the stop does not wait for one to come back.
func (b *Bridge) deliver(ctx context.Context, p poll) bool {
	for pause := time.Duration(0); ; pause = min(max(firstPause, 2*pause), longestPause) {
		last := b.queue.closed()
		reached, err := b.try(ctx, p)
		if err != nil && ctx.Err() != nil {
			return false
		}
		b.tell(err)
		if err == nil || reached && b.o.Network == "udp" {
			return true // over UDP what was refused is dropped, and counted
		}
		if last && !reached || !b.pause(ctx, pause, last) {
			return false
		}
	}
}

// try sends a poll over the connection that there is, or a new one. reached is
// whether there was one.
func (b *Bridge) try(ctx context.Context, p poll) (reached bool, err error) {
	if b.link == nil {
		if b.link, err = b.dial(ctx); err != nil {
			b.link = nil
			return false, err
		}
	}
	sent, err := b.link.send(ctx, p)
	b.metrics.sent.Add(float64(sent))
	if err != nil {
		b.hangUp()
	}
	return true, err
}

func (b *Bridge) hangUp() {
	if b.link != nil {
		b.link.close()
		b.link = nil
	}
}

// pause waits before the next connection, so that the daemons that lost a
// collector do not come back to it all at once. The process's stop ends it,
// unless it has begun before. It returns false when ctx has ended.
func (b *Bridge) pause(ctx context.Context, d time.Duration, stops bool) bool {
	if d > 0 {
		d = d/2 + rand.N(d/2) //nolint:gosec // chance is no secret here
	}
	stop := b.queue.ended
	if stops {
		stop = nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-stop:
		return true
	case <-ctx.Done():
		return false
	}
}

// tell counts a failure, and logs when the collector is lost and when it is back.
func (b *Bridge) tell(err error) {
	if err == nil {
		b.metrics.connected.Set(1)
		if b.broken {
			b.o.Log.Info("the Graphite collector takes metrics again", "addr", b.o.Address)
		}
		b.broken = false
		return
	}
	b.metrics.failures.Inc()
	b.metrics.connected.Set(0)
	if !b.broken {
		b.o.Log.Warn("the Graphite collector takes no metrics; they wait for it in memory, the oldest go first",
			"addr", b.o.Address, "network", b.o.Network, "err", err)
	}
	b.broken = true
}
