package wire

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"
)

// TestQuietly: whoever connects meanwhile is ignored, which is not the same as
// refused, and gets through afterwards; connections that are there go on.
func TestQuietly(t *testing.T) {
	t.Parallel()
	s := serve(t, runningClock)
	old := s.client(t)
	old.send(ask())
	old.receive("200")
	var late net.Conn
	err := s.Quietly(func() {
		old.send(ask())
		old.receive("200")
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		var d net.Dialer
		if c, err := d.DialContext(ctx, "tcp", s.addr); err == nil {
			late = c
		} else if errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("refused, rather than ignored: %v", err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if late != nil {
		_ = late.Close()
		t.Error("a connection came in meanwhile")
	}
	after := s.client(t)
	after.send(ask())
	after.receive("200")
}

// TestKeptOut: without a filter, too, new connections are ignored rather than refused,
// and those that are there go on.
func TestKeptOut(t *testing.T) {
	t.Parallel()
	s := serve(t, runningClock)
	old := s.client(t)
	old.send(ask())
	old.receive("200")
	for range 3 {
		var admit func() error
		eventually(t, "new connections are kept out", func() bool {
			var err error
			admit, err = s.keepOut()
			return err == nil // a busy machine may take too long
		})
		old.send(ask())
		old.receive("200")
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		var d net.Dialer
		if c, err := d.DialContext(ctx, "tcp", s.addr); err == nil {
			_ = c.Close()
			t.Error("a connection came in")
		} else if errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("refused, rather than ignored: %v", err)
		}
		cancel()
		if err := admit(); err != nil {
			t.Fatal(err)
		}
		after := s.client(t)
		after.send(ask())
		after.receive("200")
	}
}

// TestQuietlyInTheEnd: a drain that is over is no fault.
func TestQuietlyInTheEnd(t *testing.T) {
	t.Parallel()
	s := serve(t, runningClock)
	err := s.Quietly(func() { s.startDrain(t, time.Second)() })
	if err != nil {
		t.Error(err)
	}
}
