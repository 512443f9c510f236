package keytable

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/dchest/siphash"

	"github.com/levee-project/levee/internal/gcra"
)

const shardCount = 1024 // a power of two; part of the state file's format

// Key is the secret under which buckets are hashed. Draw it at random, and keep
// it with saved debts: they are meaningless under another.
type Key [2]uint64

// Table holds the buckets of one limiter. Its methods may be called from many
// goroutines at once.
type Table struct {
	key    Key
	shards [shardCount]shard

	count     atomic.Int64 // buckets held, including those being inserted
	max       atomic.Int64 // bound on count; 0 = none
	collected atomic.Int64
	evicted   atomic.Int64

	room   sync.Mutex // one caller at a time makes room
	cursor uint32     // guarded by room: where the next search for room starts
	sample []int64    // guarded by room: kept to spare the allocation
}

// shard is one part of the table, in a cache line of its own.
type shard struct {
	slots atomic.Pointer[slots] // nil until the first bucket
	mu    sync.Mutex            // guards what follows, and every write to slots but a TAT's
	used  int                   // slots taken, deleted ones included
	live  int                   // slots that hold a bucket
	_     [64 - 8 - 8 - 16]byte
}

// New returns an empty table that hashes under key and holds at most maxKeys
// buckets; 0 sets no bound.
func New(key Key, maxKeys int64) *Table {
	t := &Table{key: key}
	t.max.Store(maxKeys)
	return t
}

// Bucket is what the table knows a bucket by: a keyed hash of its name. It
// holds for one table.
type Bucket struct{ id id }

// Bucket returns the bucket of a name.
func (t *Table) Bucket(name []byte) Bucket { return Bucket{t.id(name)} }

// Touch brings a bucket's slot into the processor's cache. Touching several
// buckets before taking from them lets their memory reads overlap.
func (t *Table) Touch(b Bucket) {
	if p := t.shards[b.id.shard].slots.Load(); p != nil {
		atomic.LoadUint64(&(*p)[p.home(b.id.hash)]) // an atomic read is never optimised away
	}
}

// Take asks for hits, 1 or more, from a bucket at the time now, and says whether
// they conform to the limit. It returns the bucket's TAT after that decision;
// when they do not conform, nothing has changed. A bucket never seen is idle.
func (t *Table) Take(now int64, bucket Bucket, l *gcra.Limit, hits int64) (tat int64, ok bool) {
	if hits > l.Fit {
		return t.Peek(now, bucket, l), false
	}
	b := bucket.id
	sh := &t.shards[b.shard]
	for {
		s, i := sh.lookup(b)
		if i < 0 {
			break
		}
		// The order matters: a TAT read before its stamp can only be swapped if
		// neither has changed since, because who changes the stamp changes the TAT.
		tat := s.tat(i)
		if tat == frozen || s.stamp(i) != l.Stamp {
			break
		}
		next, ok := l.Conforms(tat, now, hits)
		if !ok || s.casTAT(i, tat, next) {
			return next, ok
		}
	}
	return t.takeLocked(sh, b, now, l, hits)
}

// Peek returns the TAT of a bucket as the limit sees it, and now for a bucket
// never seen. It changes nothing.
func (t *Table) Peek(now int64, bucket Bucket, l *gcra.Limit) (tat int64) {
	b := bucket.id
	sh := &t.shards[b.shard]
	if s, i := sh.lookup(b); i < 0 {
		return now
	} else if tat := s.tat(i); tat != frozen && s.stamp(i) == l.Stamp {
		return tat
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	s, i := sh.lookup(b)
	if i < 0 {
		return now
	}
	if l.Interval == 0 {
		return s.tat(i)
	}
	return l.Rescale(s.tat(i), now, s.stamp(i))
}

// takeLocked is Take for a bucket that is new, that is being moved, or that was
// written under another emission interval.
func (t *Table) takeLocked(sh *shard, b id, now int64, l *gcra.Limit, hits int64) (tat int64, ok bool) {
	reserved := false
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for {
		if s, i := sh.lookup(b); i >= 0 {
			if reserved {
				t.count.Add(-1)
			}
			return restamp(s, i, now, l, hits)
		}
		if reserved || t.reserve() {
			next, ok := l.Conforms(now, now, hits) // always conforms: hits fit
			sh.insert(b, l.Stamp, next)
			return next, ok
		}
		// Making room takes other shards' locks: let go of this one, so that no
		// two callers can wait for each other.
		sh.mu.Unlock()
		t.makeRoom(now)
		reserved = t.reserve()
		sh.mu.Lock()
	}
}

// restamp decides on a slot under the shard's lock, after carrying its debt
// over to the limit's emission interval.
func restamp(s slots, i int, now int64, l *gcra.Limit, hits int64) (tat int64, ok bool) {
	before := s.freeze(i)
	after := l.Rescale(before, now, s.stamp(i))
	next, ok := l.Conforms(after, now, hits)
	if s.stamp(i) != l.Stamp {
		s.setStamp(i, l.Stamp)
		if next == before {
			next++ // so that a decision begun under the old stamp cannot end under the new
		}
	}
	s.setTAT(i, next)
	return next, ok
}

// reserve counts a bucket that is about to be inserted, unless the table is
// full.
func (t *Table) reserve() bool {
	for {
		n, limit := t.count.Load(), t.max.Load()
		if limit > 0 && n >= limit {
			return false
		}
		if t.count.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// lookup finds a bucket in the current array; i is -1 if it is not there.
func (sh *shard) lookup(b id) (s slots, i int) {
	p := sh.slots.Load()
	if p == nil {
		return nil, -1
	}
	return *p, p.find(b)
}

func (t *Table) id(name []byte) id {
	h, m := siphash.Hash128(t.key[0], t.key[1], name)
	if h <= deleted {
		h += 2
	}
	return id{hash: h, more: uint32(m), shard: uint32(bits.RotateLeft64(m, 32)) % shardCount}
}

// Len returns the number of buckets held.
func (t *Table) Len() int64 { return t.count.Load() }

// Collected returns how many idle buckets were dropped since the start.
func (t *Table) Collected() int64 { return t.collected.Load() }

// Evicted returns how many buckets with debt were dropped since the start
// because the table was full. Each of them may have let its key pass early.
func (t *Table) Evicted() int64 { return t.evicted.Load() }

// SetMaxKeys changes the bound; 0 removes it. Call [Table.Trim] after lowering
// it.
func (t *Table) SetMaxKeys(n int64) { t.max.Store(n) }

// MaxKeys returns the bound; 0 = none.
func (t *Table) MaxKeys() int64 { return t.max.Load() }
