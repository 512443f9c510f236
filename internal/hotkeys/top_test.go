package hotkeys

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
)

func question(resource, prefix, method string, hits uint32) *attempt.Attempt {
	return &attempt.Attempt{Resource: []byte(resource), Prefix: []byte(prefix), Method: []byte(method), Hits: hits}
}

// A low load is counted exactly, whatever the hits; a peek counts nothing.
func TestExactWhileFew(t *testing.T) {
	top := New(0, 1)
	serial := uint64(0)
	for _, hits := range []uint32{0, 1, 2, 63, 1000, attempt.MaxHits} {
		for range 3 {
			serial++
			offer(top, serial, question(fmt.Sprint("r", hits), "", "", hits), attempt.Resource, hits == 63)
		}
	}
	want := Report{
		Seconds: 1,
		Attempts: List{Total: 3*attempt.MaxHits + 3198, Entries: []Entry{
			{Resource: "r1000000", Level: attempt.Resource, Count: 3 * attempt.MaxHits},
			{Resource: "r1000", Level: attempt.Resource, Count: 3000},
			{Resource: "r63", Level: attempt.Resource, Count: 189},
			{Resource: "r2", Level: attempt.Resource, Count: 6},
			{Resource: "r1", Level: attempt.Resource, Count: 3},
		}},
		Rejections: List{Total: 189, Entries: []Entry{{Resource: "r63", Level: attempt.Resource, Count: 189}}},
	}
	if got := top.Report(0, 10); !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	got := top.Report(0, 2).Attempts
	if len(got.Entries) != 2 || got.Unlisted != 189 {
		t.Errorf("two entries: %+v", got)
	}
}

// Buckets are told apart as the quotas do.
func TestBuckets(t *testing.T) {
	top := New(0, 1)
	for i, q := range []struct {
		a     *attempt.Attempt
		level attempt.Level
	}{
		{question("a/b", "", "c", 1), attempt.Full},
		{question("a", "b", "c", 1), attempt.Full},
		{question("a", "b/c", "", 1), attempt.Full},
		{question("a", "b", "c", 1), attempt.Method},
		{question("a", "x", "c", 1), attempt.Method},
		{question("a", "b", "c", 1), attempt.Resource},
		{question("a", "b", "d", 1), attempt.None}, // the same bucket by now
	} {
		offer(top, uint64(i), q.a, q.level, false)
	}
	got := map[string]float64{}
	for _, e := range top.Report(0, 10).Attempts.Entries {
		got[fmt.Sprintf("%s|%s|%s|%s", e.Resource, e.Prefix, e.Method, e.Level)] = e.Count
	}
	want := map[string]float64{"a/b||c|full": 1, "a|b|c|full": 1, "a|b/c||full": 1, "a||c|method": 2, "a|||none": 2}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %v\nwant %v", got, want)
	}
}

// Long names are cut, the longest part first, and stay apart.
func TestLongNames(t *testing.T) {
	long := strings.Repeat
	tests := []struct {
		a       *attempt.Attempt
		lengths [3]int
		cut     bool
	}{
		{question(long("r", 189), "", "", 1), [3]int{189}, false},
		{question(long("r", 190), "", "", 1), [3]int{190}, true}, // as long with its lengths as what is cut
		{question(long("r", 1024), "", "", 1), [3]int{192}, true},
		{question("r", long("p", 1024), "GET", 1), [3]int{1, 188, 3}, true},
		{question(long("r", 1024), long("p", 1024), long("m", 1024), 1), [3]int{64, 64, 64}, true},
		{question(long("r", 1024), long("p", 1024), "GET", 1), [3]int{94, 94, 3}, true},
	}
	for _, tt := range tests {
		top := New(0, 1)
		offer(top, 1, tt.a, attempt.Full, false)
		tt.a.Resource[len(tt.a.Resource)-1]++
		offer(top, 2, tt.a, attempt.Full, false)
		entries := top.Report(0, 10).Attempts.Entries
		if len(entries) != 2 || tt.cut && entries[0].Digest == entries[1].Digest {
			t.Errorf("two names are %+v", entries)
		}
		for _, e := range entries {
			if got := [3]int{len(e.Resource), len(e.Prefix), len(e.Method)}; got != tt.lengths || e.Digest != 0 != tt.cut {
				t.Errorf("%d octets are kept, digest %x; want %d", got, e.Digest, tt.lengths)
			}
		}
	}
}

// What was counted a half-life ago counts half, and the rate of what goes on does
// not depend on when that began.
func TestDecay(t *testing.T) {
	top, now, serial := New(0, 1), int64(0), uint64(0)
	seconds := func(n, perSecond int) {
		for range n {
			for range perSecond {
				serial++
				offer(top, serial, question("r", "", "", 1), attempt.Resource, true)
			}
			now += int64(time.Second)
			top.Tick(now)
		}
	}
	for _, n := range []int{1, 10, 100, 1000} {
		seconds(n, 100)
		r := top.Report(now, 1)
		if rate := r.Attempts.Entries[0].Count / r.Seconds; math.Abs(rate-100) > 1.2 {
			t.Errorf("after %v the rate is %.1f, want 100", time.Duration(now), rate)
		}
	}
	before := top.Report(now, 1)
	now += int64(HalfLife)
	after := top.Report(now, 1)
	for what, counts := range map[string][2]float64{
		"attempts":   {before.Attempts.Entries[0].Count, after.Attempts.Entries[0].Count},
		"rejections": {before.Rejections.Entries[0].Count, after.Rejections.Entries[0].Count},
		"the total":  {before.Attempts.Total, after.Attempts.Total},
	} {
		if math.Abs(counts[1]/counts[0]-0.5) > 1e-9 {
			t.Errorf("%s fell from %f to %f in a half-life", what, counts[0], counts[1])
		}
	}
	now += 20 * int64(HalfLife)
	if r := top.Report(now, 10); len(r.Attempts.Entries) != 0 || r.Attempts.Unlisted > 0.1 {
		t.Errorf("long after the last attempt: %+v", r.Attempts)
	}
	top.Tick(now - int64(time.Hour)) // a clock that goes back is waited for
	if r := top.Report(now, 10); r.Attempts.Total > 0.1 {
		t.Errorf("the clock went back: %+v", r.Attempts)
	}
}

// A flood of millions of keys, each new, does not push out the few that have more
// than their part, though these began later; and neither do attempts of many hits.
func TestFlood(t *testing.T) {
	for name, hits := range map[string]uint32{"single hits": 1, "many hits": 300} {
		const heavy, keys = 40, 2_000_000
		rnd := rand.New(rand.NewPCG(4, uint64(hits)))
		top, now := New(0, 5), int64(0)
		all := exactly{counts: make([]float64, keys+heavy)}
		for serial := range uint64(keys) {
			key, n := int(serial), hits
			if serial > keys/10 && rnd.IntN(4) == 0 {
				key, n = keys+rnd.IntN(heavy), 1+rnd.Uint32N(2*hits)
			}
			all.counts[key] += float64(n)
			offer(top, serial, question(strconv.Itoa(key), "", "", n), attempt.Resource, false)
			if serial%250_000 == 249_999 {
				now += int64(time.Second)
				top.Tick(now)
				all.tick(now)
			}
		}
		r := top.Report(now, Slots)
		all.check(t, r.Attempts)
		if r.Attempts.Unlisted > all.counts[all.first(heavy)[heavy-1]] {
			t.Errorf("%s: what is not listed may have %.0f", name, r.Attempts.Unlisted)
		}
		for i, e := range r.Attempts.Entries[:heavy] {
			if key, _ := strconv.Atoi(e.Resource); key < keys {
				t.Errorf("%s: key %d of the flood is listed as number %d: %+v", name, key, i+1, e)
			}
		}
	}
}

// Counts are right on average, whatever the hits and the rate: over many short
// runs, the sums are close to the truth.
func TestUnbiased(t *testing.T) {
	for _, hits := range []uint32{1, 7, 100} {
		const runs, each = 60, 50_000
		sum := 0.0
		for run := range uint64(runs) {
			top := New(0, run)
			for serial := range uint64(each) {
				offer(top, serial, question("r", "", "", hits), attempt.Resource, false)
			}
			sum += top.Report(0, 1).Attempts.Entries[0].Count
		}
		want := float64(runs * each * hits)
		if math.Abs(sum/want-1) > 0.01 {
			t.Errorf("%d hits: %.0f were counted, want about %.0f", hits, sum, want)
		}
	}
}

// N follows the load, up at once and down with the next ticks, also while somebody
// looks all the time.
func TestPace(t *testing.T) {
	top, now, serial := New(0, 1), int64(0), uint64(0)
	second := func(attempts int) (sampled int) {
		for range attempts {
			serial++
			if n, drawn := top.Draw(serial, 1); drawn {
				top.Add(n, question("r", "", "", 1), attempt.Resource, false)
				sampled++
			}
		}
		for range 10 {
			now += int64(time.Second) / 10
			top.Report(now, 1)
		}
		top.Tick(now)
		return sampled
	}
	for _, load := range []struct {
		attempts int
		n        uint32
	}{
		{10, 1}, {800, 1}, {8000, 4}, {1_000_000, 64}, {100_000, 8}, {10, 1}, {3_000_000, 256}, {0, 1}, {3_000_000, 256}, {10, 1},
	} {
		second(load.attempts)
		second(load.attempts)
		sampled := second(load.attempts)
		if n := top.mask.Load() + 1; n != load.n && n != 2*load.n || sampled > most {
			t.Errorf("at %d a second one in %d is counted, %d in all; want one in %d or half of that", load.attempts, n, sampled, load.n)
		}
	}
}

// Whoever counts does not wait, and nothing is counted in two ways.
func TestTogether(t *testing.T) {
	const counters, each = 4, 50_000
	top := New(0, 1)
	var wg sync.WaitGroup
	for c := range counters {
		wg.Go(func() {
			a := question("", "", "", 1)
			for i := range each {
				a.Resource = strconv.AppendInt(a.Resource[:0], int64(i%3000), 10)
				top.Add(1, a, attempt.Resource, c == 0)
			}
		})
	}
	for range 20 {
		top.Report(0, 10)
		top.Tick(0)
	}
	wg.Wait()
	r := top.Report(0, Slots)
	if got := r.Attempts.Total + r.Lost; got != counters*each {
		t.Errorf("%.0f counted and %.0f lost are %.0f, want %d", r.Attempts.Total, r.Lost, got, counters*each)
	}
	t.Logf("%.0f of %d were lost", r.Lost, counters*each)
	top.mu.Lock() // somebody is at work
	top.Add(5, question("r", "", "", 1), attempt.Resource, false)
	top.mu.Unlock()
	if now := top.Report(0, 1); now.Lost != r.Lost+5 {
		t.Errorf("%.0f lost, then %.0f; want 5 more", r.Lost, now.Lost)
	}
}

func TestNoAllocation(t *testing.T) {
	top := New(0, 1)
	short, long := question("", "p", "m", 1), question(strings.Repeat("r", 1000), strings.Repeat("p", 1000), "m", 1)
	i := int64(0)
	add := func() {
		i++
		short.Resource = strconv.AppendInt(short.Resource[:0], i, 10)
		long.Resource = strconv.AppendInt(long.Resource[:999], i, 10)
		top.Add(1, short, attempt.Full, true)
		top.Add(1, long, attempt.Full, true)
		top.Draw(uint64(i), 1)
	}
	add()
	if n := testing.AllocsPerRun(5000, add); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, keys := range []int64{1, 100, 1 << 40} {
		b.Run(fmt.Sprint(keys, " keys"), func(b *testing.B) {
			top, a, i := New(0, 1), question("tenant-000123/object/", "", "", 1), int64(0)
			for b.Loop() {
				i++
				a.Resource = strconv.AppendInt(a.Resource[:21], i%keys, 10)
				top.Add(64, a, attempt.Resource, false)
			}
		})
	}
}
