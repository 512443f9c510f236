//go:build !race

package capacity

import (
	"net/http"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

// tries is how often a case is measured before it counts as too slow: what else
// the machine does can only lower the figures.
const tries = 3

// rateCase is a quota under load.
type rateCase struct {
	name, quota string
	rate, burst float64 // of the quota
	atLeast     float64 // accepted a second
	offered     float64 // a second, that make the case; 0 = whatever comes
	load        harness.Load
}

// A quota is kept to on both sides: nothing beyond rate·t + burst + 1 passes,
// and enough of what the quota allows does.
func TestRate(t *testing.T) {
	for _, c := range []rateCase{
		{
			name: "10,000 a second, burst 10", quota: `{"rate": 10000, "burst": 10}`,
			rate: 10000, burst: 10, atLeast: 9000, offered: 29000,
			load: harness.Load{Connections: 16, Rate: 30000, Batch: 64, For: 5 * time.Second},
		},
		{
			name: "10,000 a second, burst 1", quota: `{"rate": 10000, "burst": 1}`,
			rate: 10000, burst: 1, atLeast: 3000, offered: 29000,
			load: harness.Load{Connections: 16, Rate: 30000, Batch: 64, For: 5 * time.Second},
		},
		{
			name: "1,000 a second, hammered", quota: `{"rate": 1000, "burst": 10}`,
			rate: 1000, burst: 10, atLeast: 500,
			load: harness.Load{Connections: 64, Batch: 1, For: 10 * time.Second},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := harness.NewFileStore(t, map[string]string{"limit/key/r/quota": c.quota})
			l := harness.StartLimiter(t, "--storage-addrs="+s.Addr())
			c.load.Addr, c.load.Request = l.Addr, harness.AttemptText("r")
			for range tries {
				if c.measure(t) || t.Failed() {
					return
				}
			}
			t.Errorf("too slow %d times: want %.0f accepted a second, of %.0f", tries, c.atLeast, c.offered)
		})
	}
}

// measure puts the load on once, and reports whether enough passed. That too
// much did is an error at once.
func (c rateCase) measure(t *testing.T) (enough bool) {
	t.Helper()
	tally, err := c.load.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	accepted := tally.Answers[http.StatusOK]
	t.Logf("%d sent in %v (%.0f/s), %d accepted (%.0f/s)", tally.Sent, tally.Took.Round(time.Millisecond),
		tally.PerSecond(tally.Sent), accepted, tally.PerSecond(accepted))
	if most := c.rate*tally.Took.Seconds() + c.burst + 1; float64(accepted) > most {
		t.Errorf("%d accepted, at most %.0f may be", accepted, most)
	}
	if len(tally.Answers) != 2 || accepted+tally.Answers[http.StatusTooManyRequests] != tally.Sent {
		t.Errorf("answers %v to %d requests, want only 200 and 429", tally.Answers, tally.Sent)
	}
	return tally.PerSecond(accepted) >= c.atLeast && tally.PerSecond(tally.Sent) >= c.offered
}
