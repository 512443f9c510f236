package keytable

import (
	"math"
	"math/bits"
	"sync/atomic"
)

// Words of a slot, and values of its first one.
const (
	slotWords = 3

	free    uint64 = 0
	deleted uint64 = 1
)

// frozen stands in place of a TAT while the holder of the shard's lock moves or
// changes the slot, and for ever in a slot that was moved or deleted.
const frozen = int64(math.MinInt64)

// id is what tells a bucket from all others.
type id struct {
	hash  uint64 // word 0: never free or deleted
	more  uint32 // upper half of word 1
	shard uint32
}

// slots is one array of a shard. Its words are read and written atomically. A
// slot once taken keeps its identity for the life of the array: deleted slots
// are not used again, so an index that a decision holds can not come to mean
// another bucket.
type slots []uint64

func newSlots(n int) slots { return make(slots, n*slotWords) }

// len returns the number of slots.
func (s slots) len() int { return len(s) / slotWords }

// find returns the index of the slot's first word, or -1 if the bucket has
// none. The array always has a free slot, which ends the search.
func (s slots) find(b id) int {
	for i := s.home(b.hash); ; {
		switch atomic.LoadUint64(&s[i]) {
		case b.hash:
			if uint32(atomic.LoadUint64(&s[i+1])>>32) == b.more {
				return i
			}
		case free:
			return -1
		}
		if i += slotWords; i == len(s) {
			i = 0
		}
	}
}

// put writes a bucket that is not in the array into a free slot. The caller
// holds the shard's lock. Word 0 is written last: it publishes the others.
func (s slots) put(b id, stamp uint32, tat int64) {
	i := s.home(b.hash)
	for atomic.LoadUint64(&s[i]) != free {
		if i += slotWords; i == len(s) {
			i = 0
		}
	}
	atomic.StoreUint64(&s[i+1], uint64(b.more)<<32|uint64(stamp))
	s.setTAT(i, tat)
	atomic.StoreUint64(&s[i], b.hash)
}

// home is where the search for a hash begins.
func (s slots) home(hash uint64) int {
	slot, _ := bits.Mul64(hash, uint64(s.len()))
	return int(slot) * slotWords
}

func (s slots) tat(i int) int64 { return int64(atomic.LoadUint64(&s[i+2])) }

func (s slots) setTAT(i int, tat int64) { atomic.StoreUint64(&s[i+2], uint64(tat)) }

func (s slots) casTAT(i int, before, after int64) bool {
	return atomic.CompareAndSwapUint64(&s[i+2], uint64(before), uint64(after))
}

// freeze takes the TAT out of a slot. The caller holds the shard's lock.
func (s slots) freeze(i int) int64 {
	mark := frozen
	return int64(atomic.SwapUint64(&s[i+2], uint64(mark)))
}

func (s slots) stamp(i int) uint32 { return uint32(atomic.LoadUint64(&s[i+1])) }

// id returns the identity of a taken slot; ok is false for free and deleted
// ones. The shard is not in the slot.
func (s slots) id(i int) (b id, ok bool) {
	b.hash = atomic.LoadUint64(&s[i])
	b.more = uint32(atomic.LoadUint64(&s[i+1]) >> 32)
	return b, b.hash > deleted
}

// setStamp names another emission interval. The caller holds the shard's lock
// and has frozen the TAT.
func (s slots) setStamp(i int, stamp uint32) {
	more := atomic.LoadUint64(&s[i+1]) >> 32
	atomic.StoreUint64(&s[i+1], more<<32|uint64(stamp))
}

// kill ends a frozen slot.
func (s slots) kill(i int) { atomic.StoreUint64(&s[i], deleted) }
