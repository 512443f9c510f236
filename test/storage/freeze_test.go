package storage

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/levee-project/levee/test/etcdtest"
)

// wire passes TCP connections on to a server, and can freeze them: they stay
// open, and nothing comes through, as behind a broken switch.
type wire struct {
	listener net.Listener
	target   string
	wg       sync.WaitGroup

	mu     sync.Mutex
	gate   sync.Cond // on mu
	frozen bool
	conns  []net.Conn
}

func newWire(t *testing.T, target string) *wire {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: l, target: target}
	w.gate.L = &w.mu
	w.wg.Go(func() { w.accept(t.Context()) })
	t.Cleanup(w.close)
	return w
}

func (w *wire) accept(ctx context.Context) {
	for {
		in, err := w.listener.Accept()
		if err != nil {
			return
		}
		out, err := new(net.Dialer).DialContext(ctx, "tcp", w.target)
		if err != nil {
			_ = in.Close()
			continue
		}
		w.mu.Lock()
		w.conns = append(w.conns, in, out)
		w.mu.Unlock()
		w.wg.Go(func() { w.copy(out, in) })
		w.wg.Go(func() { w.copy(in, out) })
	}
}

func (w *wire) copy(dst, src net.Conn) {
	defer func() { _ = dst.Close() }()
	buf := make([]byte, 32<<10)
	for {
		n, err := src.Read(buf)
		w.mu.Lock()
		for w.frozen {
			w.gate.Wait()
		}
		w.mu.Unlock()
		if _, werr := dst.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}

func (w *wire) freeze(frozen bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frozen = frozen
	w.gate.Broadcast()
}

func (w *wire) close() {
	_ = w.listener.Close()
	w.freeze(false)
	w.mu.Lock()
	for _, c := range w.conns {
		_ = c.Close()
	}
	w.mu.Unlock()
	w.wg.Wait()
}

// TestFrozen holds that a connection over which nothing comes is noticed, and
// that the store is back when it thaws.
func TestFrozen(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.Options{})
	s.Put("/levee/a", "1")
	conf := quick(s)
	w := newWire(t, s.Endpoint()[len("http://"):])
	conf.Endpoints, conf.Timeout = []string{"http://" + w.listener.Addr().String()}, 400*time.Millisecond
	r := follow(t, conf)
	r.waitTree("a", "1")
	w.freeze(true)
	s.Put("/levee/a", "2")
	r.waitAway("no answer within 400ms")
	w.freeze(false)
	r.waitTree("a", "2")
	s.Put("/levee/a", "3")
	r.waitTree("a", "3")
	w.freeze(true)
	r.waitAway("no answer within 400ms") // and then ends while it is frozen
}
