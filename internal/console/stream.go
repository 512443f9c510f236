package console

import (
	"fmt"
	"net/http"
	"time"
)

const (
	// writeTime is how long a viewer may take to read an event.
	writeTime = 10 * time.Second
	// reconnectTime is how long a browser waits before it comes again.
	reconnectTime = 2 * time.Second
	eventStream   = "text/event-stream"
)

// serveEvents streams frames: first the history, then a frame a second.
func (c *Console) serveEvents(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", eventStream)
		return
	}
	v := c.viewers.add()
	if v == nil {
		busy(w, fmt.Sprintf("%d watch already, and no more can", maxViewers))
		return
	}
	defer c.viewers.remove(v)
	control := http.NewResponseController(w)
	// The deadlines of the server are those of short answers.
	if err := control.SetReadDeadline(time.Time{}); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", eventStream)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy in between shall hand it on at once
	send := func(text string, args ...any) bool {
		if err := control.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
			return false
		}
		if _, err := fmt.Fprintf(w, text, args...); err != nil {
			return false
		}
		return control.Flush() == nil
	}
	if !send("retry: %d\nevent: history\ndata: %s\n\n", reconnectTime.Milliseconds(), c.collector.history.json()) {
		return
	}
	for {
		select {
		case frame, more := <-v.frames:
			if !more || !send("event: frame\ndata: %s\n\n", frame) {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}
