package cluster

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

// attemptTimeout is so long that a busy machine takes no part of it: an attempt
// that took it waited for somebody who did not answer.
const attemptTimeout = 500 * time.Millisecond

func patient() harness.Command {
	return harness.Command{Args: []string{fmt.Sprintf("--attempt-timeout=%v", attemptTimeout)}}
}

// Limiters come, go in order, and are replaced one after the other, under load:
// nobody is harmed.
func TestPlannedChanges(t *testing.T) {
	c, _ := start(t, harness.ClusterOptions{Observers: 2, Limiters: 3, Proxies: 2, Proxy: patient()}, entries{
		"factor/default": "2", "limit/key_default": plenty,
	})
	callers := gather(t, c.ProxyAddrs(), 8)
	callers.goesOn(t)

	c.AddLimiter()
	t.Logf("the fourth limiter was in use after %v", c.WaitServing(20*time.Second, 4))
	callers.goesOn(t)
	c.Limiters[0].Stop(t)
	t.Logf("the proxies went on %v after the first was gone", c.WaitServing(knownWithin, 3))
	callers.goesOn(t)
	for _, l := range c.Limiters[1:] {
		l.Stop(t)
		c.WaitServing(knownWithin, 2)
		l.Start(t)
		t.Logf("%s was in use again after %v", l.Name, c.WaitServing(20*time.Second, 3))
		callers.goesOn(t)
	}
	callers.wantUnharmed(t)
	for _, p := range c.Proxies {
		if n := p.Scrape(t).Sum("levee_proxy_retries_total", "reason", "timeout"); n > 0 {
			t.Errorf("%s has waited in vain %.0f times", p.Name, n)
		}
	}
}

// A proxy that is stopped under load answers all that it was asked, and its
// clients go elsewhere.
func TestProxyStops(t *testing.T) {
	t.Parallel()
	c, _ := start(t, harness.ClusterOptions{
		Observers: 1, Limiters: 2, Proxies: 2, Proxy: harness.Command{Args: []string{"--drain-timeout=2s"}},
	}, entries{"limit/key_default": plenty})
	for _, p := range c.Proxies {
		callers := harness.StartCallers(t, p.Addr, 8, harness.AttemptText("r"))
		harness.Eventually(t, 10*time.Second, "attempts are answered", func() bool { return callers.Count() > 200 })
		p.Stop(t)
		calls := callers.Stop()
		t.Logf("%s has answered %v, told %d connections to go and lost %d attempts", p.Name, calls.Answers, calls.Told, len(calls.Lost))
		if len(calls.Lost) > 0 || calls.Told == 0 || len(calls.Answers) != 1 || calls.Answers[200] == 0 {
			t.Errorf("got %+v, want only 200, none lost, and some told to go", calls)
		}
	}
}

// Only the keys move that have to: to a new limiter what it wins, away from one
// that has gone what it had.
func TestKeysThatMove(t *testing.T) {
	t.Parallel()
	const keys = 600
	c, _ := start(t, harness.ClusterOptions{
		Observers: 1, Limiters: 4, Proxies: 1, Proxy: patient(), Limiter: harness.Command{Args: []string{"--verbose"}},
	}, entries{"limit/key_default": plenty})
	client := c.Proxies[0].Client(t, harness.H2C)
	round := 0
	owners := func() map[string]string {
		round++
		id := fmt.Sprintf("round-%d", round)
		for i := range keys {
			f := map[string][]string{"X-Resource": {fmt.Sprintf("key-%d", i)}, "X-Req-Id": {id}}
			if a := client.Send(t, harness.Request{Fields: f}); a.Status != 200 {
				t.Fatalf("got %v", a)
			}
		}
		return ownersOf(t, c.Limiters, id, keys)
	}

	before := owners()
	joined := c.AddLimiter()
	c.WaitServing(20*time.Second, 5)
	after := owners()
	moved, astray := 0, []string{}
	for key, owner := range after {
		switch {
		case owner == joined.Name:
			moved++
		case owner != before[key]:
			astray = append(astray, key)
		}
	}
	t.Logf("%d of %d keys moved to the fifth limiter", moved, keys)
	wantShare(t, moved, keys, 1.0/5)
	if len(astray) > 0 {
		t.Errorf("%d keys moved between those that were there before: %q", len(astray), astray)
	}

	gone := c.Limiters[1]
	gone.Stop(t)
	c.WaitServing(knownWithin, 4)
	had := 0
	astray = nil
	for key, owner := range owners() {
		switch was := after[key]; {
		case was == gone.Name:
			had++
		case owner != was:
			astray = append(astray, key)
		}
	}
	t.Logf("%d of %d keys moved from the one that has gone", had, keys)
	wantShare(t, had, keys, 1.0/5)
	if len(astray) > 0 {
		t.Errorf("%d keys moved away from limiters that have stayed: %q", len(astray), astray)
	}
}

// ownersOf reads in the logs which limiter decided which key.
func ownersOf(t *testing.T, limiters []*harness.Node, id string, keys int) map[string]string {
	t.Helper()
	owners := map[string]string{}
	harness.Eventually(t, 10*time.Second, "the limiters have logged all attempts of "+id, func() bool {
		for _, l := range limiters {
			for _, line := range l.Log() {
				if line.Text("msg") == "attempt" && line.Text("req_id") == id {
					owners[line.Text("resource")] = l.Name
				}
			}
		}
		return len(owners) == keys
	})
	return owners
}

// wantShare fails the test when n of all is further from a share than chance would
// have it once in a million times.
func wantShare(t *testing.T, n, all int, share float64) {
	t.Helper()
	mean := float64(all) * share
	if sigma := math.Sqrt(mean * (1 - share)); math.Abs(float64(n)-mean) > 5*sigma {
		t.Errorf("%d of %d, want about %.0f", n, all, mean)
	}
}
