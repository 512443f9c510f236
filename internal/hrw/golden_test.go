package hrw

import (
	"slices"
	"testing"
)

// The scores are a promise to all versions that ever run together: these numbers
// must never change.
func TestGolden(t *testing.T) {
	set := NewSet([]Member{{"limiter-1", 1}, {"limiter-2", 1}, {"limiter-3", 2}, {"limiter-4", 0}, {"l", 100}})
	for _, v := range []struct {
		key    string
		hash   uint64 // XXH64 with seed 0
		scores []uint64
		rank   []int
	}{
		{
			"", 0xef46db3751d8e999,
			[]uint64{0x0cce47b9710a96d4, 0x66bab4b5a01437d8, 0x7f744038b4ad87d0, 0x9719111dde0fe680, 0xfe26b5d326d10cb5},
			[]int{4, 3, 2, 1, 0},
		},
		{
			"photos", 0x4646bdb0f1d7e6bc,
			[]uint64{0xdc5d7c688e5b6fab, 0x13eafcb168511eb3, 0xa6891bb1c207aa6d, 0x882146d712496b3c, 0xfd5d2218262050b0},
			[]int{4, 0, 2, 3, 1},
		},
		{
			"photos/albums", 0x96068cad87219fe7,
			[]uint64{0x7918625ac368efef, 0xccecb9d13afbc398, 0x7d5349c4fa4293f7, 0x5f867fdb5c8dbb01, 0xff12da0687e1a305},
			[]int{4, 1, 2, 0, 3},
		},
		{
			"a", 0xd24ec4f1a98c6e5b,
			[]uint64{0x4569fdadf9a6cb3d, 0x8c9bbc89e959f6ea, 0xd058e444025f6189, 0x4903cabd34e903c5, 0xffc09c7c87b68b5f},
			[]int{4, 2, 1, 3, 0},
		},
		{
			"\x00", 0xe934a84adb052768,
			[]uint64{0xf31867630faf7cc5, 0x2e0b8be20235ea6f, 0xe3ded490e9c47ca8, 0xd6a518b2882181f3, 0xfc81b0fff90afcae},
			[]int{4, 0, 2, 3, 1},
		},
		{
			"ключ", 0xa17d2dd13d89d19c,
			[]uint64{0x5aaea0cc5242b564, 0xe98727e9db2c39de, 0xab974edb041db23d, 0xdb807b5af0f6a11d, 0xfa8dd4e30573f812},
			[]int{4, 1, 3, 2, 0},
		},
		{
			"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", 0x1af3ac4760fe2f85,
			[]uint64{0xd74c71fad0ded88b, 0xe6959b30d14796af, 0xff75268a558b73ab, 0x1e45b909cf19f5ad, 0xfdd29dc14c0c7cb4},
			[]int{2, 4, 1, 0, 3},
		},
	} {
		key := Key([]byte(v.key))
		if key != v.hash {
			t.Errorf("Key(%q) = %#x, want %#x", v.key, key, v.hash)
		}
		for i, want := range v.scores {
			if got := set.Score(v.hash, i); got != want {
				t.Errorf("score of member %d for %q = %#x, want %#x", i, v.key, got, want)
			}
		}
		if got := set.AppendRank(nil, v.hash, set.Len()); !slices.Equal(got, v.rank) {
			t.Errorf("rank for %q = %v, want %v", v.key, got, v.rank)
		}
	}
}
