package topology

import (
	"cmp"
	"slices"

	"github.com/levee-project/levee/internal/hrw"
)

// View is everybody at one moment, as one party knows it. It is immutable, and
// safe for many goroutines.
type View struct {
	revision int64
	members  []Member
	serving  []Member // limiters, in the order of their IDs
	silent   int      // limiters
	set      *hrw.Set // of serving
}

// NewView returns the view of members, of which no two have the same ID. The
// revision is the maker's own count of changes. members is kept, and sorted.
func NewView(revision int64, members []Member) *View {
	slices.SortFunc(members, func(a, b Member) int { return cmp.Compare(a.ID, b.ID) })
	v := &View{revision: revision, members: members}
	var ranked []hrw.Member
	for _, m := range members {
		switch {
		case m.Role != Limiter:
		case m.State == Serving:
			v.serving = append(v.serving, m)
			ranked = append(ranked, hrw.Member{ID: m.ID, Weight: m.Weight})
		case m.State == Silent:
			v.silent++
		}
	}
	v.set = hrw.NewSet(ranked)
	return v
}

// Revision is the maker's count of changes. It says nothing about views that
// another party made.
func (v *View) Revision() int64 { return v.revision }

// Members returns everybody, in the order of their IDs. It must not be changed.
func (v *View) Members() []Member { return v.members }

// Serving returns the limiters that answer, in the order of their IDs. It must
// not be changed.
func (v *View) Serving() []Member { return v.serving }

// Live returns how many limiters answer.
func (v *View) Live() int { return len(v.serving) }

// Known returns how many limiters would answer if nobody were silent.
func (v *View) Known() int { return len(v.serving) + v.silent }

// Count returns how many members have a role and a state.
func (v *View) Count(r Role, s State) (n int) {
	for i := range v.members {
		if v.members[i].Role == r && v.members[i].State == s {
			n++
		}
	}
	return n
}

// GroupSize returns the group size in force where wanted is asked for: no more
// than the limiters that answer, and at least 1.
func (v *View) GroupSize(wanted int) int { return max(1, min(wanted, len(v.serving))) }

// AppendRank appends the indices in [View.Serving] of the n limiters that rank
// first for a resource to dst. The first GroupSize of them are its group; those
// that follow stand in for them.
func (v *View) AppendRank(dst []int, resource []byte, n int) []int {
	return v.AppendRankOf(dst, hrw.Key(resource), n)
}

// AppendRankOf is AppendRank for the [hrw.Key] of a resource.
func (v *View) AppendRankOf(dst []int, key uint64, n int) []int { return v.set.AppendRank(dst, key, n) }

// Same reports whether two views have the same members in the same states,
// whoever made them and when.
func (v *View) Same(o *View) bool {
	return slices.EqualFunc(v.members, o.members, func(a, b Member) bool { return a.same(&b) })
}
