package gossip

import (
	"testing"
	"time"

	"github.com/levee-project/levee/internal/topology"
)

// The life of a member as others see it: it joins, serves, drains, leaves.
func TestLife(t *testing.T) {
	t.Parallel()
	w := newNetwork()
	o := w.observer(t, "o")
	o.SetSeeds(nil)
	p := w.observer(t, "p", o.addr)
	l := w.run(t, w.options(topology.Limiter, "l"), o.addr, p.addr)
	l.awaitJoined(2 * time.Second)
	awaitView(t, 2*time.Second, "l=starting o=serving p=serving", o, p, l)
	o.awaitJoined(time.Second)

	for _, s := range []topology.State{topology.Serving, topology.Draining} {
		told := make(chan error)
		go func() { told <- l.SetState(s) }()
		t.Log(s, "is seen after", awaitView(t, 2*time.Second, "l="+string(s)+" o=serving p=serving", o, p, l))
		if err := <-told; err != nil {
			t.Fatal(err)
		}
	}
	m := o.View().Members()[0]
	want := l.opts.Self
	want.State, want.Since = topology.Draining, m.Since
	if m != want {
		t.Errorf("o sees %+v, want %+v", m, want)
	}

	left := make(chan error)
	go func() { left <- l.Leave(5 * time.Second) }()
	t.Log("that it left is seen after", awaitView(t, 2*time.Second, "o=serving p=serving", o, p))
	if err := <-left; err != nil {
		t.Fatal(err)
	}
	if got := l.sees(); got != "l=draining o=serving p=serving" {
		t.Errorf("who left sees %s at the end", got)
	}
	if err := l.SetState(topology.Serving); err == nil {
		t.Error("who left announces another state")
	}
	if err := l.Leave(time.Second); err != nil {
		t.Errorf("leaving again: %v", err)
	}
	if len(o.views) == 0 || o.views[len(o.views)-1] != o.View() {
		t.Error("Changed was not given the last view")
	}
	for i := 1; i < len(o.views); i++ {
		if o.views[i].Revision() <= o.views[i-1].Revision() || o.views[i].Same(o.views[i-1]) {
			t.Errorf("view %d is no news after view %d", o.views[i].Revision(), o.views[i-1].Revision())
		}
	}
}

// Who leaves without having drained has left all the same.
func TestLeaveAtOnce(t *testing.T) {
	t.Parallel()
	w := newNetwork()
	o := w.observer(t, "o")
	o.SetSeeds(nil)
	l, k := w.limiter(t, "l", o.addr), w.run(t, w.options(topology.Limiter, "k"), o.addr)
	awaitView(t, 4*time.Second, "k=starting l=serving o=serving", o, l, k)
	l.leave()
	k.leave()
	awaitView(t, 2*time.Second, "o=serving", o)
	for _, v := range o.views {
		if n := v.Count(topology.Limiter, topology.Silent); n != 0 {
			t.Errorf("%d limiters were silent in view %d", n, v.Revision())
		}
	}
}

// Who crashes is silent, which those learn who come later, until it is forgotten:
// by everybody, once somebody is told to.
func TestSilence(t *testing.T) {
	t.Parallel()
	w := newNetwork()
	o := w.observer(t, "o")
	o.SetSeeds(nil)
	p := w.observer(t, "p", o.addr)
	l, k, s := w.limiter(t, "l", o.addr), w.limiter(t, "k", o.addr), w.run(t, w.options(topology.Limiter, "s"), o.addr)
	awaitView(t, 4*time.Second, "k=serving l=serving o=serving p=serving s=starting", o, p, k, l, s)
	l.crash()
	s.crash() // has never served, so nothing is missing
	t.Log("silence is seen after", awaitView(t, 8*time.Second, "k=serving l=silent o=serving p=serving", o, p, k))

	n := w.limiter(t, "n", p.addr)
	t.Log("a newcomer knows after", awaitView(t, 4*time.Second, "k=serving l=silent n=serving o=serving p=serving", n))
	if age := time.Since(n.View().Members()[1].Since); age > 8*time.Second {
		t.Errorf("it has been silent for %v", age)
	}

	for id, want := range map[string]string{
		"k": `member "k" is alive; only a silent member can be forgotten`,
		"x": `no member "x" is known`,
		"s": `no member "s" is known`,
	} {
		if err := p.Forget(id); err == nil || err.Error() != want {
			t.Errorf("Forget(%q) = %v, want %s", id, err, want)
		}
	}
	if err := p.Forget("l"); err != nil {
		t.Fatal(err)
	}
	t.Log("that it is forgotten is seen after",
		awaitView(t, 2*time.Second, "k=serving n=serving o=serving p=serving", o, p, k, n))
	l = l.again(l.addr, o.addr)
	awaitView(t, 4*time.Second, "k=serving l=serving n=serving o=serving p=serving", o, p, k, l, n)
}

// Silent members are forgotten after a while.
func TestForgetInTime(t *testing.T) {
	t.Parallel()
	w := newNetwork()
	o := w.options(topology.Observer, "o")
	o.Forget = 2 * time.Second
	p := w.serve(t, o)
	p.SetSeeds(nil)
	l := w.limiter(t, "l", p.addr)
	awaitView(t, 4*time.Second, "l=serving o=serving", p, l)
	l.crash()
	awaitView(t, 8*time.Second, "l=silent o=serving", p)
	awaitView(t, 4*time.Second, "o=serving", p)
}
