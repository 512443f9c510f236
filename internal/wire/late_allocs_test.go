//go:build !race

package wire

import (
	"io"
	"strings"
	"testing"
)

// Answers that come late cost no memory either. (With the race detector, pools
// forget.)
func TestNoAllocationsForLateAnswers(t *testing.T) {
	const n = 32
	s := serve(t, func(o *Options) {
		o.Decider = newRelay(t)
		o.Clock = func() int64 { return 1 } // the tests' own looks who asks
	})
	check := func(name string, once func()) {
		once()
		if allocs := testing.AllocsPerRun(200, once); allocs > 1 { // a collection empties pools
			t.Errorf("%s: %v allocations for %d attempts", name, allocs, n)
		}
	}

	h1 := s.dial(t)
	requests := []byte(strings.Repeat(ask(), n))
	answers := make([]byte, n*len(s.prepared.Load().accepted))
	check("HTTP/1.1", func() {
		_, err := h1.Write(requests)
		must(err)
		_, err = io.ReadFull(h1, answers)
		must(err)
	})

	h2 := s.dial(t)
	_, err := h2.Write(frame{kind: frameSettings}.append([]byte(preface)))
	must(err)
	_, err = io.ReadFull(h2, make([]byte, len(appendSettings(nil))+frameHeader))
	must(err)
	v, others := newVolley(n, same)
	frames := make([]byte, n*len(s.prepared.Load().frames.accepted))
	check("HTTP/2", func() {
		_, err := h2.Write(v.number())
		must(err)
		_, err = io.ReadFull(h2, frames)
		must(err)
		others.next, v = v.next, others
	})
}
