package ansible

import (
	"net/http"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

// bucket is a quota of a group, and what may be passed of it.
type bucket struct {
	resource    string
	rate, burst float64
	d           int // group size
}

// most is what all limiters of the group together may pass over a time (SPEC 3),
// each its share of the rate, and of the burst, and one; and, for each time that
// the bucket has come to a limiter where it had not been, what one that owes
// nothing passes (SPEC 7.4): again burst/D and one.
func (b bucket) most(t time.Duration, moves int) float64 {
	return b.rate*t.Seconds() + b.burst + float64(b.d) + float64(moves)*(b.burst/float64(b.d)+1)
}

// traffic is what applications ask while something is done to those who answer.
type traffic struct {
	began  time.Time
	waited time.Duration
	of     []stream
}

// stream is one kind of attempts, with their bucket.
type stream struct {
	bucket
	callers *harness.Callers
	// rejects is whether more is asked than the quota is.
	rejects bool
}

// atLeast is the part of a quota that is used when twice as much is asked, also
// while limiters come and go on a machine that is busy.
const atLeast = 0.7

// connections is how many applications ask for each stream.
const connections = 20

// ask adds attempts for a bucket to the traffic.
func (tr *traffic) ask(t *testing.T, addrs []string, b bucket, rate float64) {
	t.Helper()
	if tr.began.IsZero() {
		tr.began, tr.waited = time.Now(), harness.CPUWait()
	}
	callers := harness.StartApplications(t, addrs, connections, rate, harness.AttemptText(b.resource))
	tr.of = append(tr.of, stream{bucket: b, callers: callers, rejects: rate > b.rate})
}

// goesOn waits until there was an answer to each application's attempts, several
// times, so that what has just happened is something that attempts have met.
func (tr *traffic) goesOn(t *testing.T) {
	t.Helper()
	for _, s := range tr.of {
		before := s.callers.Count()
		harness.Eventually(t, 10*time.Second, "attempts for "+s.resource+" go on", func() bool {
			return s.callers.Count() >= before+10*connections
		})
	}
}

// wantUnharmed ends the traffic, and fails the test unless each attempt was
// answered by 200 or 429, and no more were accepted than the quota is and what so
// many moves cost.
func (tr *traffic) wantUnharmed(t *testing.T, moves int) {
	t.Helper()
	for _, s := range tr.of {
		calls := s.callers.Stop()
		took := time.Since(tr.began)
		t.Logf("%s: %.0f attempts/s over %v, answers %v, the slowest after %v; %d connections told to go, %d refused",
			s.resource, float64(s.callers.Count())/took.Seconds(), took.Round(time.Second), calls.Answers,
			calls.Slowest.Round(time.Millisecond), calls.Told, calls.Refused)
		if len(calls.Lost) > 0 {
			t.Errorf("%s: %d attempts were lost, the first one by %v", s.resource, len(calls.Lost), calls.Lost[0])
		}
		accepted := calls.Answers[http.StatusOK]
		if answered := accepted + calls.Answers[http.StatusTooManyRequests]; answered != s.callers.Count() {
			t.Errorf("%s: %d attempts have failed", s.resource, s.callers.Count()-answered)
		}
		if !s.rejects {
			if calls.Answers[http.StatusTooManyRequests] > 0 {
				t.Errorf("%s: %d attempts within the quota were rejected", s.resource, calls.Answers[http.StatusTooManyRequests])
			}
			continue
		}
		most, least := s.most(took, moves), atLeast*s.rate*took.Seconds()
		t.Logf("%s: %d accepted, at most %.0f may be", s.resource, accepted, most)
		if float64(accepted) > most || float64(accepted) < least {
			t.Errorf("%s: %d accepted, want at least %.0f and at most %.0f", s.resource, accepted, least, most)
		}
	}
	t.Logf("somebody on this machine waited for a processor %.0f %% of the time",
		100*(harness.CPUWait()-tr.waited).Seconds()/time.Since(tr.began).Seconds())
}
