package harness

import (
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// NotifySocket stands in for systemd's end of sd_notify(3).
type NotifySocket struct {
	// Path is the value of NOTIFY_SOCKET.
	Path string

	mu   sync.Mutex
	said []string // assignments, in order
}

// NewNotifySocket returns a socket that listens until the end of the test.
func NewNotifySocket(t testing.TB) *NotifySocket {
	t.Helper()
	s := &NotifySocket{Path: filepath.Join(t.TempDir(), "notify")}
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: s.Path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.listen(c)
	}()
	t.Cleanup(func() {
		_ = c.Close()
		<-done
		if t.Failed() {
			t.Logf("systemd was told %q", s.Said())
		}
	})
	return s
}

func (s *NotifySocket) listen(c *net.UnixConn) {
	datagram := make([]byte, 64<<10)
	for {
		n, err := c.Read(datagram)
		if err != nil {
			return // closed
		}
		s.mu.Lock()
		s.said = append(s.said, strings.Split(strings.TrimSpace(string(datagram[:n])), "\n")...)
		s.mu.Unlock()
	}
}

// Said returns the assignments received so far, such as READY=1, in order.
func (s *NotifySocket) Said() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.said)
}

// Count returns how often an assignment was received.
func (s *NotifySocket) Count(assignment string) int {
	n := 0
	for _, a := range s.Said() {
		if a == assignment {
			n++
		}
	}
	return n
}

// Wait waits for an assignment, received already or not.
func (s *NotifySocket) Wait(t testing.TB, within time.Duration, assignment string) {
	t.Helper()
	Eventually(t, within, assignment, func() bool { return s.Count(assignment) > 0 })
}
