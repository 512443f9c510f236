package cluster

import (
	"context"
	"math"
	"net/netip"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/test/harness"
)

// TestHotKeys asks a proxy, and wants it and its limiters together to tell the same:
// what was asked, and what was rejected, of each bucket.
func TestHotKeys(t *testing.T) {
	c, _ := start(t, harness.ClusterOptions{Observers: 1, Limiters: 3, Proxies: 1, Proxy: patient()}, entries{
		sublimitKey("photos", "GET"): `{"rate": 0, "burst": 0}`, "limit/key_default": plenty, "factor/default": "3",
	})
	proxy := c.Proxies[0].Client(t, harness.H2C)
	for range 60 {
		proxy.Attempt(t, "photos", "albums", "GET")
		proxy.Attempt(t, "other")
	}
	proxy.Hits(t, 90, "other", "", "GET")
	proxy.Hits(t, 0, "peeked")

	client := adminapi.NewClient()
	t.Cleanup(client.Close)
	ask := func(n *harness.Node) *adminapi.Top {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		top, err := client.Top(ctx, netip.MustParseAddrPort(n.MetricsAddr))
		if err != nil {
			t.Fatal(err)
		}
		return top
	}
	var limiters []*adminapi.Top
	for _, l := range c.Limiters {
		limiters = append(limiters, ask(l))
	}
	for who, top := range map[string]*adminapi.Top{"the proxy": ask(c.Proxies[0]), "the limiters": adminapi.Merge(limiters...)} {
		wantKeys(t, who+" of attempts", top.Attempts, adminapi.Key{Resource: "other", Level: "resource", Count: 150},
			adminapi.Key{Resource: "photos", Method: "GET", Level: "method", Count: 60})
		wantKeys(t, who+" of rejections", top.Rejections, adminapi.Key{Resource: "photos", Method: "GET", Level: "method", Count: 60})
	}
}

// wantKeys compares lists of keys, of which a little may have decayed.
func wantKeys(t *testing.T, who string, got []adminapi.Key, want ...adminapi.Key) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %+v, want %+v", who, got, want)
	}
	for i, w := range want {
		g := got[i]
		if count := g.Count; g.Error == 0 && count <= w.Count && math.Abs(count/w.Count-1) < 0.3 {
			g.Count = w.Count
		}
		if g != w {
			t.Errorf("%s: %+v, want %+v", who, got[i], w)
		}
	}
}
