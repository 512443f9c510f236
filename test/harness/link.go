package harness

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
)

// Link is a wire to a server that can be cut and mended: connections to Addr are
// carried on to the server, or end at once while it is cut.
type Link struct {
	// Addr is where to connect instead, ip:port.
	Addr string

	target   string
	listener net.Listener
	carriers sync.WaitGroup

	mu   sync.Mutex // guards what follows
	cut  bool
	ends map[net.Conn]bool // both ends of what is being carried
}

// NewLink returns a whole link to the server at target, ip:port.
func NewLink(t testing.TB, target string) *Link {
	t.Helper()
	return NewLinkAt(t, "127.0.0.1", target)
}

// NewLinkAt is NewLink for those who cannot reach the loopback address.
func NewLinkAt(t testing.TB, host, target string) *Link {
	t.Helper()
	var lc net.ListenConfig
	listener, err := lc.Listen(t.Context(), "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	l := &Link{Addr: listener.Addr().String(), target: target, listener: listener, ends: map[net.Conn]bool{}}
	l.carriers.Go(l.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		l.Cut()
		l.carriers.Wait()
	})
	return l
}

// Cut ends every connection, and each new one, until Mend.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	for c := range l.ends {
		_ = c.Close()
	}
	clear(l.ends)
}

// Mend lets connections through again.
func (l *Link) Mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = false
}

func (l *Link) accept() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return // closed
		}
		l.carriers.Go(func() { l.carry(near) })
	}
}

// carry copies both ways until one end closes.
func (l *Link) carry(near net.Conn) {
	defer near.Close()
	if !l.holds(near) {
		return
	}
	far, err := dial(context.Background(), l.target)
	if err != nil {
		return
	}
	defer far.Close()
	if !l.holds(far) {
		return
	}
	back := make(chan struct{})
	go func() {
		defer close(back)
		_, _ = io.Copy(near, far) // ends with the connection
		_ = near.Close()
	}()
	_, _ = io.Copy(far, near)
	_ = far.Close()
	<-back
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.ends, near)
	delete(l.ends, far)
}

// holds takes note of an end, unless the link is cut.
func (l *Link) holds(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.cut {
		l.ends[c] = true
	}
	return !l.cut
}
