package load

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// Attempts are due at the rate that was asked for, in order, and within a moment of
// when they would be alone.
func TestSchedule(t *testing.T) {
	for _, rate := range []float64{3, 1000, 1e6} {
		for _, poisson := range []bool{false, true} {
			s := newSchedule(rate, poisson, rand.New(rand.NewPCG(1, 2)))
			n, last := 0, int64(0)
			for ; s.next < int64(10*time.Second); n++ {
				if late := s.next - int64(s.exact); s.next < last || late < 0 || late > int64(together) {
					t.Fatalf("due at %d after %d, %d late", s.next, last, late)
				}
				last = s.next
				s.step()
			}
			want := 10 * rate
			if wrong := math.Abs(float64(n) - want); wrong > 4*math.Sqrt(want) || !poisson && wrong > rate*together.Seconds()+1 {
				t.Errorf("rate %v, poisson %v: %d in 10 s", rate, poisson, n)
			}
		}
	}
}

func TestKeys(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	one := newKeys(&Plan{Resource: "r", Keys: 1}, random)
	if got := string(one.draw()); got != "r" {
		t.Error(got)
	}
	for _, zipf := range []float64{0, 1.5} {
		k := newKeys(&Plan{Resource: "r", Keys: 10, Zipf: zipf}, random)
		seen := map[string]int{}
		for range 10_000 {
			seen[string(k.draw())]++
		}
		for name := range seen {
			if !strings.HasPrefix(name, "r-") || len(name) != 3 {
				t.Errorf("drew %s", name)
			}
		}
		if zipf == 0 && (len(seen) != 10 || seen["r-0"] < 800 || seen["r-0"] > 1200) || zipf > 0 && seen["r-0"] < 3*seen["r-3"] {
			t.Errorf("zipf %v: %v", zipf, seen)
		}
	}
}
