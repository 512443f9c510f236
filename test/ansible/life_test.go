package ansible

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

// The buckets that are asked for: of the first, the cluster passes half of what
// is asked; of the second, all; the third is that of the pair.
func scarce() bucket { return bucket{resource: "scarce", rate: 500, burst: 50, d: 2} }
func plenty() bucket { return bucket{resource: "plenty", rate: 1e6, burst: 1e6, d: 2} }
func shared() bucket { return bucket{resource: "shared", rate: 250, burst: 25, d: 1} }

// limits is the shared configuration.
func limits(buckets ...bucket) vars {
	keys := vars{}
	for _, b := range buckets {
		keys[b.resource] = vars{"quota": vars{"rate": b.rate, "burst": b.burst}}
	}
	return vars{"factor": vars{"default": 2}, "limit": vars{"key_default": vars{"rate": 100, "burst": 10}, "key": keys}}
}

// Where applications ask.
var (
	proxies = []string{net.JoinHostPort(address(21), "5454"), net.JoinHostPort(address(22), "5454")}
	pair    = []string{net.JoinHostPort(vip, "5454")}
)

// vip is the address that the pair shares.
const vip = "10.77.0.100"

// The life of a cluster. Each step begins with what the one before it has left.
func TestLife(t *testing.T) {
	s := newSite(t)
	for _, step := range []struct {
		name string
		do   func(*testing.T, *site)
	}{
		{"WrongInventories", wrongInventories},
		{"SetUp", setUp},
		{"Again", again},
		{"Change", change},
		{"Grow", grow},
		{"Shrink", shrink},
		{"Reinstall", reinstall},
		{"Upgrade", upgrade},
	} {
		if !t.Run(step.name, func(t *testing.T) { step.do(t, s) }) {
			t.FailNow() // the next ones would tell nothing
		}
	}
}

// From bare machines to a verified cluster, in one run.
func setUp(t *testing.T, s *site) {
	s.play(t, "site.yml")
	s.wantCluster(t, oldVersion, "node1", "node2", "node3")
	tr := ask(t, s)
	tr.goesOn(t)
	tr.wantUnharmed(t, 0)
}

// What is as it should be is left alone.
func again(t *testing.T, s *site) {
	before := s.print(t)
	s.play(t, "site.yml").wantUnchanged(t, len(s.hosts))
	s.wantPrint(t, before)
}

// A change of an option and of a quota is shown before it is made, made, and not
// shown any more.
func change(t *testing.T, s *site) {
	before := s.print(t)
	old := s.scarce
	s.scarce.rate = 600
	s.vars["levee_limits"] = limits(s.scarce, plenty(), shared())
	s.vars["levee_limiter_options"] = vars{"no-quota": "reject"}
	shown := s.play(t, "site.yml", "--check", "--diff")
	for _, text := range []string{"+no-quota: reject", "scarce", "600"} {
		if !strings.Contains(shown.output, text) {
			t.Errorf("--check --diff does not show %q:\n%s", text, shown.output)
		}
	}
	for _, host := range []string{"node1", "node2", "node3", "pair1", "pair2"} {
		if shown.hosts[host]["changed"] == 0 {
			t.Errorf("--check does not say that %s would change", host)
		}
	}
	s.wantPrint(t, before)
	s.wantQuota(t, old)

	tr := ask(t, s) // while a part of it has the new quota, all may be passed by that
	s.play(t, "site.yml")
	tr.wantUnharmed(t, 2*len(s.in("levee_limiters")))
	s.wantQuota(t, s.scarce)
	before = s.print(t)
	s.play(t, "site.yml", "--check", "--diff").wantUnchanged(t, len(s.hosts))
	s.wantPrint(t, before)
}

// A host more in the inventory is a limiter more, and nobody notices.
func grow(t *testing.T, s *site) {
	s.hosts = append(s.hosts, spare)
	tr := ask(t, s)
	s.play(t, "site.yml")
	tr.goesOn(t)
	tr.wantUnharmed(t, 1)
	s.wantCluster(t, oldVersion, "node1", "node2", "node3", "node4")
}

// One is taken out for good.
func shrink(t *testing.T, s *site) {
	tr := ask(t, s)
	s.play(t, "remove.yml", "-e", "levee_remove_host="+spare.name)
	s.hosts = s.hosts[:len(s.hosts)-1]
	tr.goesOn(t)
	tr.wantUnharmed(t, 1)
	s.wantCluster(t, oldVersion, "node1", "node2", "node3")
	if out, err := s.machines[spare.name].Try("systemctl", "is-active", "levee-limiter"); err == nil {
		t.Errorf("on %s the limiter is %s", spare.name, out)
	}
}

// A machine that is no more is set up by the same run as all, with another in its
// place: a member of etcd, an observer and a limiter.
func reinstall(t *testing.T, s *site) {
	tr := ask(t, s)
	m := s.machines["node2"]
	m.Reinstall(t)
	tr.goesOn(t)
	start(t, m)
	s.play(t, "site.yml")
	tr.goesOn(t)
	tr.wantUnharmed(t, 2)
	s.wantCluster(t, oldVersion, "node1", "node2", "node3")
}

// An upgrade of everything costs nobody an attempt. It stops at the first host that
// fails, and goes on there when it is run again.
func upgrade(t *testing.T, s *site) {
	s.vars["levee_version"] = newVersion
	tr := ask(t, s)
	s.machines["node2"].Run(t, "apt-mark", "hold", "levee-limiter")
	if r := s.try(t, "upgrade.yml"); r.ok || r.hosts["node2"]["failed"] == 0 {
		t.Errorf("a package that must not be changed does not fail the upgrade:\n%s", r.output)
	}
	for host, version := range map[string]string{"node1": newVersion, "node2": oldVersion, "node3": oldVersion} {
		if m := s.scrape(t, host, limiterPort); m.Sum("levee_build_info", "version", version) != 1 {
			t.Errorf("after an upgrade that failed at node2, %s is not of version %s", host, version)
		}
	}
	tr.goesOn(t)

	done := s.machines["node1"].Property(t, "levee-limiter", "MainPID")
	s.machines["node2"].Run(t, "apt-mark", "unhold", "levee-limiter")
	s.play(t, "upgrade.yml")
	tr.goesOn(t)
	tr.wantUnharmed(t, 2*len(s.in("levee_limiters")))
	s.wantCluster(t, newVersion, "node1", "node2", "node3")
	if s.machines["node1"].Property(t, "levee-limiter", "MainPID") != done {
		t.Error("the limiter that was upgraded already has been restarted again")
	}
	s.play(t, "site.yml", "--check").wantUnchanged(t, len(s.hosts))
}

// ask begins with the attempts of applications: 2,000 a second through both
// proxies, and some to the address of the pair.
func ask(t *testing.T, s *site) *traffic {
	t.Helper()
	tr := &traffic{}
	tr.ask(t, proxies, s.scarce, 1000)
	tr.ask(t, proxies, plenty(), 1000)
	tr.ask(t, pair, shared(), 500)
	tr.goesOn(t)
	return tr
}

// seenWithin is how soon all know who is there.
const seenWithin = 20 * time.Second

// wantCluster fails the test unless everything runs in a version, and all proxies
// ask just these limiters.
func (s *site) wantCluster(t *testing.T, version string, limiters ...string) {
	t.Helper()
	for group, port := range map[string]string{
		"levee_limiters": limiterPort, "levee_standalone": limiterPort, "levee_observers": observerPort, "levee_client_proxies": proxyPort,
	} {
		for _, h := range s.in(group) {
			if a := metricsOf(t, h, port).Get(t, "/readyz"); a.Status != http.StatusOK {
				t.Errorf("%s of %s: %v", group, h.name, a)
			}
			if s.scrape(t, h.name, port).Sum("levee_build_info", "version", version) != 1 {
				t.Errorf("%s of %s is not of version %s", group, h.name, version)
			}
		}
	}
	for _, h := range s.in("levee_client_proxies") {
		harness.Eventually(t, seenWithin, h.name+" asks the limiters "+strings.Join(limiters, ", "), func() bool {
			m, up := s.scrape(t, h.name, proxyPort), 0.0
			for _, l := range limiters {
				up += m.Sum("levee_proxy_limiter_up", "limiter", l)
			}
			return int(up) == len(limiters) && m.Sum("levee_proxy_limiter_up") == up
		})
	}
}

// The ports of metrics.
const (
	limiterPort  = "9454"
	observerPort = "9455"
	proxyPort    = "9456"
)

func metricsOf(t *testing.T, h host, port string) *harness.Client {
	return harness.NewClient(t, net.JoinHostPort(h.addr, port), harness.HTTP1)
}

// scrape reads the metrics of a daemon of a host.
func (s *site) scrape(t *testing.T, name, port string) harness.Metrics {
	t.Helper()
	i := slices.IndexFunc(s.hosts, func(h host) bool { return h.name == name })
	m, err := metricsOf(t, s.hosts[i], port).Scrape()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// wantQuota fails the test unless the shared configuration has the quota of a
// bucket.
func (s *site) wantQuota(t *testing.T, b bucket) {
	t.Helper()
	list := s.machines["node1"].Run(t, "leveectl", "limit", "list")
	want := []string{b.resource, "-", fmt.Sprint(b.rate), fmt.Sprint(b.burst)}
	for line := range strings.Lines(list) {
		if f := strings.Fields(line); len(f) > len(want) && slices.Equal(f[:len(want)], want) {
			return
		}
	}
	t.Errorf("the quotas lack %q:\n%s", want, list)
}
