package hotkeys

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"
	"unsafe"

	"github.com/levee-project/levee/internal/attempt"
)

// exactly counts all there is.
type exactly struct {
	counts []float64
	last   int64
}

func (e *exactly) tick(now int64) {
	f := math.Exp2(-float64(now-e.last) / float64(HalfLife))
	for i := range e.counts {
		e.counts[i] *= f
	}
	e.last = now
}

// first returns the n keys with the largest counts.
func (e *exactly) first(n int) []int {
	keys := make([]int, len(e.counts))
	for i := range keys {
		keys[i] = i
	}
	slices.SortFunc(keys, func(a, b int) int { return cmp.Compare(e.counts[b], e.counts[a]) })
	return keys[:n]
}

// offer does what a daemon does for an attempt.
func offer(t *Top, serial uint64, a *attempt.Attempt, level attempt.Level, rejected bool) {
	if n, drawn := t.Draw(serial, a.Hits); drawn {
		t.Add(n, a, level, rejected)
	}
}

// check compares a list with the truth: each entry is within its bound, and so is
// each key that is not listed.
func (e *exactly) check(t *testing.T, l List) {
	t.Helper()
	listed := map[int]bool{}
	for _, entry := range l.Entries {
		key, err := strconv.Atoi(entry.Resource)
		if err != nil {
			t.Fatal(err)
		}
		listed[key] = true
		if truth := e.counts[key]; math.Abs(entry.Count-truth) > entry.Error+1e-6*truth {
			t.Errorf("key %d counts %.0f ± %.0f, in truth %.0f", key, entry.Count, entry.Error, truth)
		}
	}
	for key, truth := range e.counts {
		if !listed[key] && truth > l.Unlisted*(1+1e-6) {
			t.Errorf("key %d is not listed; it has %.0f, more than %.0f", key, truth, l.Unlisted)
		}
	}
}

// TestZipf has ten million attempts on a million keys, in ten seconds, and every
// fifth rejected.
func TestZipf(t *testing.T) {
	const keys, attempts, perSecond, first = 1_000_000, 10_000_000, 1_000_000, 20
	rnd := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rnd, 1.1, 1, keys-1)
	top := New(0, 3)
	all, rejected := exactly{counts: make([]float64, keys)}, exactly{counts: make([]float64, keys)}
	a, now := &attempt.Attempt{Hits: 1}, int64(0)
	for serial := range uint64(attempts) {
		key := zipf.Uint64()
		all.counts[key]++
		if serial%5 == 0 {
			rejected.counts[key]++
		}
		if n, drawn := top.Draw(serial, 1); drawn {
			a.Resource = strconv.AppendUint(a.Resource[:0], key, 10)
			top.Add(n, a, attempt.Resource, serial%5 == 0)
		}
		if (serial+1)%perSecond == 0 {
			now += int64(time.Second)
			top.Tick(now)
			all.tick(now)
			rejected.tick(now)
		}
	}
	r := top.Report(now, Slots)
	for what, l := range map[string]struct {
		List
		*exactly
	}{"attempts": {r.Attempts, &all}, "rejections": {r.Rejections, &rejected}} {
		l.check(t, l.List)
		for rank, key := range l.first(first) {
			at := slices.IndexFunc(l.Entries, func(e Entry) bool { return e.Resource == strconv.Itoa(key) })
			if at < 0 {
				t.Errorf("%s: the key of rank %d is missing", what, rank+1)
				continue
			}
			e := l.Entries[at]
			t.Logf("%s: rank %2d is %2d: %9.0f ± %4.1f %%, in truth %9.0f: off by %4.1f %%", what, rank+1, at+1, e.Count,
				100*e.Error/e.Count, l.counts[key], 100*math.Abs(e.Count/l.counts[key]-1))
		}
	}
	t.Logf("one in %d is counted; what is not listed has at most %.0f", top.mask.Load()+1, r.Attempts.Unlisted)
	if got := unsafe.Sizeof(*top); got > 512<<10 {
		t.Errorf("it takes %d bytes, more than half a mebibyte", got)
	} else {
		t.Logf("it takes %d bytes", got)
	}
	if r.Lost != 0 {
		t.Errorf("%.0f attempts were lost", r.Lost)
	}
}
