package front

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/levee-project/levee/internal/attempt"
)

// Whatever comes together and on whichever lane, each answer is counted once, under
// its kind.
func TestCounts(t *testing.T) {
	kinds := []attempt.Outcome{
		{Result: attempt.Accepted, Level: attempt.Full},
		{Result: attempt.Accepted, Level: attempt.Resource},
		{Result: attempt.Accepted, Level: attempt.Resource, Shadow: true},
		{Result: attempt.Accepted, Level: attempt.Resource, Shadow: true, Over: true},
		{Result: attempt.Rejected, Level: attempt.Resource, Over: true},
		{Result: attempt.Rejected, Over: true},
		{},
	}
	type kind struct {
		result attempt.Result
		level  attempt.Level
		shadow bool
	}
	counts, want := NewTally(), map[kind]int64{}
	var mu sync.Mutex // guards want
	var wg sync.WaitGroup
	for lane := range 3 * lanes {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(lane)))
			for range 200 {
				all := make([]attempt.Outcome, 1+random.IntN(8))
				as := make([]attempt.Attempt, len(all))
				for i := range all {
					as[i].Lane = uint8(lane)
					all[i] = kinds[random.IntN(len(kinds))]
					k := kind{all[i].Result, all[i].Level, all[i].Shadow}
					if all[i].Shadow && all[i].Over {
						k.result = attempt.Rejected
					}
					mu.Lock()
					want[k]++
					mu.Unlock()
				}
				counts.AddAll(as[1:], all[1:])
				counts.Add(&as[0], &all[0])
			}
		})
	}
	wg.Wait()
	for _, r := range []attempt.Result{attempt.Failed, attempt.Accepted, attempt.Rejected} {
		for _, l := range attempt.Levels {
			for _, shadow := range []bool{false, true} {
				if got := counts.Count(r, l, shadow); got != want[kind{r, l, shadow}] {
					t.Errorf("%v %v shadow=%v: %d, want %d", r, l, shadow, got, want[kind{r, l, shadow}])
				}
			}
		}
	}
}
