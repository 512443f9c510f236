package wire

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/levee-project/levee/internal/attempt"
)

// numbered is a Call that can be told from others.
type numbered int

func (numbered) Done(attempt.Outcome, error) {}

// model is what flights are: streams, oldest first.
type model []modelFlight

type modelFlight struct {
	id    uint32
	asked int64
	call  Call
}

func (m *model) remove(i int) modelFlight {
	f := (*m)[i]
	*m = slices.Delete(*m, i, i+1)
	return f
}

func (m model) live() (n int) {
	for _, f := range m {
		if f.call != nil {
			n++
		}
	}
	return n
}

// The ring does what a list would.
func TestFlights(t *testing.T) {
	for _, first := range []uint32{1, maxStream - 20000} {
		f := &flights{}
		f.start(first)
		var m model
		random := rand.New(rand.NewPCG(1, uint64(first)))
		now := int64(0)
		for i := 0; i < 100000 && f.next < maxStream; i++ {
			now += int64(random.IntN(3))
			switch n := random.IntN(100); {
			case n < 45:
				checkAdd(t, f, &m, now, numbered(i))
			case n < 50:
				f.skip()
			case n < 90 && len(m) > 0: // answers come in order, or nearly
				j := min(random.IntN(8), len(m)-1)
				if random.IntN(1000) > 0 && m[j].asked%97 == 0 {
					continue // this one never does
				}
				want := m.remove(j)
				if f.find(want.id) == nil || f.take(want.id) != want.call || f.find(want.id) != nil {
					t.Fatalf("step %d: stream %d is not taken", i, want.id)
				}
			case n < 95:
				checkOverdue(t, f, m, now-20)
			case n < 98:
				checkForgotten(t, f, &m, now-100)
			case n == 98 && random.IntN(100) == 0:
				checkAbove(t, f, &m, random.IntN(20))
			}
			if f.open != len(m) || f.live != m.live() {
				t.Fatalf("step %d: %d open and %d live, want %d and %d", i, f.open, f.live, len(m), m.live())
			}
		}
	}
}

func checkAdd(t *testing.T, f *flights, m *model, now int64, call Call) {
	t.Helper()
	ok, reset := f.room()
	if full := len(*m) > 0 && f.next-(*m)[0].id >= 2*flightSpan; full || reset != 0 {
		oldest := (*m)[0]
		if oldest.call != nil {
			if ok {
				t.Fatalf("there is room though stream %d waits", oldest.id)
			}
			return
		}
		if reset != oldest.id {
			t.Fatalf("%d is reset, not %d", reset, oldest.id)
		}
		m.remove(0)
	}
	if !ok {
		t.Fatalf("there is no room for %d beside %d", f.next, len(*m))
	}
	*m = append(*m, modelFlight{f.next, now, call})
	f.add(now, call)
}

func checkOverdue(t *testing.T, f *flights, m model, before int64) {
	t.Helper()
	for i := range m {
		if m[i].call == nil || m[i].asked > before {
			continue
		}
		if got := f.overdue(before); got != m[i].call {
			t.Fatalf("%v is overdue, not %v", got, m[i].call)
		}
		m[i].call = nil
	}
	if got := f.overdue(before); got != nil {
		t.Fatalf("%v is overdue", got)
	}
}

func checkForgotten(t *testing.T, f *flights, m *model, before int64) {
	t.Helper()
	for len(*m) > 0 && (*m)[0].call == nil && (*m)[0].asked <= before {
		if want, got := m.remove(0).id, f.forgotten(before); got != want {
			t.Fatalf("%d is forgotten, not %d", got, want)
		}
	}
	if got := f.forgotten(before); got != 0 {
		t.Fatalf("%d is forgotten", got)
	}
}

func checkAbove(t *testing.T, f *flights, m *model, newest int) {
	t.Helper()
	at := max(0, len(*m)-newest)
	last := f.next
	if at < len(*m) {
		last = (*m)[at].id - 1
	}
	var want []Call
	for _, gone := range (*m)[at:] {
		if gone.call != nil {
			want = append(want, gone.call)
		}
	}
	*m = (*m)[:at]
	if got := f.above(last); !slices.Equal(got, want) {
		t.Fatalf("above %d: %v, want %v", last, got, want)
	}
}

// Numbers that were never given out are told from those that are closed.
func TestFlightsIdle(t *testing.T) {
	f := &flights{}
	f.start(1)
	f.add(0, numbered(1))
	for id, want := range map[uint32]bool{0: true, 1: false, 2: true, 3: true, maxStream: true} {
		if got := f.idle(id); got != want {
			t.Errorf("%d: %v", id, got)
		}
		if id != 1 && f.find(id) != nil {
			t.Errorf("%d is found", id)
		}
	}
}
