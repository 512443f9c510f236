package target

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/test/bench/load"
)

// Clusters start beside each other around one store, answer, tell what they use
// and how they spread it, and end.
func TestClusters(t *testing.T) {
	t.Parallel()
	site, cpu := newSite(t)
	if err := site.BuildCluster(t.Context()); err != nil {
		t.Fatal(err)
	}
	store, err := site.StartStore(t.Context(), cpu)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Stop)
	for _, o := range []ClusterOptions{{Limiters: 1, Proxies: 1, Factor: 1}, {Limiters: 3, Proxies: 2, Factor: 2}} {
		c, err := site.StartCluster(t.Context(), store, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Stop)
		if len(c.Limiters) != o.Limiters || len(c.Proxies) != o.Proxies {
			t.Fatalf("%+v: %d limiters, %d proxies", o, len(c.Limiters), len(c.Proxies))
		}
		for _, s := range c.servers() {
			onlyOn(t, s, cpu)
		}
		asked(t, c)
	}
	store.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := site.StartCluster(ctx, store, ClusterOptions{Limiters: 1, Factor: 1}); err == nil || !strings.Contains(err.Error(), "write to etcd") {
		t.Errorf("without a store: %v", err)
	}
}

// asked asks a cluster and checks its books.
func asked(t *testing.T, c *Cluster) {
	t.Helper()
	proxies, limiters, err := c.CPU()
	if err != nil {
		t.Fatal(err)
	}
	tally, err := load.Plan{
		Addrs: c.Addrs(load.H2C), Protocol: load.H2C, Connections: 4, InFlight: 8, Keys: 1000, For: 300 * time.Millisecond,
	}.Run(t.Context())
	if err != nil || tally.Accepted() != tally.Requests {
		t.Fatalf("%v, %v", tally, err)
	}
	p, l, err := c.CPU()
	if err != nil || p <= proxies || l <= limiters {
		t.Errorf("after %d requests %v and %v, before %v and %v, %v", tally.Requests, p, l, proxies, limiters, err)
	}
	if err := c.Check(t.Context()); err != nil {
		t.Error(err)
	}
	c.Stop()
	if _, _, err := c.CPU(); err == nil {
		t.Error("the cluster goes on")
	}
}

// counting is a daemon that shows a metric.
func counting(t *testing.T, metric string) *Server {
	t.Helper()
	return served(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(metric + "\n")) })
}

func TestCheck(t *testing.T) {
	t.Parallel()
	limiter := func(n string) *Server { return counting(t, `levee_attempts_total{result="accepted"} `+n) }
	proxy := func(n string) *Server { return counting(t, `levee_proxy_retries_total{reason="refused"} `+n) }
	for _, c := range []struct {
		limiters, proxies []*Server
		want              string // of the error
	}{
		{[]*Server{limiter("6000"), limiter("4000")}, []*Server{proxy("0"), proxy("10")}, ""},
		{[]*Server{limiter("7600"), limiter("2400")}, []*Server{proxy("0")}, "not spread"},
		{[]*Server{limiter("10000")}, []*Server{proxy("6"), proxy("6")}, "12 attempts of 10000 were handed to a second"},
		{[]*Server{counting(t, "")}, nil, "there is no levee_attempts_total"},
		{[]*Server{limiter("1")}, []*Server{counting(t, "")}, "there is no levee_proxy_retries_total"},
	} {
		err := (&Cluster{Limiters: c.limiters, Proxies: c.proxies}).Check(t.Context())
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

func TestUntil(t *testing.T) {
	t.Parallel()
	p := shell(t, "exec sleep 60")
	left := 3
	if err := p.until(t.Context(), "it works", func() error {
		if left--; left > 0 {
			return errors.New("not yet")
		}
		return nil
	}); err != nil || left != 0 {
		t.Errorf("%v, %d left", err, left)
	}
	never := func() error { return errors.New("not yet") }
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := p.until(ctx, "it works", never); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "it works: ") || !strings.Contains(err.Error(), "not yet") {
		t.Errorf("got %v", err)
	}
	if err := shell(t, "echo out of luck >&2").until(t.Context(), "it works", never); err == nil || !strings.Contains(err.Error(), "out of luck") {
		t.Errorf("got %v", err)
	}
}
