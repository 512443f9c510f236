package proxy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/hrw"
)

// deal makes n attempts on the bucket r and returns how many each limiter was
// asked, in the order of their rank.
func (b *bench) deal(n int) []int64 {
	b.t.Helper()
	ranked := b.ranked("r")
	before := make([]int64, len(ranked))
	for i, f := range ranked {
		before[i] = f.asked.Load()
	}
	for range n {
		if o := b.ask("r", ""); o.Result != accepted.Result {
			b.t.Fatalf("%+v", o)
		}
	}
	for i, f := range ranked {
		before[i] = f.asked.Load() - before[i]
	}
	return before
}

// Six limiters of which the first D are the group. Which of them get how many of
// 60 attempts when some are away: a stand-in has the turns of exactly one.
func TestStandIns(t *testing.T) {
	for _, test := range []struct {
		factor int
		away   string // by rank
		want   []int64
	}{
		{1, "", []int64{60, 0, 0, 0, 0, 0}},
		{3, "", []int64{20, 20, 20, 0, 0, 0}},
		{6, "", []int64{10, 10, 10, 10, 10, 10}},
		{9, "", []int64{10, 10, 10, 10, 10, 10}},
		{1, "0", []int64{0, 60, 0, 0, 0, 0}},
		{1, "01", []int64{0, 0, 60, 0, 0, 0}},
		{1, "1", []int64{60, 0, 0, 0, 0, 0}},
		{3, "1", []int64{20, 0, 20, 20, 0, 0}},
		{3, "02", []int64{0, 20, 0, 20, 20, 0}},
		{3, "023", []int64{0, 20, 0, 0, 20, 20}},
		{3, "012", []int64{0, 0, 0, 20, 20, 20}},
		{3, "0134", []int64{0, 0, 40, 0, 0, 20}}, // one stand-in for two: the other's turns go to the group
		{3, "1345", []int64{30, 0, 30, 0, 0, 0}}, // no stand-in: the group has them in turn
		{4, "145", []int64{20, 0, 20, 20, 0, 0}},
		{2, "01345", []int64{0, 0, 60, 0, 0, 0}}, // two shares are better than no answer
		{6, "5", []int64{12, 12, 12, 12, 12, 0}},
		{6, "12", []int64{15, 0, 0, 15, 15, 15}},
		{5, "34", []int64{16, 16, 16, 0, 0, 12}}, // the fifth's 12 turns go to the three in turn
		{6, "123", []int64{20, 0, 0, 0, 20, 20}},
	} {
		b := newBench(t, &config.ClientProxy{})
		b.factor(test.factor)
		b.serveN(6)
		for rank, f := range b.ranked("r") {
			f.set(!strings.Contains(test.away, fmt.Sprint(rank)))
		}
		b.now.Add(int64(easing))
		if got := b.deal(60); !slices.Equal(got, test.want) {
			t.Errorf("D = %d, %q away: %v, want %v", test.factor, test.away, got, test.want)
		}
	}
}

// A limiter that does not take an attempt is passed over as one that is away.
func TestRefusedIsPassedOver(t *testing.T) {
	b := newBench(t, &config.ClientProxy{})
	b.factor(2)
	b.serveN(4)
	ranked := b.ranked("r")
	ranked[0].refuses.Store(true)
	ranked[2].refuses.Store(true)
	if got := b.deal(40); !slices.Equal(got, []int64{0, 20, 0, 20}) {
		t.Errorf("%v, want the second stand-in in place of the first limiter", got)
	}
	if n := b.retries[reasonRefused].Load(); n != 40 {
		t.Errorf("%d refusals were retried, want 40: each of 20 attempts twice", n)
	}
	if n := b.routes.Load().upstreams[slices.Index([]string{"l0", "l1", "l2", "l3"}, ranked[0].id)].traffic.errors[reasonRefused].Load(); n != 20 {
		t.Errorf("%d refusals of the first, want 20", n)
	}
}

// One that came back has its turns of a resource or has not, for all of its
// buckets; of all resources it has more and more.
func TestComingBackIsEased(t *testing.T) {
	b := newBench(t, &config.ClientProxy{})
	b.factor(1)
	b.serveN(2)
	const resources = 2000
	share := func() float64 { // of the attempts that go to whom they are dealt
		dealt := 0
		for i := range resources {
			resource := fmt.Sprint("r", i)
			first := b.ranked(resource)[0]
			before := first.asked.Load()
			b.ask(resource, "GET")
			b.ask(resource, "POST")
			switch first.asked.Load() - before {
			case 2:
				dealt++
			case 1:
				b.t.Fatalf("%s: one bucket is with the limiter, the other is not", resource)
			}
		}
		return float64(dealt) / resources
	}
	b.limiters["l0"].set(true) // for the first time
	if s := share(); s != 1 {
		t.Errorf("new limiters get %.2f of their turns, want all", s)
	}
	for _, f := range b.limiters {
		f.set(false)
		f.set(true)
		f.set(true) // said twice
	}
	b.limiters["l1"].set(true)
	// Both are eased: where neither has its turn, whoever is dealt it gets it.
	if s := share(); s != 1 {
		t.Errorf("with nobody to stand in, %.2f of the turns, want all", s)
	}

	b.now.Add(int64(easing))
	share()
	l0 := b.limiters["l0"]
	l0.set(false)
	b.now.Add(int64(time.Second))
	l0.set(true)
	for _, step := range []struct{ after, want float64 }{{0, 0}, {0.25, 0.25}, {0.5, 0.5}, {0.9, 0.9}, {1, 1}, {3, 1}} {
		back := b.routes.Load().upstreams[0].back.Load()
		if step.after < 3 {
			b.now.Store(back + int64(step.after*float64(easing)))
		}
		before, all := l0.asked.Load(), 0
		for i := range resources {
			resource := fmt.Sprint("r", i)
			if b.ranked(resource)[0] == l0 {
				all++
				b.ask(resource, "")
			}
		}
		got := float64(l0.asked.Load()-before) / float64(all)
		if got < step.want-0.04 || got > step.want+0.04 {
			t.Errorf("%v of the time after coming back: %.3f of the turns, want %v", step.after, got, step.want)
		}
	}
}

// Where nobody stands in, one that came back has its turns at once: its share of
// the quota would be lost.
func TestNobodyIsEasedWithoutAStandIn(t *testing.T) {
	b := newBench(t, &config.ClientProxy{})
	b.factor(2)
	b.serveN(3)
	ranked := b.ranked("r")
	ranked[0].set(false)
	ranked[0].set(true)
	if got := b.deal(40); !slices.Equal(got, []int64{0, 20, 20}) {
		t.Errorf("%v with a stand-in, want it to have the turns of the first", got)
	}
	ranked[2].set(false)
	if got := b.deal(40); !slices.Equal(got, []int64{20, 20, 0}) {
		t.Errorf("%v without one, want each to have its own turns", got)
	}
	// A stand-in that came back itself is better than a second share for others.
	ranked[0].set(false)
	ranked[2].set(true)
	if got := b.deal(40); !slices.Equal(got, []int64{0, 20, 20}) {
		t.Errorf("%v with a stand-in that came back, want it to have the turns of the first", got)
	}
}

// All proxies ease the same resources, so that they agree on who serves a bucket.
func TestEasingIsTheSameForAllProxies(t *testing.T) {
	now := int64(time.Hour)
	u := [2]*upstream{{Upstream: upAlways{}}, {Upstream: upAlways{}}}
	for i := range u {
		u[i].changed(now, true)
		u[i].changed(now, false)
		u[i].changed(now, true)
	}
	for i := range 1000 {
		key, at := hrw.Key(fmt.Append(nil, i)), now+int64(i)*int64(easing)/1000
		if u[0].usable(at, key) != u[1].usable(at, key) {
			t.Fatal("two proxies differ")
		}
	}
}

type upAlways struct{ Upstream }

func (upAlways) Up() bool { return true }
