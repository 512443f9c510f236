package limiter

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// entries are a shared tree, raw value by key without the root prefix.
type entries map[string]string

// store is a shared tree that can be changed, whichever kind it is.
type store interface {
	// Addr is an item of storage-addrs.
	Addr() string
	// Apply sets entries and then removes some, in one step.
	Apply(t testing.TB, set map[string]string, remove ...string)
}

// rig is a limiter and its store.
type rig struct {
	*harness.Limiter
	store   store
	canary  *harness.Client
	changes int // so far
}

// onFile starts a limiter on a file with the entries.
func onFile(t testing.TB, e entries, args ...string) *rig {
	t.Helper()
	return on(t, harness.NewFileStore(t, e), args...)
}

func on(t testing.TB, s store, args ...string) *rig {
	t.Helper()
	l := harness.StartLimiter(t, append([]string{"--storage-addrs=" + s.Addr()}, args...)...)
	return &rig{Limiter: l, store: s, canary: l.Client(t, harness.HTTP1)}
}

// inForce is how soon a change of the tree has to be in force.
const inForce = time.Second

// change changes the tree and waits until that is in force, which it finds out
// by asking: the same step gives a resource that nobody else uses a quota of
// nothing. No default may reject what is asked for the first time.
func (r *rig) change(t testing.TB, set entries, remove ...string) {
	t.Helper()
	r.changes++
	canary := fmt.Sprintf("canary-%d", r.changes)
	all := entries{ownQuota(canary): nothing}
	for key, value := range set {
		all[key] = value
	}
	r.store.Apply(t, all, remove...)
	took := harness.Eventually(t, 10*inForce, "a change of the tree is in force", func() bool {
		return r.canary.Hits(t, 0, canary).Status == http.StatusTooManyRequests
	})
	if took > inForce {
		t.Errorf("the change was in force after %v, want %v", took, inForce)
	}
}

// Keys of entries; the parts are plain or percent-encoded.
func ownQuota(key string) string            { return "limit/key/" + key + "/quota" }
func ownSublimit(key, subkey string) string { return "limit/key/" + key + "/sublimit/" + subkey }
func subkeyDefault(subkey string) string    { return "limit/subkey_default/" + subkey }

const (
	keyDefault = "limit/key_default"
	// nothing is a quota that lets nothing pass.
	nothing = `{"rate": 0, "burst": 0}`
	// plenty is a quota that no test exceeds.
	plenty = `{"rate": 1e9, "burst": 1e9}`
)

// fits is a quota whose idle buckets pass n hits at once, and then one an hour:
// within a test, n hits.
func fits(n int) string { return fmt.Sprintf(`{"rate": 1, "burst": %d, "per": "1h"}`, n-1) }

// each runs a test for both protocols.
func each(t *testing.T, l *harness.Limiter, test func(t *testing.T, c *harness.Client)) {
	t.Helper()
	for _, p := range harness.Protocols {
		t.Run(string(p), func(t *testing.T) { test(t, l.Client(t, p)) })
	}
}

// want fails the test unless the answer has the status.
func want(t testing.TB, got harness.Answer, status int) {
	t.Helper()
	if got.Status != status {
		t.Errorf("got %v, want %d", got, status)
	}
}

// wantAccepted makes n attempts and wants exactly so many of them accepted.
func wantAccepted(t testing.TB, c *harness.Client, n, accepted int, resource string, more ...string) {
	t.Helper()
	if got := c.Accepted(t, n, resource, more...); got != accepted {
		t.Errorf("%d of %d attempts on %q %q were accepted, want %d", got, n, resource, more, accepted)
	}
}

// never reports whether an answer says that the attempt can never pass.
func never(t testing.TB, a harness.Answer) bool {
	t.Helper()
	_, later := a.RetryAfter(t)
	return a.Status == http.StatusTooManyRequests && !later
}

func wantNever(t testing.TB, got harness.Answer) {
	t.Helper()
	if !never(t, got) {
		t.Errorf("got %v, want 429 without Retry-After", got)
	}
}

// wantRetry wants a rejection that says to come back in so many seconds, less
// what the test has taken so far.
func wantRetry(t testing.TB, got harness.Answer, seconds int) {
	t.Helper()
	const elapsed = 20
	wait, ok := got.RetryAfter(t)
	if got.Status != http.StatusTooManyRequests || !ok || wait > seconds || wait < seconds-elapsed {
		t.Errorf("got %v, want 429 and Retry-After about %d", got, seconds)
	}
}

// wantFit asks which quota applies: the one that passes exactly n hits at once.
// It may use them up. An attempt of more hits than ever fit is told apart from
// one that has to wait by its missing Retry-After.
func wantFit(t testing.TB, c *harness.Client, n int, resource string, more ...string) {
	t.Helper()
	wantNever(t, c.Hits(t, n+1, resource, more...))
	if a := c.Hits(t, n, resource, more...); a.Status != http.StatusOK && (a.Status != http.StatusTooManyRequests || never(t, a)) {
		t.Errorf("%q %q: got %v, want that %d hits fit", resource, more, a, n)
	}
}
