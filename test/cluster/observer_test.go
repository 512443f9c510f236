package cluster

import (
	"net/http"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

// foundWithin is how soon a proxy has to follow an observer that is there again.
const foundWithin = 5 * time.Second

// One observer after the other dies and comes back, and nobody who asks notices.
// Afterwards the proxies still hear of changes.
func TestObserversDieInTurn(t *testing.T) {
	t.Parallel()
	c, _ := start(t, harness.ClusterOptions{Observers: 2, Limiters: 2, Proxies: 2, Proxy: patient()}, entries{
		"limit/key_default": plenty,
	})
	callers := gather(t, c.ProxyAddrs(), 2)
	for _, o := range c.Observers {
		o.Kill()
		callers.goesOn(t)
		for _, p := range c.Proxies {
			if a := p.Readyz(t); a.Status != http.StatusOK {
				t.Errorf("%s without %s: %v", p.Name, o.Name, a)
			}
		}
		o.Start(t)
		c.WaitServing(20*time.Second, 2)
	}
	c.AddLimiter()
	c.WaitServing(20*time.Second, 3)
	callers.wantUnharmed(t)
}

// Without any observer, a proxy serves for observer-timeout, and then does what
// on-observer-loss says. One that goes on follows them again when they are back.
func TestAllObserversDie(t *testing.T) {
	t.Parallel()
	const timeout = 6 * time.Second
	c, _ := start(t, harness.ClusterOptions{Observers: 2, Limiters: 2, Proxy: patient()}, entries{"limit/key_default": plenty})
	serves := c.AddProxy("--observer-timeout=6s", "--on-observer-loss=serve")
	exits := c.AddProxy("--observer-timeout=6s")
	c.WaitServing(20*time.Second, 2)
	onServing, onExiting := gather(t, []string{serves.Addr}, 2), gather(t, []string{exits.Addr}, 2)
	for _, o := range c.Observers {
		o.Kill()
	}
	lost := time.Now()
	time.Sleep(time.Until(lost.Add(timeout - 2*time.Second)))
	onExiting.goesOn(t)
	if a := serves.Readyz(t); a.Status != http.StatusOK {
		t.Errorf("before observer-timeout: %v", a)
	}
	onExiting.wantUnharmed(t)

	if code := exits.WaitExit(t, 20*time.Second); code == 0 {
		t.Error("the proxy has ended with code 0")
	}
	took := time.Since(lost)
	t.Logf("exit ended the process %v after the last observer", took.Round(10*time.Millisecond))
	if took < timeout-time.Second {
		t.Errorf("the process ended after %v, want %v", took, timeout)
	}
	lines := exits.Log()
	last := lines[len(lines)-1]
	t.Log("its last line: ", last.Raw)
	if !last.Mentions("observer", c.Observers[0].Host, c.Observers[1].Host) {
		t.Errorf("the last line does not say what is missing: %s", last.Raw)
	}

	harness.Eventually(t, 5*time.Second, "the one that serves on is not ready", func() bool { return !serves.Ready() })
	t.Log("serve says: ", serves.Readyz(t).Body)
	onServing.goesOn(t)
	for _, o := range c.Observers {
		o.Start(t)
	}
	for _, o := range c.Observers {
		o.WaitReady(t)
	}
	back := harness.Eventually(t, foundWithin, "the proxy is ready again", serves.Ready)
	t.Logf("ready again %v after the observers", back.Round(10*time.Millisecond))
	c.AddLimiter()
	c.WaitServing(20*time.Second, 3)
	onServing.wantUnharmed(t)
}

// An observer that is entered in the tree is used by those that run already.
func TestNewObserver(t *testing.T) {
	t.Parallel()
	c, _ := start(t, harness.ClusterOptions{Observers: 1, Limiters: 2, Proxies: 2, Proxy: patient()}, entries{
		"limit/key_default": plenty,
	})
	callers := gather(t, c.ProxyAddrs(), 2)
	c.AddObserver()
	c.WaitServing(20*time.Second, 2)
	old := c.Observers[0]
	c.Apply(nil, "observer/"+old.Name)
	old.Stop(t)
	c.AddLimiter()
	t.Logf("a new limiter was known through the new observer after %v", c.WaitServing(20*time.Second, 3))
	callers.wantUnharmed(t)
}
