package quota

import (
	"math/big"
	"sync"
	"testing"

	"github.com/levee-project/levee/internal/gcra"
)

func TestLimitOfEveryGroupSize(t *testing.T) {
	q := parse(t, `{"rate": 6600, "burst": 165}`)
	rate, burst := big.NewRat(6600, 1), big.NewRat(165, 1)
	for round := range 2 { // more sizes than are remembered, twice
		for d := 1; d <= 3*maxShares; d++ {
			for range 2 {
				if got, want := q.Limit(Share{1, d}), gcra.NewLimit(rate, burst, d); got != want {
					t.Fatalf("round %d, D = %d: %+v, want %+v", round, d, got, want)
				}
			}
			if kept := q.shares.Load(); kept != nil && len(*kept) > maxShares {
				t.Fatalf("%d shares are remembered", len(*kept))
			}
		}
	}
	if q.Limit(Share{}) != q.Limit(Whole) || q.Limit(Share{2, 1}) != q.Limit(Whole) {
		t.Error("a share is more than the whole")
	}
}

// Some of a group's members serve while the others are silent: rate and burst
// are 2/12 of the whole.
func TestLimitOfPartOfAShare(t *testing.T) {
	q := parse(t, `{"rate": 6600, "burst": 165}`)
	want := gcra.NewLimit(big.NewRat(1100, 1), big.NewRat(55, 2), 1)
	if got := q.Limit(Share{2, 12}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestLimitIsRemembered(t *testing.T) {
	q := parse(t, `{"rate": 6600, "burst": 165}`)
	for _, share := range []Share{Whole, {1, 4}, {3, 16}} {
		q.Limit(share)
		if n := testing.AllocsPerRun(100, func() { q.Limit(share) }); n != 0 {
			t.Errorf("%v: %v allocations", share, n)
		}
	}
}

func TestLimitFromManyGoroutines(t *testing.T) {
	q := parse(t, `{"rate": 7, "burst": 165}`)
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			for i := range 200 {
				d := 1 + (i+n)%12
				if got, want := q.Limit(Share{1, d}), gcra.NewLimit(q.Rate(), q.Burst(), d); got != want {
					t.Errorf("D = %d: %+v, want %+v", d, got, want)
				}
			}
		})
	}
	group.Wait()
}

func TestQuotaCannotBeChangedThroughItsNumbers(t *testing.T) {
	q := parse(t, `{"rate": 7, "burst": 1}`)
	q.Rate().SetInt64(1000)
	q.Burst().SetInt64(1000)
	if q.Rate().Cmp(big.NewRat(7, 1)) != 0 || q.Burst().Cmp(big.NewRat(1, 1)) != 0 {
		t.Errorf("rate %v, burst %v", q.Rate(), q.Burst())
	}
}
