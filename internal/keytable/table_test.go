package keytable

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/gcra"
)

var testKey = Key{0x0706050403020100, 0x0f0e0d0c0b0a0908}

const second = int64(time.Second)

// quota returns a limit of num/den hits a second.
func quota(num, den, burst int64) *gcra.Limit {
	l := gcra.NewLimit(big.NewRat(num, den), big.NewRat(burst, 1), 1)
	return &l
}

// bucket returns a key of 30 bytes that differs from the next one in few bits.
func bucket(n uint64) []byte {
	b := make([]byte, 30)
	copy(b, "tenant/0000/object/")
	binary.BigEndian.PutUint64(b[22:], n)
	return b
}

func TestTakeIsGCRA(t *testing.T) {
	table, l := New(testKey, 0), quota(1, 1, 4)
	accepted := func(at float64, attempts int) (n int) {
		for range attempts {
			if _, ok := table.Take(int64(at*1e9), table.Bucket([]byte("r")), l, 1); ok {
				n++
			}
		}
		return n
	}
	for _, step := range []struct {
		at             float64
		attempts, want int
	}{{0, 6, 5}, {3.0, 1, 1}, {3.1, 1, 1}, {4.0, 1, 1}, {8.0, 1, 1}, {9.5, 1, 1}, {9.5, 6, 4}} {
		if got := accepted(step.at, step.attempts); got != step.want {
			t.Errorf("at %v s: %d of %d accepted, want %d", step.at, got, step.attempts, step.want)
		}
	}
}

func TestTakeReturnsTheStandingTAT(t *testing.T) {
	table, l := New(testKey, 0), quota(1, 1, 1)
	if tat, ok := table.Take(7, table.Bucket([]byte("r")), l, 2); !ok || tat != 7+2*second {
		t.Errorf("two hits on an idle bucket: TAT %d, %v", tat, ok)
	}
	if tat, ok := table.Take(8, table.Bucket([]byte("r")), l, 1); ok || tat != 7+2*second {
		t.Errorf("a rejected hit: TAT %d, %v, want it unchanged", tat, ok)
	}
	if tat, ok := table.Take(9, table.Bucket([]byte("new")), l, 3); ok || tat != 9 || table.Len() != 1 {
		t.Errorf("more hits than fit: TAT %d, %v, %d buckets; want no bucket made", tat, ok, table.Len())
	}
}

func TestPeekChangesNothing(t *testing.T) {
	table, l := New(testKey, 0), quota(1, 1, 4)
	if tat := table.Peek(5, table.Bucket([]byte("r")), l); tat != 5 || table.Len() != 0 {
		t.Errorf("peek at a bucket never seen: TAT %d, %d buckets", tat, table.Len())
	}
	want, _ := table.Take(5, table.Bucket([]byte("r")), l, 3)
	for range 3 {
		if tat := table.Peek(6, table.Bucket([]byte("r")), l); tat != want {
			t.Errorf("peek: TAT %d, want %d", tat, want)
		}
	}
	twice := quota(2, 1, 4)
	if tat := table.Peek(5, table.Bucket([]byte("r")), twice); tat < 5+3*second/2-1000 || tat > 5+3*second/2 {
		t.Errorf("peek under twice the rate: TAT %d, want about half the debt", tat)
	}
	if tat := table.Peek(6, table.Bucket([]byte("r")), l); tat != want {
		t.Errorf("the peek under another rate changed the bucket: TAT %d, want %d", tat, want)
	}
	if tat := table.Peek(6, table.Bucket([]byte("r")), &gcra.Limit{}); tat != want {
		t.Errorf("peek under rate 0: TAT %d, want %d", tat, want)
	}
}

// The debt, counted in hits, survives a change of the rate in either direction.
func TestDebtIsRescaled(t *testing.T) {
	table := New(testKey, 0)
	count := func(l *gcra.Limit) (n int) {
		for range 50 {
			if _, ok := table.Take(0, table.Bucket([]byte("r")), l, 1); ok {
				n++
			}
		}
		return n
	}
	steps := []struct {
		l    *gcra.Limit
		want int
	}{
		{quota(10, 3600, 9), 10},
		{quota(10, 3600, 9), 0},
		{quota(20, 3600, 19), 10},
		{&gcra.Limit{}, 0},
		{quota(5, 3600, 24), 5},
		{quota(1_000_000, 1, 29), 5},
	}
	for i, step := range steps {
		if got := count(step.l); got != step.want {
			t.Errorf("step %d: %d accepted, want %d", i, got, step.want)
		}
	}
}

func TestKeysNeverMix(t *testing.T) {
	table, l := New(testKey, 0), quota(1, 3600, 0)
	for _, size := range []int{1, 64, 200, 1000, 3000} {
		key := []byte(strings.Repeat("x", size))
		for last := range 256 {
			key[size-1] = byte(last)
			if _, ok := table.Take(0, table.Bucket(key), l, 1); !ok && (size > 1 || last != 'x') {
				t.Fatalf("size %d: key ending in %d was taken for another", size, last)
			}
		}
	}
}

func TestGrowthLosesNothing(t *testing.T) {
	table, l := New(testKey, 0), quota(1, 3600, 0)
	const n = 100_000
	for i := range uint64(n) {
		if _, ok := table.Take(0, table.Bucket(bucket(i)), l, 1); !ok {
			t.Fatalf("key %d of %d was taken for another", i, n)
		}
	}
	for i := range uint64(n) {
		if _, ok := table.Take(1, table.Bucket(bucket(i)), l, 1); ok {
			t.Fatalf("key %d of %d was forgotten", i, n)
		}
	}
	if table.Len() != n {
		t.Errorf("%d buckets, want %d", table.Len(), n)
	}
}

// Many goroutines at one bucket pass exactly what one would, while its shard
// grows, is swept, and its interval changes back and forth.
func TestNoInterleavingPassesOneMore(t *testing.T) {
	const workers, rounds, burst = 8, 20_000, 49_999
	// Intervals that a stamp names exactly, so that no change of them rounds.
	table, l, other := New(testKey, 0), quota(1e9, 1<<40, burst), quota(1e9, 1<<41, burst)
	var accepted, sweeps atomic.Int64
	table.Take(0, table.Bucket([]byte("hot")), l, 10) // more debt than the sweeps take for old
	stop := make(chan struct{})
	var disturbers, takers sync.WaitGroup
	disturbers.Go(func() {
		for i := uint64(0); ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			table.Take(0, table.Bucket(bucket(i)), l, 1)
			if i%5000 == 4999 {
				table.Sweep(1<<42, 0) // later than any debt of the crowd
				sweeps.Add(1)
				if n := table.Len(); n > 10_000 {
					t.Errorf("%d buckets after a sweep", n)
				}
			}
		}
	})
	for w := range workers {
		takers.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 1))
			for i := 0; i < rounds || sweeps.Load() < 3; i++ {
				limit := l
				if rnd.IntN(100) == 0 {
					limit = other
				}
				if _, ok := table.Take(0, table.Bucket([]byte("hot")), limit, 1); ok {
					accepted.Add(1)
				}
			}
		})
	}
	takers.Wait()
	close(stop)
	disturbers.Wait()
	if got := accepted.Load() + 10; got != burst+1 {
		t.Errorf("%d accepted, want %d, in %d sweeps", got, burst+1, sweeps.Load())
	}
}

func TestTakeDoesNotAllocate(t *testing.T) {
	table, l, key := New(testKey, 0), quota(1000, 1, 10), bucket(1)
	now := int64(0)
	if n := testing.AllocsPerRun(1000, func() { now += 1000; table.Take(now, table.Bucket(key), l, 1) }); n != 0 {
		t.Errorf("%v allocations per decision", n)
	}
}

func BenchmarkTakeHotKey(b *testing.B) {
	table, l, key := New(testKey, 0), quota(1_000_000, 1, 10), bucket(1)
	now := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		now += 700
		table.Take(now, table.Bucket(key), l, 1)
	}
}

func BenchmarkTakeTenMillionKeys(b *testing.B) {
	benchmarkKeys(b, 10_000_000)
}

func BenchmarkTakeThousandKeys(b *testing.B) {
	benchmarkKeys(b, 1000)
}

func benchmarkKeys(b *testing.B, n uint64) {
	table, l := New(testKey, 0), quota(1_000_000, 1, 10)
	for i := range n {
		table.Take(0, table.Bucket(bucket(i)), l, 1)
	}
	keys := make([][]byte, 1<<16)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range keys {
		keys[i] = bucket(rnd.Uint64N(n))
	}
	now, i := second, 0
	b.ReportAllocs()
	for b.Loop() {
		now += 700
		i++
		table.Take(now, table.Bucket(keys[i&(len(keys)-1)]), l, 1)
	}
	b.ReportMetric(float64(table.Len()), "keys")
}

func ExampleTable() {
	limit := gcra.NewLimit(big.NewRat(1, 1), big.NewRat(1, 1), 1)
	table := New(Key{1, 2}, 0)
	for range 3 {
		_, ok := table.Take(0, table.Bucket([]byte("photos")), &limit, 1)
		fmt.Println(ok)
	}
	// Output:
	// true
	// true
	// false
}
