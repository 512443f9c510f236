package limiter

import (
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/levee-project/levee/test/etcdtest"
	"github.com/levee-project/levee/test/harness"
)

// caughtUp is how soon a limiter has to know everything after etcd is back.
const caughtUp = 5 * time.Second

// wantInForce waits until the quota of a resource is one that passes exactly n
// hits at once, which may use them up.
func wantInForce(t *testing.T, c *harness.Client, within time.Duration, n int, resource string) {
	t.Helper()
	harness.Eventually(t, within, "the quota of "+resource, func() bool {
		return !never(t, c.Hits(t, n, resource)) && never(t, c.Hits(t, n+1, resource))
	})
}

func connected(t *testing.T, l *harness.Limiter, value float64, within time.Duration) {
	t.Helper()
	harness.Eventually(t, within, "levee_storage_connected", func() bool {
		return l.Scrape(t).Sum("levee_storage_connected") == value
	})
}

// Without etcd for a minute, under load, everything goes on with what is known.
// What was written meanwhile, and compacted, is in force soon after.
func TestEtcdAwayForAMinute(t *testing.T) {
	t.Parallel()
	s := newEtcdStore(t, entries{ownQuota("used"): fits(3), ownQuota("new"): fits(3), ownQuota("gone"): fits(3), ownQuota("busy"): plenty})
	link := harness.NewLink(t, s.HostPort())
	l := harness.StartLimiter(t, "--storage-addrs=http://"+link.Addr)
	c := l.Client(t, harness.H2C)
	wantAccepted(t, c, 3, 3, "used")
	callers := harness.StartCallers(t, l.Addr, 4, harness.AttemptText("busy"))
	rejected := harness.StartCallers(t, l.Addr, 2, harness.AttemptText("used"))

	link.Cut()
	cut := clock{time.Now()}
	connected(t, l, 0, 20*time.Second)
	l.WaitLog(t, 20*time.Second, "etcd is away", func(l harness.Line) bool {
		return l.Text("level") != "INFO" && l.Mentions(link.Addr)
	})
	want(t, l.Readyz(t), http.StatusOK)
	for i, second := range []float64{20, 40, 60} {
		s.Apply(t, entries{ownQuota("new"): fits(5 + i), ownQuota("used"): fits(5 + i)}, ownQuota("gone"))
		s.Compact()
		cut.at(second)
		wantNever(t, c.Hits(t, 4, "new"))
		want(t, c.Attempt(t, "used"), http.StatusTooManyRequests)
	}
	duringBusy, duringUsed := callers.Stop(), rejected.Stop()
	link.Mend()

	wantInForce(t, c, caughtUp, 7, "new")
	wantAccepted(t, c, 20, 4, "used") // the debt stays
	wantAccepted(t, c, 20, 20, "gone")
	connected(t, l, 1, caughtUp)
	for status, calls := range map[int]harness.Calls{http.StatusOK: duringBusy, http.StatusTooManyRequests: duringUsed} {
		if len(calls.Lost) > 0 || len(calls.Answers) != 1 || calls.Answers[status] < 1000 {
			t.Errorf("under load: answers %v, lost %v; want only %d", calls.Answers, calls.Lost, status)
		}
	}
}

// etcd itself stops, changes where nobody follows it, and comes back.
func TestEtcdStops(t *testing.T) {
	t.Parallel()
	s := newEtcdStore(t, entries{ownQuota("r"): fits(3)})
	r := on(t, s)
	c := r.Client(t, harness.HTTP1)
	wantAccepted(t, c, 5, 3, "r")
	s.Stop()
	connected(t, r.Limiter, 0, 20*time.Second)
	wantAccepted(t, c, 5, 0, "r")
	s.Elsewhere(func() {
		s.Apply(t, entries{ownQuota("r"): fits(5), ownQuota("new"): fits(2)})
		s.Compact()
	})
	wantAccepted(t, c, 5, 0, "r")
	s.Start()
	wantInForce(t, c, caughtUp, 2, "new")
	wantAccepted(t, c, 5, 2, "r")
	r.change(t, entries{ownQuota("r"): fits(6)}) // and it follows as before
	wantAccepted(t, c, 5, 1, "r")
}

// A restore from a backup takes the revision back; the tree is that of the
// backup, not the newer one.
func TestEtcdRestored(t *testing.T) {
	t.Parallel()
	s := newEtcdStore(t, entries{ownQuota("a"): fits(3)})
	r := on(t, s)
	c := r.Client(t, harness.HTTP1)
	s.Stop()
	backup := s.Backup()
	s.Start()
	connected(t, r.Limiter, 1, 20*time.Second)
	for i := range 20 {
		s.Apply(t, entries{ownQuota("a"): fits(10 + i), ownQuota("b"): fits(5)})
	}
	wantInForce(t, c, caughtUp, 5, "b")
	revision := r.Scrape(t).Sum("levee_storage_revision")
	s.Restore(backup)
	wantInForce(t, c, 2*caughtUp, 3, "a")
	wantAccepted(t, c, 50, 50, "b") // no quota
	harness.Eventually(t, inForce, "the revision is lower", func() bool {
		return r.Scrape(t).Sum("levee_storage_revision") < revision
	})
	r.change(t, entries{ownQuota("b"): fits(6)})
	wantFit(t, c, 6, "b")
}

// A start without etcd waits for it, and lets nothing pass meanwhile.
func TestStartWithoutEtcd(t *testing.T) {
	t.Parallel()
	s := etcdStore{etcdtest.Start(t, etcdtest.Options{Down: true})}
	l := harness.LaunchLimiter(t, harness.Command{Args: []string{"--storage-addrs=" + s.Addr()}})
	l.WaitLog(t, 10*time.Second, "etcd that is waited for", func(line harness.Line) bool {
		return line.Mentions("etcd", s.HostPort()) && line.Text("level") != "INFO"
	})
	ready := l.Readyz(t)
	want(t, ready, http.StatusServiceUnavailable)
	if !isLine(ready.Body) || !strings.Contains(ready.Body, s.HostPort()) {
		t.Errorf("/readyz says %q, which does not name etcd's address", ready.Body)
	}
	health := l.Healthz(t)
	want(t, health, http.StatusServiceUnavailable)
	if !isLine(health.Body) {
		t.Errorf("/healthz says %q", health.Body)
	}
	each(t, l, func(t *testing.T, c *harness.Client) {
		a := c.Attempt(t, "r")
		want(t, a, http.StatusInternalServerError)
		if !isLine(a.Body) {
			t.Errorf("body %q", a.Body)
		}
	})
	s.Start()
	harness.Eventually(t, caughtUp, "ready with etcd", func() bool { return l.Readyz(t).Status == http.StatusOK })
	want(t, l.Healthz(t), http.StatusOK)
	want(t, l.Client(t, harness.HTTP1).Attempt(t, "r"), http.StatusOK) // the tree is empty, and known
}

// With a cache, a start without etcd goes on with the last good tree, says so,
// and takes the real one when etcd is back.
func TestStartFromCache(t *testing.T) {
	t.Parallel()
	s := newEtcdStore(t, entries{ownQuota("r"): fits(3), ownQuota("bad"): fits(4)})
	args := []string{"--storage-cache=" + filepath.Join(t.TempDir(), "cache")}
	r := on(t, s, args...)
	r.change(t, entries{ownQuota("bad"): "not json"})
	r.Signal(t, syscall.SIGTERM)
	if code := r.WaitExit(t, 10*time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
	s.Stop()

	r = on(t, s, args...)
	if ready := r.Readyz(t); !strings.Contains(ready.Body, "cache") {
		t.Errorf("/readyz says %q, nothing of the cache", ready.Body)
	}
	c := r.Client(t, harness.HTTP1)
	wantAccepted(t, c, 2, 2, "r")
	wantFit(t, c, 3, "r")
	wantFit(t, c, 4, "bad") // the last good value
	if n := r.Scrape(t).Sum("levee_storage_connected"); n != 0 {
		t.Errorf("levee_storage_connected is %v", n)
	}

	s.Elsewhere(func() { s.Apply(t, entries{ownQuota("r"): fits(5), ownQuota("new"): fits(2)}) })
	s.Start()
	wantInForce(t, c, caughtUp, 2, "new")
	wantFit(t, c, 5, "r")
	harness.Eventually(t, caughtUp, "/readyz says nothing of the cache", func() bool {
		a := r.Readyz(t)
		return a.Status == http.StatusOK && !strings.Contains(a.Body, "cache")
	})
}

// A thousand changes in a row end with the last one in force.
func TestManyChanges(t *testing.T) {
	t.Parallel()
	s := newEtcdStore(t, entries{keyDefault: plenty})
	r := on(t, s)
	all := entries{}
	for i := range 100 {
		some := entries{}
		for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
			some[ownQuota(key)] = fits(2 + i)
		}
		s.Apply(t, some)
		maps.Copy(all, some)
	}
	r.change(t, nil)
	for key := range all {
		wantFit(t, r.Client(t, harness.HTTP1), 101, strings.Split(key, "/")[2])
	}
}
