package hrw

import (
	"github.com/cespare/xxhash/v2"
)

// MaxWeight is the largest weight of a member.
const MaxWeight = 100

// Member takes part in the ranking.
type Member struct {
	// ID names the member. No two in a set are the same.
	ID string
	// Weight is how many times as many keys the member gets as one of weight 1:
	// 1 to MaxWeight. 0 counts as 1. It costs as many hashes for each key.
	Weight int
}

// Set is an immutable set of members to rank. It is safe for many goroutines.
type Set struct {
	members []seeded
}

// seeded is a member with what its scores start from.
type seeded struct {
	id    string
	seeds []uint64 // one for each unit of weight
}

// NewSet returns the set of members. Their order makes no difference to the
// ranks, but is that of the indices in them.
func NewSet(members []Member) *Set {
	s := &Set{members: make([]seeded, len(members))}
	for i, m := range members {
		seeds := make([]uint64, min(max(1, m.Weight), MaxWeight))
		for unit := range seeds {
			seeds[unit] = mix(xxhash.Sum64String(m.ID) + uint64(unit)*golden)
		}
		s.members[i] = seeded{id: m.ID, seeds: seeds}
	}
	return s
}

// Len returns how many members there are.
func (s *Set) Len() int { return len(s.members) }

// golden is 2^64 divided by the golden ratio: an odd step that keeps the seeds
// of one member's units far apart.
const golden = 0x9e3779b97f4a7c15

// mix spreads each bit of x over all bits: the finalizer of MurmurHash3
// (Appleby). It is a bijection.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	return x
}

// Key returns the 64 bits of a key that scores are made from.
func Key(key []byte) uint64 { return xxhash.Sum64(key) }

// score is the member's best over its units: the more units, the better.
func (m *seeded) score(key uint64) (best uint64) {
	for _, seed := range m.seeds {
		best = max(best, mix(key^seed))
	}
	return best
}

// Score returns the score of member i for a key; the highest wins.
func (s *Set) Score(key uint64, i int) uint64 { return s.members[i].score(key) }

// ranked is a member with its score.
type ranked struct {
	score uint64
	i     int
}

// before says whether a ranks before b. Equal scores are ordered by ID.
func (s *Set) before(a, b ranked) bool {
	if a.score != b.score {
		return a.score > b.score
	}
	return s.members[a.i].id < s.members[b.i].id
}

// AppendRank appends the indices of the n best members for a key to dst, the best
// first, or of all if there are fewer. It takes one pass over the members with
// an insertion for each that is among the n best so far, and allocates nothing
// for an n of up to 32 if dst has room.
func (s *Set) AppendRank(dst []int, key uint64, n int) []int {
	n = min(n, len(s.members))
	if n <= 0 {
		return dst
	}
	var room [32]ranked
	best := room[:0]
	for i := range s.members {
		r := ranked{s.members[i].score(key), i}
		if len(best) == n {
			if !s.before(r, best[n-1]) {
				continue
			}
			best = best[:n-1]
		}
		at := len(best)
		best = append(best, r)
		for ; at > 0 && s.before(r, best[at-1]); at-- {
			best[at] = best[at-1]
		}
		best[at] = r
	}
	for _, r := range best {
		dst = append(dst, r.i)
	}
	return dst
}
