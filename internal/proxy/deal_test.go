package proxy

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/levee-project/levee/internal/attempt"
)

// Each bucket is dealt over its group one after the other, whatever comes in
// between: of n attempts no limiter gets more than one above another.
func TestEachBucketIsDealtEvenly(t *testing.T) {
	for _, factor := range []uint32{1, 2, 3, 7} {
		d := newDeals()
		places := map[string][]uint32{}
		for range 5000 {
			resource, method := fmt.Sprint("r", rand.IntN(5)), []string{"", "GET", "POST"}[rand.IntN(3)]
			turn := d.turn(attempt.Method, question(resource, method, 1))
			places[resource+method] = append(places[resource+method], turn%factor)
		}
		for bucket, all := range places {
			for i, place := range all {
				if place != (all[0]+uint32(i))%factor {
					t.Fatalf("D = %d, bucket %s: attempt %d goes to %d after starting at %d", factor, bucket, i, place, all[0])
				}
			}
		}
	}
}

// What a peek is told is what the next attempt gets.
func TestPeekKeepsTheTurn(t *testing.T) {
	d := newDeals()
	for i := range 20 {
		peek := d.turn(attempt.Resource, question("r", "", 0))
		again := d.turn(attempt.Resource, question("r", "", 0))
		if turn := d.turn(attempt.Resource, question("r", "", 1)); peek != turn || again != turn {
			t.Fatalf("attempt %d: peeks at %d and %d, then turn %d", i, peek, again, turn)
		}
	}
}

func TestStartsAtRandom(t *testing.T) {
	a, b := newDeals(), newDeals()
	const buckets, factor = 3000, 3
	var starts [factor]int
	same := 0
	for i := range buckets {
		q := question(fmt.Sprint(i), "", 1)
		x, y := a.turn(attempt.Resource, q)%factor, b.turn(attempt.Resource, q)%factor
		starts[x]++
		if x == y {
			same++
		}
	}
	for place, n := range append(starts[:], same) {
		if n < buckets/factor*8/10 || n > buckets/factor*12/10 {
			t.Errorf("%d: %d of %d buckets, want about a third", place, n, buckets)
		}
	}
}

func TestDealtBucketIsThatOfItsLevel(t *testing.T) {
	d := newDeals()
	full := func(r, p, m string) *attempt.Attempt {
		return &attempt.Attempt{Resource: []byte(r), Prefix: []byte(p), Method: []byte(m), Hits: 1}
	}
	same := func(level attempt.Level, x, y *attempt.Attempt) bool { return d.hash(level, x) == d.hash(level, y) }
	long := string(make([]byte, 900))
	for _, test := range []struct {
		level attempt.Level
		x, y  *attempt.Attempt
		same  bool
	}{
		{attempt.None, full("r", "p", "m"), full("r", "", ""), true},
		{attempt.Resource, full("r", "p", "m"), full("r", "q", "n"), true},
		{attempt.Method, full("r", "p", "m"), full("r", "q", "m"), true},
		{attempt.Method, full("r", "p", "m"), full("r", "p", "n"), false},
		{attempt.Full, full("r", "p", "m"), full("r", "q", "m"), false},
		{attempt.Full, full("a/b", "", "c"), full("a", "b", "c"), false},
		{attempt.Full, full(long, long, "m"), full(long, long, "m"), true},
		{attempt.Full, full(long, long, "m"), full(long, long, "n"), false},
		{attempt.Resource, full(long, long, "m"), full(long, "", ""), true},
	} {
		if same(test.level, test.x, test.y) != test.same {
			t.Errorf("%v: %.20s and %.20s: same bucket = %v, want %v", test.level,
				test.x.Resource, test.y.Resource, !test.same, test.same)
		}
	}
}

func TestCollect(t *testing.T) {
	d := newDeals()
	deal := func(from, to uint64) {
		for b := from; b < to; b++ {
			d.deal(b, 1)
		}
	}
	deal(0, 1000)
	next := d.deal(5, 1) + 1
	if n := d.collect(); n != 0 || d.len() != 1000 {
		t.Fatalf("%d dropped, %d left: all were used since the start", n, d.len())
	}
	if turn := d.deal(5, 0); turn != next {
		t.Errorf("turn %d after a collection, want %d", turn, next)
	}
	deal(0, 400)
	deal(1000, 1100)
	if d.len() != 1100 {
		t.Errorf("%d buckets, want 1100", d.len())
	}
	if n := d.collect(); n != 600 || d.len() != 500 {
		t.Errorf("%d dropped, %d left, want 600 and 500: those that were used", n, d.len())
	}
	if n := d.collect(); n != 500 || d.len() != 0 {
		t.Errorf("%d dropped, %d left, want 500 and none", n, d.len())
	}
}

// However many deal one bucket at once, and whatever is collected meanwhile, each
// gets a turn of its own.
func TestDealConcurrently(t *testing.T) {
	const workers, each = 8, 2000
	d := newDeals()
	first := d.deal(7, 0)
	turns := make(chan uint32, workers*each)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range each {
				turns <- d.deal(7, 1) - first
			}
		})
	}
	wg.Go(func() {
		for range 100 {
			d.collect()
			d.deal(7, 0)
		}
	})
	wg.Wait()
	close(turns)
	seen := make([]bool, workers*each)
	for turn := range turns {
		if turn >= workers*each || seen[turn] {
			t.Fatalf("turn %d is given twice, or out of order", turn)
		}
		seen[turn] = true
	}
}

func BenchmarkDealHotKey(b *testing.B) {
	d := newDeals()
	a := question("tenant-000123/object/photos-ab", "", 1)
	b.ReportAllocs()
	for b.Loop() {
		d.turn(attempt.Resource, a)
	}
}

func BenchmarkDealMillionKeys(b *testing.B) {
	d, key := newDeals(), make([]byte, 30)
	a := &attempt.Attempt{Resource: key, Hits: 1}
	before := heap()
	for i := range uint64(1_000_000) {
		binary.BigEndian.PutUint64(key[22:], i)
		d.turn(attempt.Resource, a)
	}
	each := float64(heap()-before) / 1e6
	i := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		i++
		binary.BigEndian.PutUint64(key[22:], i*0x9e3779b97f4a7c15%1_000_000)
		d.turn(attempt.Resource, a)
	}
	b.ReportMetric(each, "B/key")
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
