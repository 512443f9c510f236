package topologyrpc

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/levee-project/levee/internal/topology"
)

const (
	// headStart is how long an observer has the field to itself before the next
	// one is tried as well. One that is up answers within a fraction of it.
	headStart = 100 * time.Millisecond
	// An observer that failed is tried again after a pause between these, which
	// doubles each time, give or take a quarter.
	shortPause = 200 * time.Millisecond
	longPause  = 1500 * time.Millisecond
)

// fault is why an observer cannot be followed.
type fault struct {
	observer topology.Addresses
	err      error
}

// hunt tries the observers on a roll, in random order, each again and again,
// until one answers. It returns nil when the roll has been replaced or ctx has
// ended.
func (w *Watcher) hunt(ctx context.Context, r *roll, last topology.Addresses) *link {
	hunting, over := context.WithCancel(ctx)
	var tries sync.WaitGroup
	defer tries.Wait()
	defer over()
	found, faults := make(chan *link), make(chan fault)
	for i, o := range order(r.list, last) {
		wait := time.Duration(i) * headStart
		if o == last {
			wait += pause(0) // it may break again as soon as it is reached
		}
		tries.Go(func() { try(hunting, o, &w.o.Self, wait, found, faults) })
	}
	for {
		select {
		case l := <-found:
			return l
		case f := <-faults:
			w.note(f)
		case <-w.alarm:
			w.lost(r)
		case <-r.replaced:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// order returns the observers in random order, but last at the end.
func order(list []topology.Addresses, last topology.Addresses) []topology.Addresses {
	shuffled := make([]topology.Addresses, len(list))
	for i, from := range rand.Perm(len(list)) { //nolint:gosec // spreads watchers, hides nothing
		shuffled[i] = list[from]
	}
	for i, o := range shuffled {
		if o == last {
			end := len(shuffled) - 1
			shuffled[i], shuffled[end] = shuffled[end], o
			break
		}
	}
	return shuffled
}

// try tries one observer until it answers or ctx ends.
func try(
	ctx context.Context, o topology.Addresses, self *Identity, wait time.Duration, found chan<- *link, faults chan<- fault,
) {
	for failures := 0; rest(ctx, wait); failures++ {
		l, err := open(ctx, o, self)
		if err != nil {
			select {
			case faults <- fault{o, err}:
			case <-ctx.Done():
			}
			wait = pause(failures)
			continue
		}
		select {
		case found <- l:
		case <-ctx.Done():
			l.close() // another one was quicker
		}
		return
	}
}

// rest waits, and reports false if ctx ended meanwhile.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// pause is how long an observer is left alone that has failed, and failed so
// many times before in this hunt.
func pause(before int) time.Duration {
	d := min(shortPause<<min(before, 10), longPause)
	return d*3/4 + rand.N(d/2) //nolint:gosec // spreads attempts, hides nothing
}

// note logs what is wrong with an observer, once for each fault and outage.
func (w *Watcher) note(f fault) {
	text := f.err.Error()
	if w.faults[f.observer] == text {
		return
	}
	w.faults[f.observer] = text
	w.o.Log.Warn("observer cannot be followed", "observer", f.observer.Name, "addr", f.observer.Service, "err", text)
}
