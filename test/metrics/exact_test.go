package metrics

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/levee-project/levee/test/harness"
)

// asked is how many requests, of which five in six are attempts, are made in each of the four ways: over either
// protocol, to a limiter and to a proxy.
const asked = 30_000

// askers is how many ask at once in each way.
const askers = 8

// resources are what is asked about in turn, with what is to come of it: always
// accepted, always rejected, now this and now that, counted as rejected and
// accepted all the same, without a quota. "nothing" is no question at all.
var resources = []string{"open", "shut", "tight", "shadow", "none", "nothing"}

func exactEntries() entries {
	return entries{
		"limit/key/open/quota":   plenty,
		"limit/key/shut/quota":   `{"rate": 0, "burst": 0}`,
		"limit/key/tight/quota":  `{"rate": 100, "burst": 50}`,
		"limit/key/shadow/quota": `{"rate": 0, "burst": 0, "shadow": true}`,
		"factor/default":         "2",
	}
}

// tally is what clients were told, by resource and status.
type tally struct {
	mu sync.Mutex // guards by
	by map[string]map[int]int
}

func (y *tally) add(resource string, status int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.by[resource] == nil {
		y.by[resource] = map[int]int{}
	}
	y.by[resource][status]++
}

// sum is how often this was the answer about these resources.
func (y *tally) sum(status int, resources ...string) (n float64) {
	for _, r := range resources {
		n += float64(y.by[r][status])
	}
	return n
}

// ask makes the attempts of one way.
func ask(t *testing.T, n *harness.Node, p harness.Protocol) *tally {
	client, told := n.Client(t, p), &tally{by: map[string]map[int]int{}}
	var all sync.WaitGroup
	for worker := range askers {
		all.Go(func() {
			for i := range asked / askers {
				resource := resources[(i+worker)%len(resources)]
				fields := http.Header{"X-Resource": {resource}, "X-Method": {fmt.Sprint(i % 3)}}
				if resource == "nothing" {
					fields.Del("X-Resource")
				}
				a, err := client.Do(harness.Request{Fields: fields})
				if err != nil {
					t.Errorf("%s, %s: %v", n.Name, p, err)
					return
				}
				told.add(resource, a.Status)
			}
		})
	}
	all.Wait()
	return told
}

// A hundred thousand attempts, over both protocols, to limiters and through a
// proxy: what the daemons count is what the clients were told, to the last one.
func TestCountersAreExact(t *testing.T) {
	t.Parallel()
	c := start(t, harness.ClusterOptions{
		Observers: 1, Limiters: 2, Proxies: 1,
		// On a machine that does other things, too, no attempt shall be made twice.
		Proxy: harness.Command{Args: []string{"--attempt-timeout=20s"}},
	}, exactEntries())
	direct, through := &tally{by: map[string]map[int]int{}}, &tally{by: map[string]map[int]int{}}
	for i, p := range harness.Protocols {
		direct.join(ask(t, c.Limiters[i], p))
		through.join(ask(t, c.Proxies[0], p))
	}
	if n := direct.total() + through.total(); n != 4*asked {
		t.Fatalf("%d answers, want %d", n, 4*asked)
	}
	t.Logf("limiters told %v", direct.by)
	t.Logf("the proxy told %v", through.by)
	wantProxy(t, c, through)
	wantLimiters(t, c, direct, through)
}

func (y *tally) join(other *tally) {
	for resource, by := range other.by {
		if y.by[resource] == nil {
			y.by[resource] = map[int]int{}
		}
		for status, n := range by {
			y.by[resource][status] += n
		}
	}
}

func (y *tally) total() (n int) {
	for _, by := range y.by {
		for _, count := range by {
			n += count
		}
	}
	return n
}
