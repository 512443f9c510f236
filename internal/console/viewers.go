package console

import (
	"context"
	"sync"
)

// viewers are the event streams. All get the same frames; one that is slow misses
// some, and holds nobody up.
type viewers struct {
	came chan struct{} // holds one when there is a first one

	mu     sync.Mutex // guards the rest
	all    map[*viewer]bool
	latest []byte // frame
	closed bool
}

// viewer is one event stream.
type viewer struct {
	frames chan []byte // holds the latest that it has not taken; closed at the end
}

func newViewers() *viewers {
	return &viewers{came: make(chan struct{}, 1), all: map[*viewer]bool{}}
}

// await returns true when there is a viewer, false when ctx has ended.
func (vs *viewers) await(ctx context.Context) bool {
	for ctx.Err() == nil {
		if vs.any() {
			return true
		}
		select {
		case <-vs.came:
		case <-ctx.Done():
		}
	}
	return false
}

func (vs *viewers) any() bool {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	return len(vs.all) > 0
}

// add returns a new viewer, and nil when there are enough.
func (vs *viewers) add() *viewer {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if vs.closed || len(vs.all) >= maxViewers {
		return nil
	}
	v := &viewer{frames: make(chan []byte, 1)}
	if len(vs.all) > 0 && vs.latest != nil {
		v.frames <- vs.latest // it is no older than a round
	}
	vs.all[v] = true
	select {
	case vs.came <- struct{}{}:
	default: // it is known
	}
	return v
}

func (vs *viewers) remove(v *viewer) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	delete(vs.all, v)
}

// show hands a frame to everybody, in place of one that was not taken.
func (vs *viewers) show(frame []byte) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	vs.latest = frame
	for v := range vs.all {
		select {
		case <-v.frames:
		default:
		}
		v.frames <- frame
	}
}

// close ends all streams, and those that may come.
func (vs *viewers) close() {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	vs.closed = true
	for v := range vs.all {
		close(v.frames)
	}
	clear(vs.all)
}
