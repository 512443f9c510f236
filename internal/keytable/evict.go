package keytable

import (
	"slices"
	"sync/atomic"
)

// sampleSize is how many buckets are looked at to make room: all of them in a
// table this small, else that many neighbours. Of these the nearest to expiry
// go, a few at once so that the search is paid for once in many inserts.
const (
	sampleSize  = 4096
	sampleBatch = 64 // one in so many of the sample goes
)

// Trim makes room until the table keeps its bound, after that was lowered.
func (t *Table) Trim(now int64) {
	for limit := t.max.Load(); limit > 0 && t.count.Load() > limit; limit = t.max.Load() {
		t.makeRoom(now)
	}
}

// makeRoom drops at least one bucket, if there is one: the idle ones of a
// sample, which loses nothing, or else those nearest to expiry.
func (t *Table) makeRoom(now int64) {
	t.room.Lock()
	defer t.room.Unlock()
	if limit := t.max.Load(); limit <= 0 || t.count.Load() < limit {
		return // somebody else made room meanwhile
	}
	first, n := t.cursor, uint32(0)
	tats := t.sample[:0]
	for ; n < shardCount && len(tats) < sampleSize; n++ {
		tats = t.shards[(first+n)%shardCount].appendTATs(tats)
	}
	t.sample = tats
	if len(tats) == 0 {
		return
	}
	t.cursor = (first + n) % shardCount

	slices.Sort(tats)
	latest, budget, counter := now, len(tats), &t.collected
	if tats[0] > now { // nothing idle
		budget = (len(tats)-1)/sampleBatch + 1
		latest, counter = tats[budget-1], &t.evicted
	}
	for k := uint32(0); k < n && budget > 0; k++ {
		budget -= t.reapShard((first+k)%shardCount, latest, budget, counter)
	}
}

// reapShard deletes at most budget buckets of a shard that expire not after
// latest, and returns how many.
func (t *Table) reapShard(number uint32, latest int64, budget int, counter *atomic.Int64) int {
	sh := &t.shards[number]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	taken := sh.reap(latest, budget)
	t.count.Add(int64(-taken))
	counter.Add(int64(taken))
	return taken
}

// appendTATs adds the TATs of a shard's buckets.
func (sh *shard) appendTATs(tats []int64) []int64 {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	p := sh.slots.Load()
	if p == nil {
		return tats
	}
	for i := 0; i < len(*p); i += slotWords {
		if _, ok := p.id(i); ok {
			tats = append(tats, p.tat(i))
		}
	}
	return tats
}
