package proxy

import (
	"slices"
	"sync"

	"github.com/levee-project/levee/internal/topology"
)

// routes are the ways from resources to limiters under one topology. They are
// replaced whole, and safe for many goroutines.
type routes struct {
	view      *topology.View
	upstreams []*upstream // in the order of view.Serving()
	ranks     *ranks
}

// newRoutes returns the routes under a view. What was worked out under the last
// ones, which may be nil, is kept where the same limiters serve.
func newRoutes(view *topology.View, upstreams []*upstream, last *routes) *routes {
	r := &routes{view: view, upstreams: upstreams}
	if last != nil && slices.EqualFunc(view.Serving(), last.view.Serving(), sameRank) {
		r.ranks = last.ranks
	} else {
		r.ranks = new(ranks)
	}
	return r
}

// sameRank says whether a member ranks the same as another for all resources.
func sameRank(a, b topology.Member) bool { return a.ID == b.ID && a.Weight == b.Weight }

// ranks remembers in which order the limiters rank for a resource: all of them,
// because whoever does not belong to the group may have to stand in.
type ranks struct{ shards [rankShards]rankShard }

// What is remembered is bounded by its memory, 8 MiB in all, where finding a rank
// costs as much as 12 of its numbers. That is 280,000 resources with 3 limiters,
// 150,000 with 16. A shard that is full starts over.
const (
	rankShards = 64 // a power of two
	rankRoom   = 8 << 20 / 2 / rankShards
	rankEntry  = 12
)

// rankShard is one part of the ranks. Those handed out stay as they are: numbers
// is only appended to, and replaced when it is full.
type rankShard struct {
	mu      sync.Mutex        // guards what follows
	starts  map[uint64]uint32 // by [hrw.Key] of the resource: where in numbers
	numbers []uint16          // indices of limiters, so many for each resource
}

// few is how many limiters are ranked anew for each attempt: with many resources
// that takes less time than to find in memory what is remembered of one.
const few = 8

// appendRank appends the indices of few limiters in the order of their rank for
// the resource with this [hrw.Key].
func (r *routes) appendRank(dst []uint16, key uint64) []uint16 {
	var room [few]int
	for _, i := range r.view.AppendRankOf(room[:0], key, len(r.upstreams)) {
		dst = append(dst, uint16(i))
	}
	return dst
}

// rank returns the indices of all limiters in the order of their rank for a
// resource with this [hrw.Key]. Resources of the same key rank the same. The
// result must not be changed.
func (r *routes) rank(key uint64) []uint16 {
	n := len(r.upstreams)
	s := &r.ranks.shards[key%rankShards]
	s.mu.Lock()
	if start, known := s.starts[key]; known {
		rank := s.numbers[start : int(start)+n : int(start)+n]
		s.mu.Unlock()
		return rank
	}
	s.mu.Unlock()

	var room [64]int
	all := r.view.AppendRankOf(room[:0], key, n)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.starts == nil || len(s.numbers)+len(s.starts)*rankEntry > rankRoom {
		s.starts, s.numbers = map[uint64]uint32{}, nil
	}
	start := len(s.numbers)
	for _, i := range all {
		s.numbers = append(s.numbers, uint16(i))
	}
	s.starts[key] = uint32(start)
	return s.numbers[start : start+n : start+n]
}
