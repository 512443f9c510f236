package wire

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"
)

// TestQuietly: when the time has come, nobody is connected, and nobody can connect;
// but nobody was refused, and no attempt lost, over kept and new connections.
func TestQuietly(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]func(s *testServer, do func()){
		"alone":    func(s *testServer, do func()) { s.Quietly(context.Background(), do) },
		"farewell": func(s *testServer, do func()) { s.Dismiss(context.Background(), 50*time.Millisecond, do) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, runningClock)
			idle := s.client(t)
			idle.send(ask())
			idle.receive("200")
			stop := make(chan struct{})
			var callers sync.WaitGroup
			for range 8 {
				callers.Go(func() { callUntil(t, s.addr, stop) })
			}
			by(s, func() {
				s.awaitConnections(t, 0)
				idle.receiveEnd()
				wantIgnored(t, s.addr)
			})
			kept := s.client(t)
			for range 2 {
				kept.send(ask())
				kept.receive("200")
			}
			close(stop)
			callers.Wait()
		})
	}
}

// wantIgnored fails the test unless whoever connects hears nothing.
func wantIgnored(t *testing.T, addr string) {
	t.Helper()
	const time = 100 * time.Millisecond
	c, err := net.DialTimeout("tcp", addr, time)
	var timeout net.Error
	switch {
	case err == nil:
		_ = c.Close()
		t.Error("a connection came in meanwhile")
	case !errors.As(err, &timeout) || !timeout.Timeout():
		t.Errorf("refused, rather than ignored: %v", err)
	}
}

// callUntil makes one attempt after the other, over new connections, each of which
// must be answered.
func callUntil(t *testing.T, addr string, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		if err := callOnce(addr); err != nil {
			t.Errorf("an attempt is lost: %v", err)
			return
		}
	}
}

func callOnce(addr string) error {
	c, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := c.Write([]byte(ask())); err != nil {
		return err
	}
	_, err = c.Read(make([]byte, 1024))
	return err
}

// TestQuietlyInTheEnd: after a drain it is done at once.
func TestQuietlyInTheEnd(t *testing.T) {
	t.Parallel()
	s := serve(t, runningClock)
	s.startDrain(t, time.Second)()
	done := false
	s.Quietly(context.Background(), func() { done = true })
	if !done {
		t.Error("it is not done")
	}
}
