package cluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/test/etcdtest"
	"github.com/levee-project/levee/test/harness"
)

// half is one side of a network: two limiters, an observer and a proxy.
type half struct {
	limiters        []*harness.Node
	observer, proxy *harness.Node
}

func (h *half) nodes() []*harness.Node {
	return append([]*harness.Node{h.observer, h.proxy}, h.limiters...)
}

// divided is a cluster on two sides of a network.
type divided struct {
	network *harness.Network
	a, b    half
}

const halfLimiters = 2 // on each side

func startDivided(t *testing.T, onPartition string, e entries) *divided {
	t.Helper()
	s := etcdtest.Start(t, etcdtest.Options{})
	d := &divided{network: harness.NewNetwork(t, "a", "b")}
	store := harness.NewLinkAt(t, d.network.Gateway, strings.TrimPrefix(s.Endpoint(), "http://"))
	for key, value := range e {
		s.Put("/levee/"+key, value)
	}
	start := func(side string, h *half) {
		in := harness.Command{Namespace: d.network.Namespace(side)}
		host := d.network.Host(side)
		s.Put("/levee/observer/observer-"+side, harness.ObserverEntry(host))
		h.observer = harness.StartObserver(t, "http://"+store.Addr, "observer-"+side, host, in)
		h.proxy = harness.StartProxy(t, "http://"+store.Addr, "proxy-"+side, d.network.Host(side), in)
		in.Args = []string{"--on-partition=" + onPartition}
		for i := range halfLimiters {
			name := fmt.Sprintf("limiter-%s-%d", side, i+1)
			h.limiters = append(h.limiters, harness.StartClusterLimiter(t, "http://"+store.Addr, name, d.network.Host(side), in))
		}
	}
	start("a", &d.a)
	start("b", &d.b)
	harness.WaitServing(t, 30*time.Second, 2*halfLimiters, append(d.a.nodes(), d.b.nodes()...))
	return d
}

// noticed waits until everybody knows that the other side is silent.
func (d *divided) noticed(t *testing.T) {
	t.Helper()
	took := harness.Eventually(t, 20*time.Second, "both sides notice", func() bool {
		for _, n := range append(d.a.nodes(), d.b.nodes()...) {
			if n.Members("limiter", "silent") != halfLimiters || n.Members("limiter", "serving") != halfLimiters {
				return false
			}
		}
		return true
	})
	t.Logf("both sides knew of the cut after %v", took.Round(10*time.Millisecond))
}

// saturate asks both proxies for more than the quota, for a while, and returns
// what each side accepted.
func (d *divided) saturate(t *testing.T, b bucket, resource string, length time.Duration) (a, bb int, took time.Duration) {
	t.Helper()
	load := func(p *harness.Node) func() harness.Tally {
		return begin(t, harness.Load{
			Addr: p.Addr, Request: harness.AttemptText(resource), Connections: 4, Rate: 2 * b.rate, Batch: 1, For: length,
		})
	}
	waitA, waitB := load(d.a.proxy), load(d.b.proxy)
	tallyA, tallyB := waitA(), waitB()
	return tallyA.Answers[200], tallyB.Answers[200], max(tallyA.Took, tallyB.Took)
}

// In a partition, conservative limiters never pass more than the quota, over both
// sides; available ones pass at most the quota on each side, and the metrics say
// what is missing. Healed, the views are whole again within 15 s.
func TestPartition(t *testing.T) {
	for _, onPartition := range []string{"conservative", "available"} {
		t.Run(onPartition, func(t *testing.T) {
			t.Parallel()
			b := bucket{rate: 400, burst: 40, d: 2 * halfLimiters}
			d := startDivided(t, onPartition, entries{quotaKey("r"): b.quota(), factorKey("r"): fmt.Sprint(b.d)})
			d.network.Cut("a", "b")
			d.noticed(t)

			const length = 10 * time.Second
			a, bb, took := d.saturate(t, b, "r", length)
			t.Logf("%d and %d accepted in %v", a, bb, took.Round(time.Millisecond))
			if onPartition == "conservative" {
				wantAtMost(t, a+bb, b.most(took))
				wantAtLeast(t, a+bb, 0.9*b.rate*length.Seconds())
			} else {
				wantAtMost(t, a, b.most(took))
				wantAtMost(t, bb, b.most(took))
				wantAtLeast(t, min(a, bb), 0.9*b.rate*length.Seconds())
				for _, n := range append(d.a.nodes(), d.b.nodes()...) {
					if short := n.Scrape(t).Sum("levee_group_short"); short != halfLimiters {
						t.Errorf("%s: levee_group_short is %v, want %d", n.Name, short, halfLimiters)
					}
				}
			}

			d.network.Mend()
			healed := harness.WaitServing(t, 15*time.Second, 2*halfLimiters, append(d.a.nodes(), d.b.nodes()...))
			t.Logf("healed after %v", healed.Round(10*time.Millisecond))
			a, bb, took = d.saturate(t, b, "r", 3*time.Second)
			wantAtMost(t, a+bb, b.most(took))
		})
	}
}

// A limiter that is started again on one side of a partition learns there of the
// other side, and goes on passing its part only.
func TestRestartBehindAPartition(t *testing.T) {
	t.Parallel()
	b := bucket{rate: 400, burst: 40, d: 2 * halfLimiters}
	d := startDivided(t, "conservative", entries{quotaKey("r"): b.quota(), factorKey("r"): fmt.Sprint(b.d)})
	d.network.Cut("a", "b")
	d.noticed(t)
	again := d.a.limiters[0]
	again.Stop(t)
	again.Start(t)
	again.WaitReady(t)
	d.noticed(t)
	const length = 5 * time.Second
	a, bb, took := d.saturate(t, b, "r", length)
	t.Logf("%d and %d accepted in %v", a, bb, took.Round(time.Millisecond))
	wantAtMost(t, a+bb, b.most(took))
}

// Everybody is killed at once and started again: within 15 s the views are right.
func TestMassRestart(t *testing.T) {
	t.Parallel()
	c, _ := start(t, harness.ClusterOptions{Observers: 2, Limiters: 4, Proxies: 2}, entries{"limit/key_default": plenty})
	nodes := c.Nodes()
	for _, n := range nodes {
		n.Kill()
	}
	for _, n := range nodes {
		n.WaitExit(t, 5*time.Second)
	}
	for _, n := range nodes {
		n.Start(t)
	}
	t.Logf("views were right after %v", c.WaitServing(15*time.Second, 4).Round(10*time.Millisecond))
	for _, n := range c.Nodes() {
		if silent := n.Members("limiter", "silent"); silent != 0 {
			t.Errorf("%s knows %d silent limiters, want none", n.Name, silent)
		}
	}
}

// A limiter that dies and comes back at another address, under its name, replaces
// its old self.
func TestRestartElsewhere(t *testing.T) {
	t.Parallel()
	c, s := start(t, harness.ClusterOptions{Observers: 1, Limiters: 3, Proxies: 1}, entries{"limit/key_default": plenty})
	gone := c.Limiters[0]
	gone.Kill()
	gone.WaitExit(t, 5*time.Second)
	elsewhere := gone.Host[:strings.LastIndex(gone.Host, ".")] + ".99"
	again := harness.StartClusterLimiter(t, s.Endpoint(), gone.Name, elsewhere, harness.Command{})
	nodes := append(c.Nodes(), again)
	t.Logf("views were right after %v", harness.WaitServing(t, 15*time.Second, 3, nodes).Round(10*time.Millisecond))
	for _, n := range nodes {
		if silent := n.Members("limiter", "silent"); silent != 0 {
			t.Errorf("%s knows %d silent limiters, want none", n.Name, silent)
		}
	}
	client := c.Proxies[0].Client(t, harness.HTTP1)
	harness.Eventually(t, 10*time.Second, "attempts come to the new address", func() bool {
		for i := range 30 {
			if a := client.Attempt(t, fmt.Sprint("r-", i)); a.Status != 200 {
				t.Fatalf("answer %d, want 200", a.Status)
			}
		}
		return served(t, again) > 0
	})
}
