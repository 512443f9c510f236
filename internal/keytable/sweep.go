package keytable

// Sweep drops the buckets that have been idle for at least the given
// nanoseconds at the time now, and returns how many. It never drops a debt.
// A bucket's TAT is never before its last attempt of fitting hits, conforming or
// not, so idle for that long means untouched for that long as well.
//
// It locks one shard at a time, for the time of moving it.
func (t *Table) Sweep(now, idle int64) (dropped int64) {
	for n := range t.shards {
		dropped += int64(t.sweepShard(uint32(n), now-idle))
	}
	t.count.Add(-dropped)
	t.collected.Add(dropped)
	return dropped
}

// sweepShard drops the buckets of a shard whose TAT is not after latest, and
// gives back the memory that is no longer needed.
func (t *Table) sweepShard(number uint32, latest int64) (dropped int) {
	sh := &t.shards[number]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	dropped = sh.reap(latest, sh.live)
	switch p := sh.slots.Load(); {
	case dropped == 0:
	case sh.live == 0:
		sh.used = 0
		sh.slots.Store(nil)
	case capacity(sh.live, number) < p.len():
		sh.rebuild(capacity(sh.live, number))
	}
	return dropped
}
