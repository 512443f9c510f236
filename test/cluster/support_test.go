package cluster

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/levee-project/levee/test/etcdtest"
	"github.com/levee-project/levee/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// entries are a shared tree, raw value by key without the root prefix.
type entries = map[string]string

// start starts a cluster with a store of its own.
func start(t *testing.T, o harness.ClusterOptions, e entries) (*harness.Cluster, *etcdtest.Server) {
	t.Helper()
	s := etcdtest.Start(t, etcdtest.Options{})
	began := time.Now()
	c := harness.StartCluster(t, s, o, e)
	t.Logf("%d observers, %d limiters and %d proxies were ready after %v",
		o.Observers, o.Limiters, o.Proxies, time.Since(began).Round(10*time.Millisecond))
	return c, s
}

func quotaKey(resource string) string       { return "limit/key/" + resource + "/quota" }
func sublimitKey(resource, m string) string { return "limit/key/" + resource + "/sublimit/" + m }
func factorKey(resource string) string      { return "factor/key/" + resource }

// plenty is a quota that no test exceeds.
const plenty = `{"rate": 1e9, "burst": 1e9}`

// bucket is a quota of a group.
type bucket struct {
	rate, burst float64
	d           int // group size
}

func (b bucket) quota() string { return fmt.Sprintf(`{"rate": %v, "burst": %v}`, b.rate, b.burst) }

// most is what all limiters of the group together may pass over a time: each its
// share of the rate, and of the burst, and one.
func (b bucket) most(t time.Duration) float64 {
	return b.rate*t.Seconds() + b.burst + float64(b.d)
}

// mostAfterCrash is most when one limiter was replaced meanwhile, by one that owes
// nothing.
func (b bucket) mostAfterCrash(t time.Duration) float64 {
	return b.most(t) + b.burst/float64(b.d) + 1
}

// begin puts a load on, and returns what waits for its end. It fails the test
// unless all is answered, by 200 or 429.
func begin(t *testing.T, l harness.Load) (wait func() harness.Tally) {
	t.Helper()
	var tally harness.Tally
	ended := make(chan error, 1)
	waited := harness.CPUWait()
	go func() {
		var err error
		tally, err = l.Run(t.Context())
		ended <- err
	}()
	return func() harness.Tally {
		t.Helper()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		t.Logf("%d sent in %v (%.0f/s), answers %v, the slowest after %v", tally.Sent, tally.Took.Round(time.Millisecond),
			tally.PerSecond(tally.Sent), tally.Answers, tally.Slowest.Round(100*time.Microsecond))
		t.Logf("somebody on this machine waited for a processor %.0f %% of the time",
			100*(harness.CPUWait()-waited).Seconds()/tally.Took.Seconds())
		if n := tally.Answers[http.StatusOK] + tally.Answers[http.StatusTooManyRequests]; n != tally.Sent {
			t.Errorf("answers %v to %d attempts, want only 200 and 429", tally.Answers, tally.Sent)
		}
		return tally
	}
}

// wantAtMost and wantAtLeast judge how many attempts were accepted.
func wantAtMost(t *testing.T, accepted int, most float64) {
	t.Helper()
	if float64(accepted) > most {
		t.Errorf("%d accepted, at most %.1f may be", accepted, most)
	}
}

func wantAtLeast(t *testing.T, accepted int, least float64) {
	t.Helper()
	if float64(accepted) < least {
		t.Errorf("%d accepted, at least %.1f should be", accepted, least)
	}
}

// crowd is callers at all proxies, each asking about a resource of its own.
type crowd []*harness.Callers

// gather starts n callers at each of the addresses.
func gather(t *testing.T, addrs []string, n int) (c crowd) {
	t.Helper()
	for _, addr := range addrs {
		for i := range n {
			c = append(c, harness.StartCallers(t, addr, 1, harness.AttemptText(fmt.Sprintf("crowd-%d", i))))
		}
	}
	return c
}

// count is how many answers there were so far.
func (c crowd) count() (n int) {
	for _, callers := range c {
		n += callers.Count()
	}
	return n
}

// goesOn waits until there were more answers, so that what has just happened is
// something that attempts have met.
func (c crowd) goesOn(t *testing.T) {
	t.Helper()
	before := c.count()
	harness.Eventually(t, 10*time.Second, "attempts go on", func() bool { return c.count() >= before+20*len(c) })
}

// wantUnharmed ends the crowd and fails the test unless every attempt was accepted,
// and none had to wait for somebody who did not answer. The proxies are patient.
func (c crowd) wantUnharmed(t *testing.T) {
	t.Helper()
	answers, slowest := map[int]int{}, time.Duration(0)
	for _, callers := range c {
		calls := callers.Stop()
		for status, n := range calls.Answers {
			answers[status] += n
		}
		slowest = max(slowest, calls.Slowest)
		if len(calls.Lost) > 0 || calls.Refused > 0 {
			t.Errorf("%d attempts were lost, the first one by %v; %d connections refused", len(calls.Lost), calls.Lost, calls.Refused)
		}
	}
	t.Logf("answers %v, the slowest after %v", answers, slowest.Round(100*time.Microsecond))
	if len(answers) != 1 || answers[http.StatusOK] == 0 {
		t.Errorf("answers %v, want only 200", answers)
	}
	if slowest > attemptTimeout {
		t.Errorf("the slowest answer came after %v, want less than %v", slowest, attemptTimeout)
	}
}

// served is how many attempts a limiter has decided.
func served(t *testing.T, n *harness.Node) float64 {
	t.Helper()
	return n.Scrape(t).Sum("levee_attempts_total")
}

// busiest returns the limiter that has decided most.
func busiest(t *testing.T, nodes []*harness.Node) (best *harness.Node) {
	t.Helper()
	most := 0.0
	for _, n := range nodes {
		if did := served(t, n); did > most {
			best, most = n, did
		}
	}
	if best == nil {
		t.Fatal("no limiter has decided anything")
	}
	return best
}
