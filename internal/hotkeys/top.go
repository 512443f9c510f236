package hotkeys

import (
	"hash/maphash"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/levee-project/levee/internal/attempt"
)

const (
	// HalfLife is the time in which a count that nothing is added to falls to a
	// half.
	HalfLife = time.Minute
	// Slots is how many buckets each of the two lists holds.
	Slots = 1024
)

// Top counts attempts and rejections by bucket. All of its methods may be called
// at once.
type Top struct {
	mask atomic.Uint32 // N-1. Read by every attempt, and rarely written.
	seed uint64        // of the draws
	hash maphash.Seed  // of the buckets
	_    [64]byte      // what follows is written by others

	lost atomic.Uint64 // since the last decay
	mu   sync.Mutex    // guards what follows
	pace pace

	began, last int64   // clock
	grain       float64 // the largest N so far, decayed
	missed      float64 // what was lost before that, decayed

	attempts, rejections list
}

// New returns a Top that has seen nothing. now is the clock of [Top.Tick]; seed
// makes the draws unpredictable.
func New(now int64, seed uint64) *Top {
	return &Top{seed: seed, hash: maphash.MakeSeed(), began: now, last: now, grain: 1, pace: pace{last: now}}
}

// Draw says whether an attempt of so many hits is to be counted by [Top.Add], which
// wants to know the n in force. serial is a number that no other attempt has.
func (t *Top) Draw(serial uint64, hits uint32) (n uint32, drawn bool) {
	mask := t.mask.Load()
	return mask + 1, t.random(serial)&mask < hits
}

// random is one step of wyrand (Wang Yi), from a place of its own for each serial.
func (t *Top) random(serial uint64) uint32 {
	s := t.seed + serial*0xa0761d6478bd642f
	hi, lo := bits.Mul64(s, s^0xe7037ed1a0b428db)
	return uint32(hi ^ lo)
}

// Add counts an attempt that was drawn when one in n was, of the bucket that a
// draws from at a level. It never waits.
func (t *Top) Add(n uint32, a *attempt.Attempt, level attempt.Level, rejected bool) {
	weight := max(n, a.Hits)
	b := bucket{attempt: a, level: level, weight: float64(weight)}
	b.variance = b.weight * float64(weight-a.Hits)
	b.find(t.hash)
	if !t.mu.TryLock() {
		t.lost.Add(uint64(weight))
		return
	}
	t.attempts.add(&b)
	if rejected {
		t.rejections.add(&b)
	}
	if next, changed := t.pace.sample(); changed {
		t.every(next)
	}
	t.mu.Unlock()
}

// Tick has counts decay, and fits N to the load since the last tick. It is to be
// called once a second; now is nanoseconds of a monotonic clock.
func (t *Top) Tick(now int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.decay(now)
	t.every(t.pace.tick(now))
}

// every puts N in force.
func (t *Top) every(n uint32) {
	t.mask.Store(n - 1)
	t.grain = max(t.grain, float64(n))
}

// decay brings the counts up to now.
func (t *Top) decay(now int64) {
	passed := max(0, now-t.last)
	t.last += passed
	f := math.Exp2(-float64(passed) / float64(HalfLife))
	t.attempts.decay(f)
	t.rejections.decay(f)
	t.grain = max(t.grain*f, 1)
	t.missed = (t.missed + float64(t.lost.Swap(0))) * f
}
