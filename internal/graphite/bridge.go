package graphite

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// flushTime bounds what the stop waits for the collector.
	flushTime = 2 * time.Second
	// firstPause and longestPause bound the wait before another connection.
	firstPause   = 500 * time.Millisecond
	longestPause = 10 * time.Second
)

// Options say what is pushed, and where to.
type Options struct {
	// Network is "tcp" or "udp", Address host:port.
	Network, Address string
	// Interval is the time between two pushes.
	Interval time.Duration
	// Prefix goes before every name, with a dot between them. Empty means none.
	Prefix string
	// Tags are on every line: job and instance.
	Tags []Tag
	// Registry is what is polled, and where the bridge shows what it does.
	Registry *prometheus.Registry
	// Log takes what happens to the collector.
	Log *slog.Logger
}

// Bridge pushes metrics.
type Bridge struct {
	o       Options
	queue   *queue
	metrics *metrics
	phase   time.Duration // of the pushes, from the interval's start
	connect func(ctx context.Context, network, address string) (net.Conn, error)

	link   link // nil when there is none; the sender's
	broken bool // the log has been told; the sender's
}

// New returns a bridge that does nothing before Run.
func New(o Options) *Bridge {
	return &Bridge{
		o: o, queue: newQueue(), metrics: newMetrics(o.Registry), connect: netConnect,
		// In the middle of the interval no jitter puts two pushes into one of the
		// collector's slots, and many daemons do not push at once.
		phase: o.Interval/4 + rand.N(o.Interval/2), //nolint:gosec // chance is no secret here
	}
}

// Run pushes until ctx ends, then once more, and returns when that has arrived or
// flushTime has passed.
func (b *Bridge) Run(ctx context.Context) error {
	b.o.Log.Info("pushing metrics to Graphite", "addr", b.o.Address, "network", b.o.Network, "interval", b.o.Interval.String())
	sending, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.sendAll(sending)
	}()
	for sleep(ctx, untilNext(time.Now(), b.o.Interval, b.phase)) {
		b.poll()
	}
	b.poll()
	b.queue.close()
	late := time.AfterFunc(flushTime, giveUp)
	defer late.Stop()
	<-ended
	if n := b.queue.clear(); n > 0 {
		b.metrics.drop(dropStop, n)
		b.o.Log.Warn("the last metrics did not reach the Graphite collector", "addr", b.o.Address, "lines", n)
	}
	return nil
}

// untilNext is how long it is until the next push: by the wall clock, as the
// collector counts.
func untilNext(now time.Time, interval, phase time.Duration) time.Duration {
	into := time.Duration(now.UnixNano() % int64(interval))
	wait := phase - into
	if wait <= 0 {
		wait += interval
	}
	return wait
}

// poll puts what the registry has in the queue.
func (b *Bridge) poll() {
	families, err := b.o.Registry.Gather()
	if err != nil { // what could be gathered is there all the same
		b.o.Log.Warn("not all metrics could be gathered for Graphite", "err", err)
	}
	w := newWriter(b.o.Prefix, b.o.Tags, time.Now())
	for _, f := range families {
		w.family(f)
	}
	b.metrics.drop(dropNumber, w.notNumbers)
	b.metrics.drop(dropLong, w.tooLong)
	b.metrics.drop(dropFull, b.queue.put(w.poll))
}

// sendAll sends what is in the queue until that is closed and empty, or ctx ends.
func (b *Bridge) sendAll(ctx context.Context) {
	defer b.hangUp()
	for {
		p, ok := b.queue.wait(ctx)
		if !ok {
			return
		}
		if !b.deliver(ctx, p) {
			b.metrics.drop(dropStop, p.count)
			return
		}
	}
}
