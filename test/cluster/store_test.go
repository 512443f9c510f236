package cluster

import (
	"net/http"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

// Without etcd for a minute all goes on, a limiter that dies meanwhile is gone
// round, and what was changed is in force soon after its return.
func TestEtcdAwayForAMinute(t *testing.T) {
	t.Parallel()
	const inForce = 3 * time.Second
	c, s := start(t, harness.ClusterOptions{Observers: 2, Limiters: 3, Proxies: 2, Proxy: patient()}, entries{
		"factor/default": "2", "limit/key_default": plenty, quotaKey("changed"): plenty,
	})
	callers := gather(t, c.ProxyAddrs(), 2)
	s.Stop()
	away := time.Now()
	time.Sleep(time.Until(away.Add(15 * time.Second)))
	callers.goesOn(t)
	for _, n := range c.Nodes() {
		if a := n.Readyz(t); a.Status != http.StatusOK {
			t.Errorf("%s without etcd: %v", n.Name, a)
		}
	}
	victim := c.Limiters[0]
	victim.Kill()
	t.Logf("a limiter that died was known to be silent after %v", c.WaitServing(20*time.Second, 2))
	callers.goesOn(t)
	victim.Start(t) // and waits for etcd
	s.Elsewhere(func() { c.Apply(entries{quotaKey("changed"): `{"rate": 0, "burst": 0}`}) })
	time.Sleep(time.Until(away.Add(time.Minute)))
	callers.goesOn(t)
	if n := harness.WaitServing(t, time.Second, 2, c.Proxies); n > time.Second {
		t.Errorf("after %v", n)
	}

	s.Start()
	for _, p := range c.Proxies {
		client := p.Client(t, harness.HTTP1)
		took := harness.Eventually(t, inForce, "the change is in force", func() bool {
			return client.Attempt(t, "changed").Status == http.StatusTooManyRequests
		})
		t.Logf("in force at %s %v after etcd", p.Name, took.Round(10*time.Millisecond))
	}
	c.WaitServing(20*time.Second, 3)
	callers.wantUnharmed(t)
}
