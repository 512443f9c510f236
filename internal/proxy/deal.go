package proxy

import (
	"hash/maphash"
	"math/rand/v2"
	"sync"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/quota"
)

// deals knows for each bucket whose turn it is. Only a counter of its own deals
// a bucket evenly over its group: with one for a resource, GET and POST in turn
// would each meet the same limiter of two again and again.
//
// A counter starts at a random place, so that proxies do not march in step. The
// maps hold no pointers, so the garbage collector's cost does not grow with them.
type deals struct {
	seed   maphash.Seed
	shards [dealShards]dealShard
}

const dealShards = 256 // a power of two

// dealShard is one part of the counters. A bucket is in one of the generations:
// cur if it was dealt since the last collection, else old.
type dealShard struct {
	mu       sync.Mutex        // guards what follows
	cur, old map[uint64]uint32 // by hash of the bucket: the next turn
	_        [64 - 8 - 16]byte // a cache line each
}

func newDeals() *deals {
	d := &deals{seed: maphash.MakeSeed()}
	for i := range d.shards {
		d.shards[i].cur = map[uint64]uint32{}
	}
	return d
}

// turn returns the turn of the bucket that a draws from: its place in the round
// is the turn modulo the group size. What is no peek passes the turn on.
func (d *deals) turn(level attempt.Level, a *attempt.Attempt) uint32 {
	advance := uint32(1)
	if a.Hits == 0 {
		advance = 0
	}
	return d.deal(d.hash(level, a), advance)
}

func (d *deals) deal(bucket uint64, advance uint32) uint32 {
	s := &d.shards[bucket%dealShards]
	s.mu.Lock()
	turn, known := s.cur[bucket]
	if !known {
		if turn, known = s.old[bucket]; known {
			delete(s.old, bucket)
		} else {
			turn = rand.Uint32() //nolint:gosec // spreads attempts, hides nothing
		}
		s.cur[bucket] = turn + advance
	} else if advance > 0 {
		s.cur[bucket] = turn + advance
	}
	s.mu.Unlock()
	return turn
}

// len returns how many buckets have a counter.
func (d *deals) len() (n int) {
	for i := range d.shards {
		s := &d.shards[i]
		s.mu.Lock()
		n += len(s.cur) + len(s.old)
		s.mu.Unlock()
	}
	return n
}

// collect drops the counters of the buckets that were not dealt since it was
// last called, and returns how many. A bucket that comes again starts at another
// random place.
func (d *deals) collect() (dropped int) {
	for i := range d.shards {
		s := &d.shards[i]
		s.mu.Lock()
		dropped += len(s.old)
		s.cur, s.old = map[uint64]uint32{}, s.cur
		s.mu.Unlock()
	}
	return dropped
}

// hash returns what the bucket is known by here. It is keyed: nobody can choose
// two buckets that share a counter.
func (d *deals) hash(level attempt.Level, a *attempt.Attempt) uint64 {
	if !quota.IsShort(a) {
		return d.longHash(level, a)
	}
	var name [quota.ShortBucket]byte
	return maphash.Bytes(d.seed, quota.AppendBucket(name[:0], level, a))
}

// longHash is hash for long keys. It is not inlined, so that its buffer is not
// part of its caller's stack frame.
//
//go:noinline
func (d *deals) longHash(level attempt.Level, a *attempt.Attempt) uint64 {
	var name [quota.LongBucket]byte
	return maphash.Bytes(d.seed, quota.AppendBucket(name[:0], level, a))
}
