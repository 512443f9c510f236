package hrw

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func members(n int) []Member {
	m := make([]Member, n)
	for i := range m {
		m[i] = Member{ID: fmt.Sprintf("limiter-%d.example", i)}
	}
	return m
}

// keys are n different ones, the same every time.
func keys(n int) []uint64 {
	k := make([]uint64, n)
	for i := range k {
		k[i] = Key(binary.BigEndian.AppendUint32([]byte("key "), uint32(i)))
	}
	return k
}

// sorted ranks all members the slow way.
func sorted(s *Set, key uint64) []int {
	all := make([]int, s.Len())
	for i := range all {
		all[i] = i
	}
	slices.SortFunc(all, func(a, b int) int {
		if c := cmp.Compare(s.Score(key, b), s.Score(key, a)); c != 0 {
			return c
		}
		return cmp.Compare(s.members[a].id, s.members[b].id)
	})
	return all
}

func TestAppendRank(t *testing.T) {
	for _, size := range []int{0, 1, 2, 3, 31, 32, 33, 200} {
		m := members(size)
		for i := range m {
			m[i].Weight = i % 3
		}
		set := NewSet(m)
		for _, key := range keys(50) {
			all := sorted(set, key)
			for _, n := range []int{-1, 0, 1, 2, 3, 32, 33, size - 1, size, size + 1} {
				want := append([]int{7}, all[:min(max(0, n), size)]...)
				if got := set.AppendRank([]int{7}, key, n); !slices.Equal(got, want) {
					t.Fatalf("the first %d of %d for %#x are %v, want %v", n, size, key, got, want)
				}
			}
		}
	}
}

// Equal scores cannot be had from real IDs, so they are made.
func TestTies(t *testing.T) {
	set := &Set{members: []seeded{{"c", []uint64{1}}, {"a", []uint64{1}}, {"d", []uint64{1}}, {"b", []uint64{1}}}}
	if got, want := set.AppendRank(nil, 42, 3), []int{1, 3, 0}; !slices.Equal(got, want) {
		t.Errorf("ties are ordered %v, want %v", got, want)
	}
}

func TestOrderMakesNoDifference(t *testing.T) {
	m := members(20)
	set := NewSet(m)
	mixed := slices.Clone(m)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	other := NewSet(mixed)
	for _, key := range keys(1000) {
		a, b := set.AppendRank(nil, key, 20), other.AppendRank(nil, key, 20)
		for i := range a {
			if m[a[i]].ID != mixed[b[i]].ID {
				t.Fatalf("rank %d for %#x is %s or %s", i, key, m[a[i]].ID, mixed[b[i]].ID)
			}
		}
	}
}

func TestWeights(t *testing.T) {
	m := members(6)
	total := 0
	for i, w := range []int{1, 2, 3, 10, 0, MaxWeight + 1} {
		m[i].Weight = w
		total += min(max(1, w), MaxWeight)
	}
	set := NewSet(m)
	const many = 200_000
	var won [6]int
	var rank [1]int
	for _, key := range keys(many) {
		won[set.AppendRank(rank[:0], key, 1)[0]]++
	}
	for i := range m {
		want := float64(many) * float64(min(max(1, m[i].Weight), MaxWeight)) / float64(total)
		if sigma := math.Sqrt(want); math.Abs(float64(won[i])-want) > 4*sigma {
			t.Errorf("weight %d wins %d keys, want %.0f", m[i].Weight, won[i], want)
		}
	}
}

// The load of 200 members is even, and one that leaves or comes moves only the
// keys that it has or gets. The group of each key changes by it alone.
func TestTwoHundred(t *testing.T) {
	const size, many, some, group = 200, 1_000_000, 200_000, 3
	m := members(size + 1)
	all, without := NewSet(m[:size]), NewSet(append(slices.Clone(m[:77]), m[78:size]...))
	with := NewSet(m)
	grown := func(i int) int { // index in all of what is at i in without
		if i >= 77 {
			return i + 1
		}
		return i
	}
	var load [size]int
	left, came := 0, 0
	var room [3][group]int
	for n, key := range keys(many) {
		rank := all.AppendRank(room[0][:0], key, group)
		load[rank[0]]++
		if n >= some {
			continue
		}
		less := without.AppendRank(room[1][:0], key, group)
		for i := range less {
			less[i] = grown(less[i])
		}
		if rank[0] == 77 {
			left++
		} else if less[0] != rank[0] {
			t.Fatalf("key %#x went from %d to %d when 77 left", key, rank[0], less[0])
		}
		if rest := slices.DeleteFunc(slices.Clone(rank), func(i int) bool { return i == 77 }); !slices.Equal(rest, less[:len(rest)]) {
			t.Fatalf("the group of %#x went from %v to %v when 77 left", key, rank, less)
		}
		more := with.AppendRank(room[2][:0], key, group)
		if more[0] == size {
			came++
		} else if more[0] != rank[0] {
			t.Fatalf("key %#x went from %d to %d when another came", key, rank[0], more[0])
		}
	}
	const mean = many / size
	least, most := slices.Min(load[:]), slices.Max(load[:])
	t.Logf("%d to %d keys each; of %d keys %d moved by leaving, %d by coming", least, most, some, left, came)
	if least < mean*95/100 || most > mean*105/100 {
		t.Errorf("members have %d to %d keys, want %d within 5%%", least, most, mean)
	}
	for what, moved := range map[string]int{"leaves": left, "comes": came} {
		if fair := some / size; moved > fair*110/100 {
			t.Errorf("%d keys move when a member %s, want %d and 10%% at the most", moved, what, fair)
		}
	}
}

func TestAllocs(t *testing.T) {
	dst := make([]int, 0, 32)
	for size, n := range map[int]int{32: 32, 200: 32, 3: 3} {
		set := NewSet(members(size))
		if got := testing.AllocsPerRun(100, func() { dst = set.AppendRank(dst[:0], 42, n) }); got != 0 {
			t.Errorf("the first %d of %d: %v allocations", n, size, got)
		}
	}
}

func BenchmarkAppendRank(b *testing.B) {
	for _, c := range []struct{ members, n int }{{3, 3}, {10, 5}, {32, 32}, {200, 5}, {200, 200}} {
		b.Run(fmt.Sprintf("%d of %d", c.n, c.members), func(b *testing.B) {
			set := NewSet(members(c.members))
			dst := make([]int, 0, c.members)
			key := uint64(0)
			for b.Loop() {
				key += golden
				dst = set.AppendRank(dst[:0], key, c.n)
			}
		})
	}
}
