package daemon

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Health answers two questions about the process, for /readyz, /healthz and
// `systemctl status`. Is it ready: should it be sent work? Is it alive, or would
// a restart help?
//
// It goes from starting to serving to draining and never back. While serving it
// is unready for as long as anybody has a reason for it; it is dead for as long
// as anybody has a reason for that. Reasons and notes are kept by source (a
// component's name), so that none hides another's.
//
// The zero value is starting. All methods may be called at any time from any
// goroutine, and those that ask never wait.
type Health struct {
	now atomic.Pointer[condition]
	// changing is held while one condition follows another, so that onChange
	// sees them in order.
	changing sync.Mutex
	// onChange takes the new answer of Ready whenever it differs. May be nil.
	onChange func(text string)
	// onReady are told when Ready turns true or false; changing guards it.
	onReady []func(ok bool)
}

// phase is the part of its life that a process is in.
type phase uint8

const (
	starting phase = iota
	serving
	draining
)

// condition is everything known about the process at one moment. It is
// immutable.
type condition struct {
	phase phase
	// reason says what the start waits for, or why the process drains.
	reason               string
	notes, unready, dead reasons
}

// Ready reports whether the process should be sent work, and a line that says
// more: "ready", "ready (configuration from the cache: etcd is away)",
// "starting: waiting for etcd", "not ready: no observer", "draining: SIGTERM".
func (h *Health) Ready() (ok bool, text string) {
	c := h.load()
	switch {
	case c.phase == starting:
		return false, sentence("starting", c.reason)
	case c.phase == draining:
		return false, sentence("draining", c.reason)
	case len(c.unready) > 0:
		return false, sentence("not ready", c.unready.String())
	case len(c.notes) > 0:
		return true, "ready (" + c.notes.String() + ")"
	default:
		return true, "ready"
	}
}

// Draining reports whether the process is about to end.
func (h *Health) Draining() bool { return h.load().phase == draining }

// Alive reports whether the process works, which it does also while it starts
// and drains, and a line that says more: "alive", "dead: watchdog: no answer".
func (h *Health) Alive() (ok bool, text string) {
	if c := h.load(); len(c.dead) > 0 {
		return false, sentence("dead", c.dead.String())
	}
	return true, "alive"
}

// SetStarting says what the start waits for. It has no effect once started.
func (h *Health) SetStarting(reason string) {
	h.change(func(c *condition) {
		if c.phase == starting {
			c.reason = reason
		}
	})
}

// SetReady ends the start. Run does it when setup has returned.
func (h *Health) SetReady() {
	h.change(func(c *condition) {
		if c.phase == starting {
			c.phase, c.reason = serving, ""
		}
	})
}

// SetDraining begins the end. Run does it when the process is to stop.
func (h *Health) SetDraining(reason string) {
	h.change(func(c *condition) {
		if c.phase != draining {
			c.phase, c.reason = draining, reason
		}
	})
}

// SetUnready gives the source's reason for sending no work here, or takes it
// back when the reason is empty.
func (h *Health) SetUnready(source, reason string) {
	h.change(func(c *condition) { c.unready = c.unready.with(source, reason) })
}

// SetNote gives what a person should know about a process that is ready, or
// takes it back when the text is empty.
func (h *Health) SetNote(source, text string) {
	h.change(func(c *condition) { c.notes = c.notes.with(source, text) })
}

// SetDead gives the source's reason for restarting the process, or takes it
// back when the reason is empty. The answer of Alive names the source.
func (h *Health) SetDead(source, reason string) {
	if reason != "" {
		reason = source + ": " + reason
	}
	h.change(func(c *condition) { c.dead = c.dead.with(source, reason) })
}

// OnReady has tell called with whether the process is ready: now, and whenever that
// has changed, in order. The change waits for it, and it must not make another.
func (h *Health) OnReady(tell func(ok bool)) {
	h.changing.Lock()
	defer h.changing.Unlock()
	h.onReady = append(h.onReady, tell)
	ok, _ := h.Ready()
	tell(ok)
}

func (h *Health) load() condition {
	if c := h.now.Load(); c != nil {
		return *c
	}
	return condition{}
}

func (h *Health) change(edit func(*condition)) {
	h.changing.Lock()
	defer h.changing.Unlock()
	was, before := h.Ready()
	c := h.load()
	edit(&c)
	h.now.Store(&c)
	ok, after := h.Ready()
	if ok != was {
		for _, tell := range h.onReady {
			tell(ok)
		}
	}
	if h.onChange != nil && after != before {
		h.onChange(after)
	}
}

// reasons is a text by source. It is never changed, only replaced.
type reasons map[string]string

// with returns r with the source's text replaced; an empty one is left out.
func (r reasons) with(source, text string) reasons {
	next := maps.Clone(r)
	if next == nil {
		next = reasons{}
	}
	next[source] = text
	if text == "" {
		delete(next, source)
	}
	return next
}

// String returns the texts in the order of their sources.
func (r reasons) String() string {
	texts := make([]string, 0, len(r))
	for _, source := range slices.Sorted(maps.Keys(r)) {
		texts = append(texts, r[source])
	}
	return strings.Join(texts, "; ")
}

// sentence returns "what: why", or what alone.
func sentence(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}
