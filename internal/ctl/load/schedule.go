package load

import (
	"math"
	"math/rand/v2"
	"time"
)

// schedule says when attempts are due in an open loop, in nanoseconds since the
// run began.
type schedule struct {
	next    int64
	exact   float64 // next, before it was rounded
	pause   float64 // nanoseconds from one to the next, on average
	poisson bool
	random  *rand.Rand
}

// together is the time within which attempts are due at once, at its end. To wake
// for each would cost more than the attempts, here and at the server.
const together = 200 * time.Microsecond

func newSchedule(rate float64, poisson bool, random *rand.Rand) schedule {
	return schedule{pause: 1e9 / rate, poisson: poisson, random: random}
}

// step goes to the next attempt: evenly, or at random with the same rate, as
// requests of many independent clients come.
func (s *schedule) step() {
	pause := s.pause
	if s.poisson {
		pause *= s.random.ExpFloat64()
	}
	s.exact += pause
	s.next = int64(math.Ceil(s.exact/float64(together))) * int64(together)
}
