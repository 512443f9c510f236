package graphite

import (
	"bytes"
	"testing"
)

func pollOf(mark byte, size int) poll {
	return poll{lines: bytes.Repeat([]byte{mark}, size), count: 10}
}

// The queue is bounded, by polls and by octets; the oldest goes first, and the
// newest stays however large it is.
func TestQueueBounds(t *testing.T) {
	t.Parallel()
	q := newQueue()
	dropped := 0
	for i := range maxPolls + 5 {
		dropped += q.put(pollOf(byte(i), 100))
	}
	if dropped != 50 || q.bytes != 100*maxPolls {
		t.Errorf("%d lines dropped, %d octets wait", dropped, q.bytes)
	}
	if p, _ := q.take(); p.lines[0] != 5 {
		t.Errorf("the oldest is %d, want 5", p.lines[0])
	}
	if n := q.put(pollOf(200, maxBytes-100)); n != 10*(maxPolls-2) {
		t.Errorf("a large one drops %d lines, want all but one of the others'", n)
	}
	if n := q.put(pollOf(201, 2*maxBytes)); n != 20 || len(q.polls) != 1 {
		t.Errorf("one beyond the bound drops %d lines; %d wait", n, len(q.polls))
	}
	if p, ok := q.take(); !ok || p.lines[0] != 201 || q.bytes != 0 {
		t.Errorf("left is %v, and %d octets", ok, q.bytes)
	}
}

// At the end the newest is taken first, and then there is no more.
func TestQueueEnd(t *testing.T) {
	t.Parallel()
	q := newQueue()
	for i := range byte(4) {
		q.put(pollOf(i, 1))
	}
	if p, _ := q.wait(t.Context()); p.lines[0] != 0 {
		t.Errorf("took %d, want the oldest", p.lines[0])
	}
	q.close()
	for _, want := range []byte{3, 2} {
		if p, ok := q.wait(t.Context()); !ok || p.lines[0] != want {
			t.Errorf("took %v, want %d", p.lines, want)
		}
	}
	if n := q.clear(); n != 10 {
		t.Errorf("%d lines were left, want 10", n)
	}
	if _, ok := q.wait(t.Context()); ok {
		t.Error("there is more after the end")
	}
}
