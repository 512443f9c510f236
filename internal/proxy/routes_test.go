package proxy

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/hrw"
	"github.com/levee-project/levee/internal/topology"
	"github.com/levee-project/levee/internal/wire"
)

// ids returns the rank of a resource as the routes know it.
func (b *bench) ids() []string {
	r, resource := b.routes.Load(), []byte("r")
	var ids []string
	for _, i := range r.rank(hrw.Key(resource)) {
		ids = append(ids, r.upstreams[i].id)
	}
	return ids
}

// Many ask for the ranks of the same resources at once, and of more than are
// remembered: all get what the view says.
func TestRanksAreThoseOfTheView(t *testing.T) {
	b := newBench(t, &config.ClientProxy{})
	const limiters = 60
	b.serveN(limiters)
	var resources [][]byte // of one shard, so that it fills up
	for i := 0; len(resources) < 2000; i++ {
		if resource := fmt.Append(nil, i); hrw.Key(resource)%rankShards == 0 {
			resources = append(resources, resource)
		}
	}
	r := b.routes.Load()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 2 * len(resources) {
				resource := resources[i*(2*w+1)%len(resources)]
				got, want := r.rank(hrw.Key(resource)), r.view.AppendRank(nil, resource, limiters)
				for k := range want {
					if int(got[k]) != want[k] {
						t.Errorf("%s: %v, want %v", resource, got, want)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	s := &r.ranks.shards[0]
	if n := len(s.numbers) + len(s.starts)*rankEntry; n > rankRoom+limiters+rankEntry {
		t.Errorf("the shard has the room of %d numbers in use, want %d at most", n, rankRoom)
	}
}

func TestRanksAreKeptWhileTheSameServe(t *testing.T) {
	b := newBench(t, &config.ClientProxy{})
	members := func(n int) (m []topology.Member) {
		for i := range n {
			m = append(m, limiterMember(fmt.Sprint("l", i), 1))
		}
		return m
	}
	b.serve(members(3)...)
	b.ids()
	ranks := b.routes.Load().ranks
	restarted := members(3)
	restarted[1].Incarnation = 2
	b.serve(append(restarted, topology.Member{ID: "o", Role: topology.Observer, State: topology.Serving})...)
	if b.routes.Load().ranks != ranks {
		t.Error("an observer and a restarted limiter change no rank")
	}
	weighty := members(3)
	weighty[1].Weight = 5
	for _, changed := range [][]topology.Member{weighty, members(4), members(2)} {
		b.serve(changed...)
		if b.routes.Load().ranks == ranks {
			t.Errorf("%d members: the ranks of others are kept", len(changed))
		}
		ranks = b.routes.Load().ranks
		if got := b.ids(); len(got) != len(changed) {
			t.Errorf("rank %v among %d", got, len(changed))
		}
	}
	b.serve(members(3)...)
	before := b.ids()
	b.serve(members(4)...)
	if after := slices.DeleteFunc(b.ids(), func(id string) bool { return id == "l3" }); !slices.Equal(before, after) {
		t.Errorf("%v before l3 came, %v after, without it", before, after)
	}
}

// A limiter keeps its connection for as long as it is the same. One that is gone
// loses it when those who were about to ask it are done.
func TestConnectionsFromOneTopologyToTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, &config.ClientProxy{})
		b.factor(1)
		b.serve(limiterMember("a", 1), limiterMember("b", 1), limiterMember("c", 1))
		a, was, c := b.limiters["a"], b.limiters["b"], b.limiters["c"]
		for _, f := range b.limiters {
			f.holds()
		}
		calls := 0
		for i := range 30 {
			b.start(question(fmt.Sprint(i), "", 1))
		}
		moved := limiterMember("b", 2)
		b.serve(limiterMember("a", 1), moved)
		synctest.Wait()
		if b.limiters["a"] != a || b.limiters["b"] == was {
			t.Error("a has to be the same, and b another")
		}
		if a.ran.Load() != 1 || was.ran.Load() != 1 || c.ran.Load() != 1 {
			t.Error("those who are asked have to go on")
		}
		pass(b.fleet.grace - 1)
		if was.ran.Load() != 1 || c.ran.Load() != 1 {
			t.Error("they end before an attempt may have ended")
		}
		for _, f := range []*fakeLimiter{a, was, c} {
			calls += f.release(accepted, nil)
		}
		if calls != 30 {
			t.Errorf("%d attempts were under way, want 30", calls)
		}
		pass(1)
		if a.ran.Load() != 1 || was.ran.Load() != 0 || c.ran.Load() != 0 {
			t.Errorf("a runs %d times, the old b %d and c %d; want 1, 0 and 0", a.ran.Load(), was.ran.Load(), c.ran.Load())
		}
		again := b.limiters["b"]
		b.serve(limiterMember("a", 1), moved)
		if b.limiters["b"] != again {
			t.Error("b is connected anew though nothing has changed")
		}
	})
}

// An attempt that is under way when the topology changes is retried under the new
// one.
func TestRetryUnderANewTopology(t *testing.T) {
	b := newBench(t, &config.ClientProxy{})
	b.factor(1)
	b.serveN(1)
	old := b.limiters["l0"]
	old.holds()
	later := b.start(question("r", "", 1))
	b.serve(limiterMember("l0", 2))
	old.up.Store(false)
	old.release(accepted, wire.ErrLost)
	if o := b.got(later); o.Result != accepted.Result || b.limiters["l0"].asked.Load() != 1 {
		t.Errorf("%+v", o)
	}
}
