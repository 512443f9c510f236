package limiter

import (
	"fmt"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

// The collector drops idle buckets, and never live debt.
func TestCollector(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: `{"rate": 1000, "burst": 0}`, ownQuota("debt"): fits(1)},
		"--gc-max-keys=10", "--gc-period=1s", "--gc-collect=1s")
	c := r.Client(t, harness.H2C)
	wantAccepted(t, c, 1, 1, "debt")
	for i := range 1000 {
		wantAccepted(t, c, 1, 1, fmt.Sprintf("idle-%d", i))
	}
	harness.Eventually(t, 10*time.Second, "the idle buckets are dropped", func() bool {
		m := r.Scrape(t)
		return m.Sum("levee_keys") == 1 && m.Sum("levee_keys_collected_total") == 1000
	})
	wantRetry(t, c.Attempt(t, "debt"), 3600)
	if n := r.Scrape(t).Sum("levee_keys_evicted_total"); n != 0 {
		t.Errorf("%v buckets with debt were dropped", n)
	}
}

// Up to gc-max-keys, nothing is collected.
func TestCollectorBelowItsThreshold(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: `{"rate": 1000, "burst": 0}`}, "--gc-max-keys=50", "--gc-period=1s", "--gc-collect=0s")
	c := r.Client(t, harness.HTTP1)
	for i := range 50 {
		wantAccepted(t, c, 1, 1, fmt.Sprintf("idle-%d", i))
	}
	time.Sleep(2500 * time.Millisecond) // two periods in which nothing may happen
	if m := r.Scrape(t); m.Sum("levee_keys") != 50 || m.Sum("levee_keys_collected_total") != 0 {
		t.Errorf("%v keys, %v collected", m.Sum("levee_keys"), m.Sum("levee_keys_collected_total"))
	}
	wantAccepted(t, c, 1, 1, "one-more")
	harness.Eventually(t, 5*time.Second, "beyond it, the idle buckets are dropped", func() bool {
		return r.Scrape(t).Sum("levee_keys") == 0
	})
}

// max-keys is a hard bound: when nothing is idle, the buckets nearest to expiry
// go, and a counter says so.
func TestMaxKeys(t *testing.T) {
	t.Parallel()
	const bound, asked = 500, 2000
	r := onFile(t, entries{keyDefault: fits(1), ownQuota("longest"): `{"rate": 1, "burst": 0, "per": "30d"}`},
		fmt.Sprintf("--max-keys=%d", bound))
	c := r.Client(t, harness.H2C)
	wantAccepted(t, c, 1, 1, "longest")
	for i := range asked {
		wantAccepted(t, c, 1, 1, fmt.Sprintf("debt-%d", i))
		if i%100 == 0 {
			if n := r.Scrape(t).Sum("levee_keys"); n > bound {
				t.Fatalf("%v keys, more than %d", n, bound)
			}
		}
	}
	m := r.Scrape(t)
	keys, evicted := m.Sum("levee_keys"), m.Sum("levee_keys_evicted_total")
	if keys > bound || keys+evicted != asked+1 || m.Sum("levee_keys_collected_total") != 0 {
		t.Errorf("%v keys and %v evicted of %d", keys, evicted, asked+1)
	}
	wantRetry(t, c.Attempt(t, "longest"), 30*24*3600)
	wantAccepted(t, c, 1, 0, fmt.Sprintf("debt-%d", asked-1)) // the newest owes longest
}

// Idle buckets make room before any debt does.
func TestMaxKeysWithIdleOnes(t *testing.T) {
	t.Parallel()
	r := onFile(t, entries{keyDefault: `{"rate": 1000, "burst": 0}`, ownQuota("debt"): fits(1)}, "--max-keys=100")
	c := r.Client(t, harness.HTTP1)
	wantAccepted(t, c, 1, 1, "debt")
	for i := range 1000 {
		wantAccepted(t, c, 1, 1, fmt.Sprintf("idle-%d", i))
	}
	wantRetry(t, c.Attempt(t, "debt"), 3600)
	m := r.Scrape(t)
	if n := m.Sum("levee_keys"); n > 100 {
		t.Errorf("%v keys", n)
	}
	if collected := m.Sum("levee_keys_collected_total"); collected < 900 {
		t.Errorf("%v collected", collected)
	}
}
