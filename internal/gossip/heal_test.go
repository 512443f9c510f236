package gossip

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/topology"
)

// A process that is started again takes its old self's place at once, at the same
// address and at another; it is never seen as silent.
func TestRestart(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		t.Run(fmt.Sprint("elsewhere ", elsewhere), func(t *testing.T) {
			t.Parallel()
			w := newNetwork()
			o := w.observer(t, "o")
			o.SetSeeds(nil)
			l := w.limiter(t, "l", o.addr)
			awaitView(t, 4*time.Second, "l=serving o=serving", o, l)
			l.crash()
			old := l.addr
			if elsewhere {
				l = l.again(w.host(), o.addr)
			} else {
				l = l.again(old, o.addr)
			}
			eventually(t, 2*time.Second, func() string { return "the new one is seen" }, func() bool {
				m := o.View().Serving()
				return len(m) == 1 && m[0].Incarnation == l.opts.Self.Incarnation && m[0].Gossip == l.addr
			})
			eventually(t, 8*time.Second, func() string { return "the old name is dead" }, func() bool {
				return o.nodes.Load() == 2
			})
			for _, v := range o.views {
				if v.Known() != v.Live() {
					t.Errorf("somebody was silent in view %d", v.Revision())
				}
			}
			if got := o.sees(); got != "l=serving o=serving" {
				t.Errorf("o sees %s", got)
			}
		})
	}
}

// An only observer that is started again can ask nobody, but the others come.
func TestOnlyObserverRestarts(t *testing.T) {
	t.Parallel()
	w := newNetwork()
	o := w.observer(t, "o")
	o.SetSeeds([]netip.AddrPort{o.addr})
	var all []*party
	var want []string
	for i := range 4 {
		all = append(all, w.limiter(t, fmt.Sprint("l", i), o.addr))
		want = append(want, fmt.Sprintf("l%d=serving", i))
	}
	everybody := strings.Join(append(want, "o=serving"), " ")
	awaitView(t, 4*time.Second, everybody, append(all, o)...)
	// While they settle they would join it anyway.
	settled := time.Now().Add(settling + rejoinInterval)
	eventually(t, time.Minute, func() string { return "settled" }, func() bool { return time.Now().After(settled) })
	o.crash()
	o = o.again(o.addr, o.addr)
	t.Log("joined after", o.awaitJoined(4*time.Second))
	t.Log("everybody is known after another", awaitView(t, time.Second, everybody, append(all, o)...))
	if strings.Contains(o.said.String(), "going on alone") {
		t.Error("it did not wait for the others")
	}
}

// Who hears of others before it has joined anybody asks one of them for the rest.
func TestHearsay(t *testing.T) {
	t.Parallel()
	w := newNetwork()
	o := w.observer(t, "o")
	o.SetSeeds([]netip.AddrPort{o.addr})
	l, k := w.limiter(t, "l", o.addr), w.limiter(t, "k", o.addr)
	awaitView(t, 4*time.Second, "k=serving l=serving o=serving", o, l, k)
	for _, p := range []*party{l, k} {
		p.SetSeeds([]netip.AddrPort{}) // so that nobody joins the new one
	}
	o.crash()
	o = o.again(o.addr, o.addr)
	if err := l.SetState(topology.Draining); err != nil { // news goes to the old one's address, too
		t.Fatal(err)
	}
	o.awaitJoined(patienceAlone - 500*time.Millisecond)
	awaitView(t, time.Second, "k=serving l=draining o=serving", o)
}

// All go down and come up again where they were.
func TestMassRestart(t *testing.T) {
	t.Parallel()
	w := newNetwork()
	var all []*party
	var seeds []netip.AddrPort
	for i := range 5 {
		role := topology.Limiter
		if i < 2 {
			role = topology.Observer
		}
		p := w.serve(t, w.options(role, fmt.Sprint("m", i)))
		all = append(all, p)
		if i < 2 {
			seeds = append(seeds, p.addr)
		}
	}
	for _, p := range all {
		p.SetSeeds(seeds)
	}
	const everybody = "m0=serving m1=serving m2=serving m3=serving m4=serving"
	awaitView(t, 8*time.Second, everybody, all...)
	for _, p := range all {
		p.crash()
	}
	for i := len(all) - 1; i >= 0; i-- { // observers last
		all[i] = all[i].again(netip.AddrPort{}, seeds...)
	}
	t.Log("all are back after", awaitView(t, 8*time.Second, everybody, all...))
	for _, p := range all {
		p.awaitJoined(patience)
	}
}

// A partition heals: by joining again, for both sides have long given up.
func TestPartition(t *testing.T) {
	t.Parallel()
	w := newNetwork()
	var all []*party
	var seeds []netip.AddrPort
	for i := range 6 {
		role := topology.Limiter
		if i < 2 {
			role = topology.Observer
		}
		all = append(all, w.serve(t, w.options(role, fmt.Sprint("m", i))))
		if i < 2 {
			seeds = append(seeds, all[i].addr)
		}
	}
	for _, p := range all {
		p.SetSeeds(seeds)
	}
	const everybody = "m0=serving m1=serving m2=serving m3=serving m4=serving m5=serving"
	awaitView(t, 8*time.Second, everybody, all...)

	left, right := []*party{all[0], all[2], all[3], all[4]}, []*party{all[1], all[5]}
	w.part(1, left...)
	w.part(2, right...)
	awaitView(t, 30*time.Second, "m0=serving m1=silent m2=serving m3=serving m4=serving m5=silent", left...)
	t.Log("the larger side knows")
	awaitView(t, 30*time.Second, "m0=silent m1=serving m2=silent m3=silent m4=silent m5=serving", right...)

	// Who is started again must not forget the other side.
	right[1].crash()
	right[1] = right[1].again(netip.AddrPort{}, seeds...)
	w.part(2, right...)
	awaitView(t, 8*time.Second, "m0=silent m1=serving m2=silent m3=silent m4=silent m5=serving", right...)

	all[5] = right[1]
	w.part(0, all...)
	took := awaitView(t, 20*time.Second, everybody, all...)
	t.Log("healed after", took)
	if took > 15*time.Second {
		t.Errorf("it took %v to heal, want 15s at most", took)
	}
}

// Seeds that become known late are joined then.
func TestLateSeeds(t *testing.T) {
	t.Parallel()
	w := newNetwork()
	o, l := w.observer(t, "o"), w.limiter(t, "l")
	select {
	case <-l.Joined():
		t.Fatal("joined without knowing whom")
	default:
	}
	l.SetSeeds([]netip.AddrPort{o.addr})
	l.awaitJoined(time.Second)
	awaitView(t, time.Second, "l=serving o=serving", o, l)

	p := w.observer(t, "p")
	l.SetSeeds([]netip.AddrPort{o.addr, p.addr})
	awaitView(t, 2*time.Second, "l=serving o=serving p=serving", o, l, p)
}

// Nobody waits for ever for somebody to join.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	w := newNetwork()
	absent := netip.AddrPortFrom(w.host().Addr(), 7373)
	l, o := w.limiter(t, "l", absent), w.observer(t, "o")
	o.SetSeeds([]netip.AddrPort{o.addr})
	if took := o.awaitJoined(2 * patienceAlone); took < patienceAlone-500*time.Millisecond {
		t.Errorf("the only observer went on after %v", took)
	}
	if took := l.awaitJoined(2 * patience); took < patience-patienceAlone-500*time.Millisecond {
		t.Errorf("the limiter went on %v after the observer", took)
	}
	l.awaitLog(time.Second, "level=WARN", "going on without", absent.String())
	l.awaitLog(time.Second, "level=WARN", "cannot join an observer", absent.String(), "connection refused")
	if n := strings.Count(l.said.String(), "cannot join an observer"); n != 1 {
		t.Errorf("the log says %d times that nobody can be joined", n)
	}
	p := w.options(topology.Observer, "p")
	p.Self.Gossip = absent
	q := w.serve(t, p)
	awaitView(t, 4*time.Second, "l=serving p=serving", l, q)
	l.awaitLog(time.Second, "level=INFO", "joined again", absent.String())
}

// A large cluster learns of a crash within ten seconds, and forgets who has
// crashed when one of them is told to.
func TestScale(t *testing.T) {
	w := newNetwork()
	var all []*party
	var seeds []netip.AddrPort
	var now, then []string
	for i := range scale {
		id, role := fmt.Sprintf("m%02d", i), topology.Limiter
		if i < 3 {
			role = topology.Observer
		}
		all = append(all, w.serve(t, w.options(role, id)))
		if i < 3 {
			seeds = append(seeds, all[i].addr)
		}
		now = append(now, id+"=serving")
		then = append(then, id+"=serving")
	}
	for _, p := range all {
		p.SetSeeds(seeds)
	}
	t.Log("all know each other after", awaitView(t, 30*time.Second, strings.Join(now, " "), all...))
	all[scale-1].crash()
	then[scale-1] = fmt.Sprintf("m%02d=silent", scale-1)
	took := awaitView(t, 20*time.Second, strings.Join(then, " "), all[:scale-1]...)
	t.Log("all know of the crash after", took)
	if took > 10*time.Second {
		t.Errorf("it took %v until all knew of the crash, want 10s at most", took)
	}
	if err := all[0].Forget(all[scale-1].opts.Self.ID); err != nil {
		t.Fatal(err)
	}
	t.Log("all have forgotten it after", awaitView(t, 5*time.Second, strings.Join(now[:scale-1], " "), all[:scale-1]...))
}
