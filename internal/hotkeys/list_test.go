package hotkeys

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/levee-project/levee/internal/attempt"
)

// checkList wants heap, index and slots to agree.
func checkList(t *testing.T, l *list) {
	t.Helper()
	indexed := 0
	for _, i := range l.index {
		if i != 0 {
			indexed++
		}
	}
	if indexed != l.used {
		t.Fatalf("%d slots are in the index, %d in use", indexed, l.used)
	}
	sum := 0.0
	for p := range l.used {
		i := l.heap[p]
		s := &l.slots[i]
		if int(s.place) != p {
			t.Fatalf("slot %d is at %d of the heap, and says %d", i, p, s.place)
		}
		if parent := l.heap[max(0, p-1)/2]; l.counts[parent] > l.counts[i] {
			t.Fatalf("%f is below %f in the heap", l.counts[i], l.counts[parent])
		}
		if at, _ := l.look(s.id); at != int(i) {
			t.Fatalf("slot %d is found as %d", i, at)
		}
		if s.taken < 0 || l.seen(i) < 0 {
			t.Fatalf("slot %d has taken over %f of %f", i, s.taken, l.counts[i])
		}
		sum += l.counts[i]
	}
	if math.Abs(sum-l.total) > 1e-6*l.total {
		t.Fatalf("the counts are %f together, %f was added", sum, l.total)
	}
}

// FuzzList adds buckets by their hash, chosen to collide in the index, and wants
// what Space-Saving promises of exact counts.
func FuzzList(f *testing.F) {
	f.Add([]byte{1, 0, 1, 2, 0, 1, 1, 0, 9}, uint16(10))
	f.Add([]byte{0, 0, 0, 255, 255, 255}, uint16(Slots))
	f.Fuzz(func(t *testing.T, moves []byte, fill uint16) {
		l, truth, total := new(list), map[uint64]float64{}, 0.0
		add := func(id uint64, weight float64) {
			l.add(&bucket{attempt: &attempt.Attempt{Resource: []byte{1}}, id: id, weight: weight})
			truth[id] += weight
			total += weight
		}
		for i := range uint64(fill % (Slots + 8)) {
			add(i*7, float64(1+i%5))
		}
		for ; len(moves) >= 3; moves = moves[3:] {
			if moves[2] == 255 {
				l.decay(0.5)
				for id := range truth {
					truth[id] /= 2
				}
				total /= 2
				continue
			}
			id := uint64(binary.LittleEndian.Uint16(moves))
			add(id%8+id/8*indexes, float64(moves[2]))
		}
		checkList(t, l)
		if most := total / Slots; l.smallest() > most*(1+1e-9) {
			t.Fatalf("the smallest count is %f, more than %f", l.smallest(), most)
		}
		for id, count := range truth {
			i, _ := l.look(id)
			switch {
			case i < 0 && count > l.smallest()*(1+1e-9):
				t.Fatalf("a bucket with %f is not listed, the smallest has %f", count, l.smallest())
			case i >= 0 && (count > l.counts[i]*(1+1e-9) || count < l.seen(uint16(i))*(1-1e-9)):
				t.Fatalf("a bucket with %f counts %f, of which %f are taken over", count, l.counts[i], l.slots[i].taken)
			}
		}
	})
}
