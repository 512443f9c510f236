package wire

import (
	"context"
	"net"
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
		} else if ctx.Err() == nil {
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

// TestQuietlyInTheEnd: a drain that is over is no fault.
func TestQuietlyInTheEnd(t *testing.T) {
	t.Parallel()
	s := serve(t, runningClock)
	err := s.Quietly(func() { s.startDrain(t, time.Second)() })
	if err != nil {
		t.Error(err)
	}
}
