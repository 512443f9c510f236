package metrics

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

// restless metrics change by themselves: of them only the names are compared.
func restless(path string) bool {
	for _, prefix := range []string{
		"site.go_", "site.process_", "site.promhttp_", "site.levee_graphite_", "site.levee_gossip_health_score",
	} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}

// A real carbon gets what /metrics says, of all daemons, over TCP and over UDP.
func TestCarbon(t *testing.T) {
	t.Parallel()
	for _, network := range []string{"tcp", "udp"} {
		t.Run(network, func(t *testing.T) {
			t.Parallel()
			carbon := startCarbon(t)
			push := harness.Command{Args: []string{
				"--graphite-addr=" + carbon.addr + "/" + network, "--graphite-interval=1s", "--graphite-prefix=site",
			}}
			c := start(t, harness.ClusterOptions{
				Observers: 1, Limiters: 2, Proxies: 1, Observer: push, Limiter: push, Proxy: push,
			}, entries{"limit/key/open/quota": plenty, "limit/key/shut/quota": `{"rate": 0, "burst": 0}`})
			for i, resource := range []string{"open", "shut", "none"} {
				for _, protocol := range harness.Protocols {
					client := c.Proxies[0].Client(t, protocol)
					for range 7 * (i + 1) {
						client.Attempt(t, resource, "p", "GET")
					}
				}
			}
			if n := c.Proxies[0].Scrape(t).Sum("levee_attempts_total"); n != 2*7*(1+2+3) {
				t.Errorf("%v attempts are counted", n)
			}
			for _, n := range c.Nodes() {
				carbon.wantAll(t, paths(n.Scrape(t), "site.", jobOf(n), n.Name))
			}
		})
	}
}

// wantAll waits until carbon has all these series, and of those that keep still the
// same values.
func (c *carbon) wantAll(t *testing.T, want map[string]float64) {
	t.Helper()
	var wrong string
	compared := 0
	defer func() {
		if t.Failed() {
			t.Log(wrong)
		}
	}()
	harness.Eventually(t, patience, "carbon has the same values", func() bool {
		wrong, compared = "", 0
		for path, value := range want {
			got, found := c.last(path)
			if !found || !restless(path) && got != value {
				wrong = path
				return false
			}
			if !restless(path) {
				compared++
			}
		}
		return true
	})
	if compared < 10 || len(want) < 50 {
		t.Errorf("%d values were compared, of %d series", compared, len(want))
	}
	t.Logf("%d series, %d of them with the same value", len(want), compared)
}

// The last values arrive at the stop: what was answered during the drain is in
// them, and nothing else was ever pushed.
func TestLastValues(t *testing.T) {
	t.Parallel()
	for _, network := range []string{"tcp", "udp"} {
		t.Run(network, func(t *testing.T) {
			t.Parallel()
			carbon := startCarbon(t)
			l := harness.StartLimiter(t, storage(t, plenty), "--graphite-addr="+carbon.addr+"/"+network, "--graphite-interval=1h")
			callers := harness.StartCallers(t, l.Addr, 4, harness.AttemptText("r"))
			harness.Eventually(t, patience, "attempts are answered", func() bool { return callers.Count() >= 200 })
			l.Signal(t, syscall.SIGTERM)
			during := callers.Count()
			if code := l.WaitExit(t, patience); code != 0 {
				t.Errorf("the limiter ended with code %d", code)
			}
			calls := callers.Stop()
			answered := calls.Answers[http.StatusOK]
			if answered <= during || len(calls.Lost) > 0 {
				t.Errorf("%d answers, %d of them before the stop; lost: %v", answered, during, calls.Lost)
			}
			const path = "levee_attempts_total;instance=test;job=levee-limiter;quota=resource;result=accepted;shadow=false"
			harness.Eventually(t, patience, "the last value is there", func() bool {
				last, found := carbon.last(path)
				return found && last == float64(answered)
			})
		})
	}
}

// storage is the option for a tree in a file with one default quota.
func storage(t *testing.T, quota string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "storage.yaml")
	if err := os.WriteFile(file, []byte("limit: {key_default: "+quota+"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return "--storage-addrs=file://" + file
}

// away is for how long the collector is away: at a push a second, longer than what
// the queue holds (20 pushes), as at the default of 15 s six minutes would be.
const away = 30 * time.Second

// The collector goes away and comes back: no attempt fails, the memory does not
// grow, what waited is there with the times that it had, and what did not is
// counted.
func TestCollectorAway(t *testing.T) {
	t.Parallel()
	carbon := startCarbon(t)
	l := harness.StartLimiter(t, storage(t, plenty), "--graphite-addr="+carbon.addr, "--graphite-interval=1s")
	const path = "levee_keys;instance=test;job=levee-limiter"
	callers := harness.StartCallers(t, l.Addr, 4, harness.AttemptText("r"))
	harness.Eventually(t, patience, "carbon is told", func() bool { return len(carbon.points(path)) >= 3 })
	memory := func() float64 { return l.Scrape(t).Sum("process_resident_memory_bytes") }
	before := memory()
	carbon.kill()
	left := time.Now()
	time.Sleep(away)
	m := l.Scrape(t)
	grown := m.Sum("process_resident_memory_bytes") - before
	t.Logf("memory before %.1f MiB, grown by %.1f MiB; %v lines dropped, %v connections failed", before/(1<<20), grown/(1<<20),
		m.Sum("levee_graphite_dropped_total"), m.Sum("levee_graphite_failures_total"))
	if grown > 8<<20 {
		t.Errorf("the memory has grown by %v octets while the collector was away", grown)
	}
	if m.Sum("levee_graphite_dropped_total", "reason", "queue_full") == 0 || m.Sum("levee_graphite_connected") != 0 {
		t.Error("nothing was dropped, or the collector counts as there")
	}
	carbon.start(t)
	harness.Eventually(t, patience, "the collector counts as there", func() bool {
		return l.Scrape(t).Sum("levee_graphite_connected") == 1
	})
	back := time.Now()
	harness.Eventually(t, patience, "what waited is there", func() bool {
		late := 0
		for _, p := range carbon.points(path) {
			if at := int64(p.at); at > left.Unix() && at <= back.Unix() {
				late++
			}
		}
		return late >= 20
	})
	calls := callers.Stop()
	t.Logf("answers %v, the slowest after %v", calls.Answers, calls.Slowest.Round(100*time.Microsecond))
	if len(calls.Answers) != 1 || calls.Answers[http.StatusOK] == 0 || len(calls.Lost) > 0 || calls.Refused > 0 {
		t.Errorf("answers %v, lost %v, %d refused", calls.Answers, calls.Lost, calls.Refused)
	}
}
