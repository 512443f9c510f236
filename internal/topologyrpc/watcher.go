package topologyrpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/levee-project/levee/internal/topology"
)

// WatcherOptions is what a watcher needs to know. Its functions are called by
// Run, one at a time.
type WatcherOptions struct {
	// Self is who watches, for observers to tell.
	Self Identity
	// Log takes which observer is followed, and what is wrong with the others.
	// Required.
	Log *slog.Logger
	// Apply takes each view: the first of every observer that is followed, and
	// then each change. Required. Revisions of different observers, or of one
	// before and after its restart, have nothing to do with each other.
	Apply func(*topology.View)
	// Timeout is how long all observers may be out of reach before Lost is called:
	// the option observer-timeout. Required.
	Timeout time.Duration
	// Lost is called once for each time that no observer has been reachable for
	// Timeout. It is told how long it has been, and what is wrong with each of
	// them. The search goes on. May be nil.
	Lost func(since time.Duration, err error)
	// Found is called when an observer has been found again after Lost, and its
	// view applied. May be nil.
	Found func()
}

// Watcher follows one observer at a time, chosen at random so that watchers
// spread evenly, and goes to another one as soon as that fails, hangs (within
// 13 s), says that it stops, or is removed from the list. While there is none it
// goes on searching, and finds one within 4 s of its being back.
type Watcher struct {
	o         WatcherOptions
	roll      atomic.Pointer[roll]
	following atomic.Bool

	// Of the goroutine of Run.
	parted time.Time        // when the last observer was lost
	alarm  <-chan time.Time // when Lost is due; nil once it has been called
	told   bool             // Lost has been called since
	faults map[topology.Addresses]string
}

// roll is the observers that there are. It is immutable.
type roll struct {
	list     []topology.Addresses
	replaced chan struct{} // closed when another roll has followed
}

// NewWatcher returns a watcher that knows no observers yet.
func NewWatcher(o WatcherOptions) *Watcher {
	w := &Watcher{o: o}
	w.roll.Store(&roll{replaced: make(chan struct{})})
	return w
}

// SetObservers replaces the observers that there are. A new one is used from now
// on, and one that is not there any more is left. It may be called at any time.
func (w *Watcher) SetObservers(list []topology.Addresses) {
	old := w.roll.Swap(&roll{list: slices.Clone(list), replaced: make(chan struct{})})
	close(old.replaced)
}

// Following reports whether an observer is being followed now. It may be called at
// any time.
func (w *Watcher) Following() bool { return w.following.Load() }

// has reports whether the observer is there, at the same address.
func (r *roll) has(o topology.Addresses) bool {
	return slices.ContainsFunc(r.list, func(a topology.Addresses) bool {
		return a.Name == o.Name && a.Service == o.Service
	})
}

// Run follows observers until ctx ends.
func (w *Watcher) Run(ctx context.Context) error {
	var last topology.Addresses
	for {
		l := w.search(ctx, last)
		if l == nil {
			return nil
		}
		last = l.observer
		err := w.follow(ctx, l)
		l.close()
		if ctx.Err() == nil {
			w.o.Log.Warn("observer lost, going to another", "observer", last.Name, "addr", last.Service, "err", err)
		}
	}
}

// search returns a link to an observer, or nil when ctx has ended. The one that
// was lost last is the last choice.
func (w *Watcher) search(ctx context.Context, last topology.Addresses) *link {
	alarm := time.NewTimer(w.o.Timeout)
	defer alarm.Stop()
	w.parted, w.alarm, w.told = time.Now(), alarm.C, false
	w.faults = map[topology.Addresses]string{}
	for ctx.Err() == nil {
		if l := w.hunt(ctx, w.roll.Load(), last); l != nil {
			return l
		}
	}
	return nil
}

// follow applies what a link brings, until it fails or its observer is removed.
func (w *Watcher) follow(ctx context.Context, l *link) error {
	w.o.Log.Info("following an observer", "observer", l.observer.Name, "addr", l.observer.Service, "id", l.id)
	defer context.AfterFunc(ctx, func() { l.end(context.Cause(ctx)) })()
	var guard sync.WaitGroup
	defer guard.Wait()
	defer l.end(nil)
	guard.Go(func() { w.leaveWhenRemoved(l) })

	w.apply(l.first)
	w.following.Store(true)
	defer w.following.Store(false)
	if w.told && w.o.Found != nil {
		w.o.Found()
	}
	for {
		v, err := l.next()
		if err != nil {
			return err
		}
		w.apply(v)
	}
}

func (w *Watcher) apply(v *topology.View) {
	w.o.Log.Debug("topology", "revision", v.Revision(), "members", len(v.Members()), "live", v.Live())
	w.o.Apply(v)
}

// leaveWhenRemoved ends a link when its observer is on the roll no more. It
// returns when the link ends.
func (w *Watcher) leaveWhenRemoved(l *link) {
	for {
		r := w.roll.Load()
		if !r.has(l.observer) {
			l.end(errRemoved)
			return
		}
		select {
		case <-r.replaced:
		case <-l.ctx.Done():
			return
		}
	}
}

// lost tells that no observer on the roll has been reachable for too long.
func (w *Watcher) lost(r *roll) {
	w.alarm, w.told = nil, true
	if w.o.Lost == nil {
		return
	}
	why := make([]string, 0, len(r.list))
	for _, o := range r.list {
		text, failed := w.faults[o]
		if !failed {
			text = "no answer yet"
		}
		why = append(why, fmt.Sprintf("%s (%s): %s", o.Name, o.Service, text))
	}
	if len(why) == 0 {
		why = append(why, "the shared configuration has no valid entry observer/<NAME>")
	}
	w.o.Lost(time.Since(w.parted), errors.New(strings.Join(why, "; ")))
}
