package load

import (
	"strings"
	"testing"
	"time"
)

// Slow clients do no harm to a run, and come back when the server has had
// enough of them.
func TestFleet(t *testing.T) {
	t.Parallel()
	l := newLimiter(t, 0) // gives a head 300 ms
	const clients, period = 20, 20 * time.Millisecond
	f := NewFleet(l.addr, clients, period)
	got := run(t, Plan{
		Addr: l.addr, Protocol: HTTP1, Connections: 2, InFlight: 1, Keys: 10, Rate: 200,
		For: 900 * time.Millisecond, Beside: f.Turn,
	})
	if f.Closed() < clients {
		t.Errorf("the server has closed %d connections, and each of %d was too slow", f.Closed(), clients)
	}
	if f.Open() == 0 {
		t.Error("none has come back")
	}
	if err := f.Close(); err != nil || f.Open() != 0 {
		t.Errorf("%d are open, %v", f.Open(), err)
	}
	if got.Accepted() != got.Requests || got.Requests == 0 {
		t.Errorf("beside them: %v", got.Answers)
	}
	if n := l.questions(); n != got.Total {
		t.Errorf("the server has had %d whole requests, %d of them the run's", n, got.Total)
	}
}

func TestFleetSaysWhyItCannotConnect(t *testing.T) {
	t.Parallel()
	gone := listen(t)
	addr := addrOf(t, gone)
	_ = gone.Close()
	f := NewFleet(addr, 2, time.Millisecond)
	f.Turn(0)
	if err := f.Close(); err == nil || f.Closed() != 0 {
		t.Errorf("%v, %d closed", err, f.Closed())
	}
}

func TestIdle(t *testing.T) {
	t.Parallel()
	l := newLimiter(t, 0)
	const many = perSource + 10
	idle, err := OpenIdle(t.Context(), l.addr, many)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	if asked := l.asked.Load(); asked != many {
		t.Errorf("%d questions", asked)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sources["127.0.0.1"] != perSource || l.sources["127.0.0.2"] != many-perSource {
		t.Errorf("connections by source: %v", l.sources)
	}
}

func TestIdleThatIsRefused(t *testing.T) {
	t.Parallel()
	l := newLimiter(t, 3)
	_, err := OpenIdle(t.Context(), l.addr, 10)
	if err == nil || !strings.Contains(err.Error(), "429") || !strings.Contains(err.Error(), "connection 3") {
		t.Errorf("got %v", err)
	}
}
