package cluster

import (
	"net/http"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

// knownWithin is how soon every proxy has to know that a limiter is silent.
const knownWithin = 8 * time.Second

// crash is what may happen to a limiter of a group under load.
type crash struct {
	what func(*harness.Node)
	// back brings it back.
	back func(*harness.Node)
}

// A limiter of the group dies under load: no attempt fails, and what passes is no
// less than the quota, and hardly more.
func TestLimiterKilled(t *testing.T) {
	crash{
		what: func(n *harness.Node) { n.Kill() },
		back: func(n *harness.Node) { n.Start(t) },
	}.run(t)
}

// A limiter that hangs keeps its connections open, and is found out all the same.
func TestLimiterHangs(t *testing.T) {
	crash{
		what: func(n *harness.Node) { n.Freeze(t) },
		back: func(n *harness.Node) { n.Thaw(t) },
	}.run(t)
}

func (k crash) run(t *testing.T) {
	t.Helper()
	const at, end = 10 * time.Second, 30 * time.Second
	b := bucket{rate: 400, burst: 40, d: 4}
	// More than twice the default: a limiter that a busy machine leaves waiting for a
	// tenth of a second is not one that hangs.
	proxy := harness.Command{Args: []string{"--attempt-timeout=250ms"}}
	c, _ := start(t, harness.ClusterOptions{Observers: 2, Limiters: 5, Proxies: 2, Proxy: proxy}, entries{
		factorKey("r"): "4", quotaKey("r"): b.quota(),
	})
	began := time.Now()
	wait := begin(t, harness.Load{
		Addrs: c.ProxyAddrs(), Request: harness.AttemptText("r"), Connections: 64, Rate: 4000, Batch: 16, For: end,
	})
	time.Sleep(time.Until(began.Add(at)))
	victim := busiest(t, c.Limiters)
	k.what(victim)
	known := harness.WaitServing(t, knownWithin, 4, c.Proxies)
	t.Logf("%s was down; the proxies knew after %v", victim.Name, known.Round(10*time.Millisecond))
	tally := wait()
	accepted := tally.Answers[http.StatusOK]
	t.Logf("accepted %d, %.1f %% of the rate", accepted, 100*float64(accepted)/b.rate/tally.Took.Seconds())
	wantAtMost(t, accepted, b.mostAfterCrash(tally.Took))
	wantAtLeast(t, accepted, 0.95*b.rate*tally.Took.Seconds())

	k.back(victim)
	back := c.WaitServing(30*time.Second, 5)
	before := served(t, victim)
	begin(t, harness.Load{
		Addrs: c.ProxyAddrs(), Request: harness.AttemptText("r"), Connections: 4, Rate: 400, Batch: 1, For: 2 * time.Second,
	})()
	t.Logf("it was a member again after %v, and has decided %.0f attempts since", back.Round(10*time.Millisecond), served(t, victim)-before)
	if served(t, victim) == before {
		t.Error("it is asked no more")
	}
}
