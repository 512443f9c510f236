package metrics

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
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

// vip stands in for a limiter of a pair with a virtual address: there is no
// keepalived here.
func vip(t *testing.T) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", net.JoinHostPort(host(), "9454"))
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = fmt.Fprint(w, strings.TrimLeft(`
# HELP levee_vrrp_master 1 where the virtual addresses of the instance are, 0 elsewhere.
# TYPE levee_vrrp_master gauge
levee_vrrp_master{instance="levee"} 1
`, "\n"))
	})}
	go func() { _ = server.Serve(ln) }()
	t.Cleanup(func() { _ = server.Close() })
	return ln.Addr().String()
}
