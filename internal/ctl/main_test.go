package ctl

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// A store that takes connections and says nothing is given up when the operator
// does, and that is all that is said.
func TestInterruptedRead(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var peer sync.WaitGroup
	defer peer.Wait()
	defer func() { _ = l.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	peer.Go(func() {
		if c, err := l.Accept(); err == nil {
			defer func() { _ = c.Close() }()
			cancel()
			_, _ = io.Copy(io.Discard, c)
		}
	})
	args := []string{"--config=", "--storage-addrs=http://" + l.Addr().String(), "--timeout=1m", "limit", "list"}
	err = run(ctx, args, nil, strings.NewReader(""), io.Discard, io.Discard)
	if !errors.Is(err, errInterrupted) {
		t.Errorf("%v", err)
	}
}

// A store that says nothing has --timeout to say something.
func TestReadHasADeadline(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	args := []string{"--config=", "--storage-addrs=http://" + l.Addr().String(), "--timeout=200ms", "limit", "set", "a", "--rate=1", "--burst=1"}
	err = run(t.Context(), args, nil, strings.NewReader(""), io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "etcd at http://"+l.Addr().String()) {
		t.Errorf("%v", err)
	}
}
