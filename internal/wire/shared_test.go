package wire

import (
	"context"
	"net"
	"testing"
	"time"
)

// A listener that systemd holds too outlives a drain: who connects afterwards is
// taken by whoever serves next.
func TestDrainOfASharedListener(t *testing.T) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	o := offline(nil).o
	began := time.Now()
	o.Clock = func() int64 { return int64(time.Since(began)) }
	o.Shared = true
	s := NewServer(l, o)
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := s.Drain(ctx, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Fatal(err)
	}

	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", l.Addr().String())
	if err != nil {
		t.Fatalf("connect after the drain: %v", err)
	}
	defer c.Close()
	next, err := net.FileListener(kept)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	if err := next.(*net.TCPListener).SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	taken, err := next.Accept()
	if err != nil {
		t.Fatalf("the next one takes no connection: %v", err)
	}
	_ = taken.Close()
}
