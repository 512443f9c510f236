package keytable

// A shard is rebuilt when four fifths of its slots are taken, into an array of
// which at most seven tenths are. The steps are small on purpose: what a table
// needs at its worst is what a host must have.
const (
	takenNum, takenDen = 4, 5  // most slots taken, deleted ones included
	freshNum, freshDen = 7, 10 // most slots taken after a rebuild
	growNum, growDen   = 5, 4  // from one size to the next
	smallest           = 16    // slots of a shard's first array
)

// insert adds a bucket that the shard does not hold. The caller holds the lock.
func (sh *shard) insert(b id, stamp uint32, tat int64) {
	p := sh.slots.Load()
	if p == nil || (sh.used+1)*takenDen > p.len()*takenNum {
		sh.rebuild(capacity(sh.live+1, b.shard))
		p = sh.slots.Load()
	}
	p.put(b, stamp, tat)
	sh.used++
	sh.live++
}

// rebuild moves the buckets of a shard into a new array of n slots, more than
// there are buckets. The caller holds the lock. Each TAT is frozen before it is
// copied, so a decision that races with the move waits for the lock and finds
// the bucket in the new array.
func (sh *shard) rebuild(n int) {
	fresh := newSlots(n)
	if p := sh.slots.Load(); p != nil {
		old := *p
		for i := 0; i < len(old); i += slotWords {
			if b, ok := old.id(i); ok {
				tat := old.freeze(i)
				fresh.put(b, old.stamp(i), tat)
			}
		}
	}
	sh.used = sh.live
	sh.slots.Store(&fresh)
}

// reap deletes at most budget buckets whose TAT is not after latest, and returns
// how many. The caller holds the lock.
func (sh *shard) reap(latest int64, budget int) (taken int) {
	p := sh.slots.Load()
	if p == nil {
		return 0
	}
	s := *p
	for i := 0; i < len(s) && taken < budget; i += slotWords {
		if _, ok := s.id(i); !ok || s.tat(i) > latest {
			continue
		}
		// Only now is the slot frozen, because decisions wait for that; it may
		// have been taken from in between, so ask again.
		if tat := s.freeze(i); tat > latest {
			s.setTAT(i, tat)
			continue
		}
		s.kill(i)
		sh.live--
		taken++
	}
	return taken
}

// capacity returns the number of slots for n buckets of a shard. The sizes
// differ a little from shard to shard, so that shards that fill alike do not all
// grow at one moment.
func capacity(n int, shard uint32) int {
	size := smallest + int(shard%4)
	for size*freshNum < n*freshDen {
		size = size * growNum / growDen
	}
	return size
}
