package proxy

import (
	"context"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/wire"
)

// Upstream is the way to one limiter; [wire.Client] is one.
type Upstream interface {
	// Ask hands an attempt over, or returns false when it cannot right now. If it
	// has, the call is done exactly once, within attempt-timeout or a little later,
	// from another goroutine.
	Ask(now int64, a *attempt.Attempt, call wire.Call) bool
	// Up says whether the limiter can be asked: it is connected, and answers.
	Up() bool
	// Run keeps the connection until ctx ends.
	Run(ctx context.Context)
}

// identity tells one run of a limiter from its next, and from the same one at
// another address.
type identity struct {
	id          string
	incarnation int64
	service     netip.AddrPort
}

// upstream is one limiter, with what the proxy has seen of it.
type upstream struct {
	Upstream
	identity
	traffic *traffic
	back    atomic.Int64       // clock at which it came back after a failure; 0 if not lately
	failed  bool               // of the goroutine that calls changed: it has been up, and then was not
	gone    atomic.Bool        // it is in no topology any more
	stop    context.CancelFunc // ends Run
}

// traffic counts what went to a limiter, over all its incarnations.
type traffic struct {
	attempts atomic.Int64
	errors   [reasonCount]atomic.Int64
}

// changed takes note that the limiter is up now, or is not any more.
func (u *upstream) changed(now int64, up bool) {
	if up && u.failed {
		u.back.Store(max(1, now))
	}
	u.failed = !up
}

// easing is how long a limiter that came back takes to get all its turns again.
const easing = 2 * time.Second

// usable says whether the limiter gets its turns of a resource at the time now.
// One that came back after a failure gets them for more and more resources, so
// that one which limps does not take many attempts with it. It is a matter of
// resources rather than of turns, and the same for all proxies: as long as it and
// its stand-in both had turns of one bucket, both would pass a share of it.
func (u *upstream) usable(now int64, key uint64) bool {
	if !u.Up() {
		return false
	}
	back := u.back.Load()
	if back == 0 {
		return true
	}
	since := now - back
	if since >= int64(easing) {
		u.back.CompareAndSwap(back, 0)
		return true
	}
	return (key>>32)*uint64(easing) < uint64(max(0, since))<<32
}

// reason is why a limiter did not answer an attempt.
type reason uint8

// The reasons.
const (
	reasonTimeout reason = iota // no answer within attempt-timeout
	reasonLost                  // the connection ended before the answer
	reasonRefused               // it did not take the attempt, or answered that it cannot decide
	reasonCount
)

var reasonNames = [reasonCount]string{"timeout", "lost", "refused"}

// String returns the reason as metrics spell it.
func (r reason) String() string { return reasonNames[r] }
