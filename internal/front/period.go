package front

import (
	"context"
	"sync/atomic"
	"time"
)

// Period is the time between two rounds of something, such as gc-period. It may
// change while somebody waits.
type Period struct {
	length  atomic.Int64
	changed chan struct{} // told of a new length
}

// NewPeriod returns a period of a length.
func NewPeriod(length time.Duration) *Period {
	p := &Period{changed: make(chan struct{}, 1)}
	p.length.Store(int64(length))
	return p
}

// Set changes the length. Who waits is told, also if it is the same.
func (p *Period) Set(length time.Duration) {
	p.length.Store(int64(length))
	select {
	case p.changed <- struct{}{}:
	default: // it has been told, and has not looked yet
	}
}

// Wait returns when a period is over, and due is true, or when Set was called. It
// returns false for ok when ctx has ended.
func (p *Period) Wait(ctx context.Context) (due, ok bool) {
	timer := time.NewTimer(time.Duration(p.length.Load()))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true, true
	case <-p.changed:
		return false, true
	case <-ctx.Done():
		return false, false
	}
}
