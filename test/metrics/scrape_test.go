package metrics

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/levee-project/levee/test/harness"
)

// The rules and the example are what Prometheus's own tool takes, and each alert
// fires when it shall.
func TestPromtool(t *testing.T) {
	t.Parallel()
	promtool(t, "", "check", "rules", config(t, "prometheus/levee.rules.yml"))
	promtool(t, "", "check", "config", config(t, "prometheus/prometheus.yml"))
	promtool(t, "", "test", "rules", config(t, "prometheus/levee.rules.test.yml"))
}

// A real Prometheus finds all daemons, likes their metrics, and has an answer to
// everything that the dashboard and the alerts ask.
func TestPrometheus(t *testing.T) {
	t.Parallel()
	carbon := startCarbon(t)
	pushes := []string{"--graphite-addr=" + carbon.addr, "--graphite-interval=1s"}
	c := start(t, harness.ClusterOptions{
		Observers: 2, Limiters: 2, Proxies: 2,
		Observer: harness.Command{Args: pushes},
		Limiter:  harness.Command{Args: append(slices.Clone(pushes), "--max-keys=1000")},
		Proxy:    harness.Command{Args: pushes},
	}, entries{"limit/key_default": plenty, "factor/default": "2"})
	targets := map[string][]string{"levee-limiter": {vip(t)}}
	for job, nodes := range map[string][]*harness.Node{
		"levee-observer": c.Observers, "levee-limiter": c.Limiters, "levee-client-proxy": c.Proxies,
	} {
		for _, n := range nodes {
			targets[job] = append(targets[job], n.MetricsAddr)
		}
	}
	p := startPrometheus(t, targets)
	for i := range 100 {
		c.Proxies[i%2].Client(t, harness.Protocols[i/50]).Attempt(t, "r", "p", "GET")
	}
	p.waitUp(7)

	for _, n := range c.Nodes() {
		if out := promtool(t, n.ScrapeText(t), "check", "metrics"); out != "" {
			t.Errorf("promtool check metrics says of %s:\n%s", n.Name, out)
		}
	}
	for title, all := range readDashboard(t).queries() {
		for _, expr := range all {
			if len(p.query(expr)) == 0 {
				t.Errorf("the panel %q asks %s, and there is nothing", title, expr)
			}
		}
	}
	for _, a := range alerts(t) {
		if expr := a.judged(t); len(p.query(expr)) == 0 {
			t.Errorf("the alert %s judges %s, and there is nothing", a.Alert, expr)
		}
		if firing := p.query(a.Expr); len(firing) > 0 {
			t.Errorf("the alert %s would fire in a cluster that is well: %v", a.Alert, firing)
		}
	}
	p.wantRules(len(alerts(t)))

	// And of one that is not well it knows.
	c.Limiters[0].Kill()
	p.waitAlert("LeveeInstanceDown", 1)
	p.waitAlert("LeveeGroupShort", 1)
	p.waitAlert("LeveeMemberSilent", 1)
	c.Observers[0].Kill()
	c.Observers[1].Kill()
	p.waitAlert("LeveeObserverUnreachable", 2)
	p.waitAlert("LeveeInstanceDown", 3)
}

// waitAlert waits until an alert has so many series, pending or firing.
func (p *prometheus) waitAlert(name string, series int) {
	p.t.Helper()
	harness.Eventually(p.t, patience, name, func() bool {
		return len(p.query(`ALERTS{alertname="`+name+`"}`)) == series
	})
}

// wantRules fails the test unless Prometheus has so many rules, and could evaluate
// each.
func (p *prometheus) wantRules(n int) {
	p.t.Helper()
	var data struct {
		Groups []struct {
			Rules []struct{ Name, Health, LastError string }
		}
	}
	harness.Eventually(p.t, patience, "all rules were evaluated", func() bool {
		p.get("rules", nil, &data)
		done := 0
		for _, r := range data.Groups[0].Rules {
			if r.Health == "err" {
				p.t.Fatalf("%s: %s", r.Name, r.LastError)
			}
			if r.Health == "ok" {
				done++
			}
		}
		return done == n
	})
}

// vip starts a limiter that has the virtual address of a pair, as keepalived has told
// it, and returns its admin port.
func vip(t *testing.T) (addr string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "levee"), []byte("MASTER 1 1700000000000000000\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return harness.StartLimiter(t, storage(t, plenty), "--vrrp-state-dir="+dir).MetricsAddr
}
