package limiter

import (
	"fmt"
	"net"
	"net/netip"
	"testing"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/topology"
)

// viewOf returns a view of limiters in the states.
func viewOf(states ...topology.State) *topology.View {
	members := make([]topology.Member, len(states))
	for i, s := range states {
		members[i] = topology.Member{ID: fmt.Sprint("limiter-", i), Role: topology.Limiter, State: s}
	}
	return topology.NewView(1, members)
}

// passed counts how many attempts about r at one moment pass.
func passed(d *Decider) (n int) {
	for range 1000 {
		if ask(d, 0, question("r", "", "", 1)).Result == attempt.Accepted {
			n++
		}
	}
	return n
}

// A limiter passes its share: 1/D of rate and burst for the D in force, and
// when it is conservative no more than its part if the silent ones live on.
func TestShares(t *testing.T) {
	const live, silent, drains, starts = topology.Serving, topology.Silent, topology.Draining, topology.Starting
	for _, c := range []struct {
		what      string
		view      *topology.View
		available int // of a burst of 120
		careful   int
	}{
		{"alone, no cluster", nil, 121, 121},
		{"alone in a cluster", viewOf(live), 121, 121},
		{"fewer than D", viewOf(live, live), 61, 61},
		{"as many as D", viewOf(live, live, live), 41, 41},
		{"more than D", viewOf(live, live, live, live), 41, 41},
		{"draining and starting ones do not count", viewOf(live, live, drains, starts), 61, 61},
		{"one of four is silent", viewOf(live, live, live, silent), 41, 31},
		{"two halves", viewOf(live, live, silent, silent), 61, 31},
		{"the last one", viewOf(live, silent, silent, silent), 121, 31},
		{"itself not serving yet", viewOf(starts), 121, 121},
	} {
		for mode, want := range map[config.OnPartition]int{
			config.PartitionAvailable: c.available, config.PartitionConservative: c.careful,
		} {
			d := newTestDecider(t, map[string]string{"limit/key/r/quota": `{"rate": 1, "burst": 120}`, "factor/key/r": "3"})
			d.SetRules(&config.Limiter{OnPartition: mode})
			if c.view != nil {
				d.SetView(c.view)
			}
			if got := passed(d); got != want {
				t.Errorf("%s, %s: %d pass, want %d", c.what, mode, got, want)
			}
		}
	}
}

// Silent observers are no reason for limiters to pass less.
func TestOnlyLimitersCount(t *testing.T) {
	d := newTestDecider(t, map[string]string{"limit/key_default": `{"rate": 1, "burst": 9}`})
	d.SetRules(&config.Limiter{OnPartition: config.PartitionConservative})
	d.SetView(topology.NewView(1, []topology.Member{
		{ID: "a", Role: topology.Limiter, State: topology.Serving},
		{ID: "o", Role: topology.Observer, State: topology.Silent},
	}))
	if got := passed(d); got != 10 {
		t.Errorf("%d pass, want 10", got)
	}
}

// A group that shrinks and grows again keeps the debts, in hits: nobody gains by
// it.
func TestDebtStaysWhenTheGroupChanges(t *testing.T) {
	d := newTestDecider(t, map[string]string{"limit/key/r/quota": `{"rate": 1, "burst": 19}`, "factor/key/r": "2"})
	two, one := viewOf(topology.Serving, topology.Serving), viewOf(topology.Serving, topology.Silent)
	d.SetView(two)
	if got := passed(d); got != 10 {
		t.Fatalf("%d pass as one of two, want 10", got)
	}
	d.SetView(one)
	if got := passed(d); got != 10 {
		t.Fatalf("%d more pass alone, want 10", got)
	}
	d.SetView(two)
	if got := passed(d); got != 0 {
		t.Errorf("%d more pass as one of two again, want none", got)
	}
}

func TestShareDoesNotAllocate(t *testing.T) {
	d := newTestDecider(t, map[string]string{"limit/key/r/quota": `{"rate": 1, "burst": 120}`, "factor/key/r": "3"})
	d.SetRules(&config.Limiter{OnPartition: config.PartitionConservative})
	d.SetView(viewOf(topology.Serving, topology.Serving, topology.Silent))
	a := question("r", "", "", 1)
	ask(d, 0, a)
	if n := testing.AllocsPerRun(1000, func() { ask(d, 0, a) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAdvertised(t *testing.T) {
	for _, c := range []struct{ listen, gossip, want string }{
		{"0.0.0.0:5454", "10.0.0.1:7373", "10.0.0.1:5454"},
		{"[::]:5454", "[2001:db8::1]:7373", "[2001:db8::1]:5454"},
		{"10.0.0.2:80", "10.0.0.1:7373", "10.0.0.2:80"},
		{"[2001:db8::2]:80", "10.0.0.1:7373", "[2001:db8::2]:80"},
	} {
		addr, err := net.ResolveTCPAddr("tcp", c.listen)
		if err != nil {
			t.Fatal(err)
		}
		if got := advertised(addr, netip.MustParseAddrPort(c.gossip)); got.String() != c.want {
			t.Errorf("listening on %s, gossiping at %s: %s, want %s", c.listen, c.gossip, got, c.want)
		}
	}
}

func BenchmarkDecisionInACluster(b *testing.B) {
	d := newTestDecider(b, map[string]string{"limit/key/hot/quota": `{"rate": 1000000, "burst": 1000}`, "factor/default": "3"})
	d.SetView(viewOf(topology.Serving, topology.Serving, topology.Serving, topology.Serving))
	a := question("hot", "", "", 1)
	now := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		now += 100
		ask(d, now, a)
	}
}
