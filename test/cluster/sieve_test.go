package cluster

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

// A group of any size passes what one limiter would.
func TestSievingSaturated(t *testing.T) {
	const rate, burst = 1000, 100
	e := entries{}
	for _, d := range []int{1, 2, 4, 8} {
		name := fmt.Sprintf("r%d", d)
		e[factorKey(name)], e[quotaKey(name)] = fmt.Sprint(d), bucket{rate: rate, burst: burst}.quota()
	}
	c, _ := start(t, harness.ClusterOptions{Observers: 1, Limiters: 8, Proxies: 2, Proxy: patient()}, e)
	for _, d := range []int{1, 2, 4, 8} {
		t.Run(fmt.Sprintf("D=%d", d), func(t *testing.T) {
			b := bucket{rate, burst, d}
			before := decided(t, c.Limiters)
			tally := begin(t, harness.Load{
				Addrs: c.ProxyAddrs(), Request: harness.AttemptText(fmt.Sprintf("r%d", d)),
				Connections: 16, Rate: 3 * rate, Batch: 8, For: 10 * time.Second,
			})()
			accepted := tally.Answers[http.StatusOK]
			wantAtMost(t, accepted, b.most(tally.Took))
			wantAtLeast(t, accepted, 0.98*rate*tally.Took.Seconds())
			wantEven(t, before, decided(t, c.Limiters), d, tally.Sent)
		})
	}
}

// decided is how many attempts each limiter has decided so far.
func decided(t *testing.T, limiters []*harness.Node) (n []float64) {
	t.Helper()
	for _, l := range limiters {
		n = append(n, served(t, l))
	}
	return n
}

// wantEven fails the test unless all attempts were dealt to d limiters, evenly but
// for a hundredth.
func wantEven(t *testing.T, before, after []float64, d, sent int) {
	t.Helper()
	var shares []float64
	for i := range after {
		if n := after[i] - before[i]; n > 0 {
			shares = append(shares, n)
		}
	}
	even := float64(sent) / float64(d)
	if len(shares) != d || slices.Min(shares) < 0.99*even || slices.Max(shares) > 1.01*even {
		t.Errorf("%d attempts were dealt as %v, want %d times %.0f", sent, shares, d, even)
	}
}

// Methods in turn, each with a quota of its own: were the turns those of the
// resource, every limiter would see one method only, and half would be rejected.
func TestSievingMethodsInTurn(t *testing.T) {
	const rate, burst, attempts = 100, 10, 1000
	quota := bucket{rate: rate, burst: burst}.quota()
	c, _ := start(t, harness.ClusterOptions{Observers: 1, Limiters: 3, Proxies: 1, Proxy: patient()}, entries{
		"factor/default":        "2",
		sublimitKey("r", "GET"): quota, sublimitKey("r", "POST"): quota,
	})
	conn := harness.Dial(t, c.Proxies[0].Addr)
	methods := []string{"GET", "POST"}
	accepted := map[string]int{}
	began := time.Now()
	for i := range 2 * attempts {
		due := began.Add(time.Duration(float64(i) / (2 * 0.9 * rate) * float64(time.Second)))
		time.Sleep(time.Until(due))
		m := methods[i%2]
		if a := conn.Ask(t, string(harness.AttemptText("r", "X-Method", m))); a.Status == http.StatusOK {
			accepted[m]++
		}
	}
	t.Logf("of %d each in %v, accepted %v", attempts, time.Since(began).Round(time.Millisecond), accepted)
	for _, m := range methods {
		wantAtLeast(t, accepted[m], 0.95*attempts)
		wantAtMost(t, accepted[m], bucket{rate, burst, 2}.most(time.Since(began)))
	}
}

// All proxies send a resource to the same limiter.
func TestOneInThirtySeconds(t *testing.T) {
	t.Parallel()
	c, _ := start(t, harness.ClusterOptions{Observers: 2, Limiters: 3, Proxies: 2}, entries{
		"limit/key_default": `{"rate": 2, "per": "1m", "burst": 0}`,
	})
	clients := []*harness.Client{c.Proxies[0].Client(t, harness.HTTP1), c.Proxies[1].Client(t, harness.H2C)}
	for _, resource := range []string{"a", "b", "c", "d", "e"} {
		accepted := 0
		for i := range 30 {
			accepted += clients[i%2].Accepted(t, 1, resource)
		}
		if accepted != 1 {
			t.Errorf("%s: %d of 30 attempts were accepted, want 1", resource, accepted)
		}
	}
}
