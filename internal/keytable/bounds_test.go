package keytable

import (
	"math/rand/v2"
	"sync"
	"testing"
)

func TestSweepDropsIdleAndKeepsDebt(t *testing.T) {
	table := New(testKey, 0)
	short, long := quota(1, 1, 0), quota(1, 3600, 0)
	for i := range uint64(1000) {
		table.Take(0, table.Bucket(bucket(i)), short, 1)
	}
	table.Take(0, table.Bucket([]byte("owing")), long, 1)

	if n := table.Sweep(2*second, 2*second); n != 0 {
		t.Errorf("swept %d buckets that were idle for 1 s only, want none for 2 s", n)
	}
	if n := table.Sweep(3*second, 2*second); n != 1000 {
		t.Errorf("swept %d, want 1000", n)
	}
	if table.Len() != 1 || table.Collected() != 1000 {
		t.Errorf("%d buckets left, %d collected", table.Len(), table.Collected())
	}
	if _, ok := table.Take(3*second, table.Bucket([]byte("owing")), long, 1); ok {
		t.Error("the sweep forgot a debt")
	}
	if n := table.Sweep(7200*second, 0); n != 1 || table.Len() != 0 {
		t.Errorf("swept %d, %d left", n, table.Len())
	}
}

func TestSweepGivesMemoryBack(t *testing.T) {
	table, l := New(testKey, 0), quota(1000, 1, 0)
	for i := range uint64(50_000) {
		table.Take(0, table.Bucket(bucket(i)), l, 1)
	}
	table.Take(second, table.Bucket([]byte("recent")), l, 1)
	table.Sweep(second, 0)
	slots := 0
	for i := range table.shards {
		if p := table.shards[i].slots.Load(); p != nil {
			slots += p.len()
		}
	}
	if slots > 64 {
		t.Errorf("%d slots kept for one bucket", slots)
	}
}

func TestMaxKeysEvictsNearestToExpiryFirst(t *testing.T) {
	const bound = 100
	table, l := New(testKey, bound), quota(1, 10, bound*2)
	for i := range uint64(bound) { // bucket i owes i+1 hits
		table.Take(0, table.Bucket(bucket(i)), l, int64(i)+1)
	}
	for i := range uint64(10) {
		table.Take(0, table.Bucket(bucket(1000+i)), l, bound+1)
	}
	if table.Len() != bound || table.Evicted() != 10 {
		t.Fatalf("%d buckets, %d evicted", table.Len(), table.Evicted())
	}
	for i := range uint64(bound) {
		forgotten := table.Peek(0, table.Bucket(bucket(i)), l) == 0
		if forgotten != (i < 10) {
			t.Errorf("bucket that owes %d hits: forgotten %v", i+1, forgotten)
		}
	}
}

func TestMaxKeysCollectsIdleBeforeItEvicts(t *testing.T) {
	const bound = 100
	table, l := New(testKey, bound), quota(1, 1, 0)
	for i := range uint64(bound) {
		table.Take(int64(i)*second/100, table.Bucket(bucket(i)), l, 1)
	}
	table.Take(3*second/2, table.Bucket(bucket(1000)), l, 1) // half of the others are idle by now
	if table.Evicted() != 0 || table.Collected() == 0 || table.Len() > bound {
		t.Errorf("%d evicted, %d collected, %d left", table.Evicted(), table.Collected(), table.Len())
	}
	if table.Peek(3*second/2, table.Bucket(bucket(99)), l) == 3*second/2 {
		t.Error("a debt was dropped though there were idle buckets")
	}
}

func TestMaxKeysHoldsUnderConcurrency(t *testing.T) {
	const bound = 500
	table, l := New(testKey, bound), quota(1, 3600, 0)
	var wg sync.WaitGroup
	for w := range uint64(8) {
		wg.Go(func() {
			for i := range uint64(2000) {
				table.Take(0, table.Bucket(bucket(w<<32|i)), l, 1)
				if n := table.Len(); n > bound {
					t.Errorf("%d buckets, bound %d", n, bound)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := table.Evicted(); n < 8*2000-bound || n > 8*2000-bound+sampleBatch {
		t.Errorf("%d evicted, want %d, or one batch more", n, 8*2000-bound)
	}
}

func TestTrimAfterLoweringTheBound(t *testing.T) {
	table, l := New(testKey, 0), quota(1, 3600, 0)
	for i := range uint64(5000) {
		table.Take(0, table.Bucket(bucket(i)), l, 1)
	}
	table.SetMaxKeys(300)
	table.Trim(0)
	if table.Len() > 300 {
		t.Errorf("%d buckets after the trim, want at most 300", table.Len())
	}
}

// The counters of the table agree with what is in it after a random life.
func TestCountsAgreeWithContents(t *testing.T) {
	table, l := New(testKey, 2000), quota(1, 1, 5)
	rnd := rand.New(rand.NewPCG(3, 4))
	now := int64(0)
	for range 50_000 {
		now += rnd.Int64N(second / 500)
		table.Take(now, table.Bucket(bucket(rnd.Uint64N(6000))), l, 1+rnd.Int64N(6))
		if rnd.IntN(5000) == 0 {
			table.Sweep(now, second)
		}
	}
	held := int64(0)
	for n := range table.shards {
		sh := &table.shards[n]
		live := 0
		if p := sh.slots.Load(); p != nil {
			for i := 0; i < len(*p); i += slotWords {
				if _, ok := p.id(i); ok {
					live++
				}
			}
		}
		if live != sh.live {
			t.Errorf("shard %d holds %d, says %d", n, live, sh.live)
		}
		held += int64(live)
	}
	if held != table.Len() {
		t.Errorf("holds %d, says %d", held, table.Len())
	}
}

func TestDebtsAreRestored(t *testing.T) {
	before, l := New(testKey, 0), quota(1, 60, 9)
	for i := range uint64(500) {
		before.Take(0, before.Bucket(bucket(i)), l, int64(i%10)+1)
	}
	after := New(before.Key(), 0)
	const down = 90 * second
	before.Debts(0, func(d Debt) bool {
		d.Owes -= down
		after.Restore(1000, d)
		return true
	})
	for i := range uint64(500) {
		owed := max(0, (int64(i%10)+1)*60*second-down)
		if got := after.Peek(1000, after.Bucket(bucket(i)), l) - 1000; got != owed {
			t.Fatalf("bucket %d owes %d ns after the restart, want %d", i, got, owed)
		}
	}
}

func TestRestoreRefuses(t *testing.T) {
	table, l := New(testKey, 2), quota(1, 60, 9)
	table.Take(0, table.Bucket([]byte("known")), l, 1)
	var known Debt
	table.Debts(0, func(d Debt) bool { known = d; return true })
	known.Owes *= 5
	for name, d := range map[string]Debt{
		"known bucket": known,
		"no debt":      {Hash: 99, Place: 1, Stamp: l.Stamp},
		"absurd debt":  {Hash: 99, Place: 1, Stamp: l.Stamp, Owes: 1<<63 - 1},
		"deleted mark": {Hash: deleted, Stamp: l.Stamp, Owes: second},
	} {
		if table.Restore(0, d) || table.Len() != 1 {
			t.Errorf("%s was restored; %d buckets", name, table.Len())
		}
	}
	if !table.Restore(0, Debt{Hash: 99, Place: 1, Stamp: l.Stamp, Owes: second}) {
		t.Error("a good debt was refused")
	}
	if table.Restore(0, Debt{Hash: 100, Place: 1, Stamp: l.Stamp, Owes: second}) {
		t.Error("a full table took a debt")
	}
}
