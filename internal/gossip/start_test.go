package gossip

import (
	"io"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/levee-project/levee/internal/topology"
)

func TestStartRefuses(t *testing.T) {
	w := newNetwork()
	taken, err := net.Listen("tcp", w.host().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	udp, err := net.ListenPacket("udp", w.host().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = udp.Close() }()
	for _, c := range []struct {
		what   string
		change func(*Options)
		says   []string
	}{
		{"TCP is taken", func(o *Options) { o.Self.Gossip = netip.MustParseAddrPort(taken.Addr().String()) }, []string{
			"gossip-addr: cannot gossip at " + taken.Addr().String(), "address already in use; another process listens there",
		}},
		{"UDP is taken", func(o *Options) { o.Self.Gossip = netip.MustParseAddrPort(udp.LocalAddr().String()) }, []string{
			"gossip-addr: cannot gossip at " + udp.LocalAddr().String(), "UDP", "another process listens there",
		}},
		{"not of this host", func(o *Options) { o.Self.Gossip = netip.MustParseAddrPort("192.0.2.1:7373") }, []string{
			"gossip-addr: cannot gossip at 192.0.2.1:7373", "no interface of this host has the address now",
		}},
		{"all addresses", func(o *Options) { o.Self.Gossip = netip.MustParseAddrPort("[::]:7373") }, []string{
			"gossip-addr: [::]:7373 is no address at which others reach this member; give one of this host's",
		}},
		{"no address", func(o *Options) { o.Self.Gossip = netip.AddrPort{} }, []string{"gossip-addr: "}},
		{"no ID", func(o *Options) { o.Self.ID = "" }, []string{`instance-id: "" has 0 bytes`}},
		{"a long ID", func(o *Options) { o.Self.ID = strings.Repeat("x", 256) }, []string{"instance-id: ", "256 bytes, expected 1 to 255"}},
		{"a long version", func(o *Options) { o.Self.Version = strings.Repeat("x", 512) }, []string{"would announce", "at most 512 fit"}},
		{"no incarnation", func(o *Options) { o.Self.Incarnation = 0 }, []string{"clock of this host"}},
		{"a long cluster", func(o *Options) { o.Cluster = strings.Repeat("x", 256) }, []string{"storage-prefix: ", "at most 250"}},
		{"a bad key", func(o *Options) { o.Key = []byte("short") }, []string{"key size must be 16, 24 or 32"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			o := w.options(topology.Limiter, "l")
			o.Self.Incarnation = 1
			o.Log = slog.New(slog.DiscardHandler)
			c.change(&o)
			n, err := Start(o)
			if err == nil {
				_ = n.Leave(0)
				t.Fatal("it has started")
			}
			for _, part := range c.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

// The longest names that are accepted still fit into messages.
func TestLongNames(t *testing.T) {
	t.Parallel()
	w := newNetwork()
	long := func(role topology.Role, c string) Options {
		o := w.options(role, strings.Repeat(c, longestID))
		o.Self.Version = strings.Repeat("v", 400)
		o.Cluster = "/" + strings.Repeat("c", 249)
		o.Key = make([]byte, 32)
		return o
	}
	o := w.serve(t, long(topology.Observer, "o"))
	o.SetSeeds(nil)
	p := w.serve(t, long(topology.Observer, "p"), o.addr)
	l := w.run(t, long(topology.Limiter, "l"), o.addr)
	name := func(c string) string { return strings.Repeat(c, longestID) }
	awaitView(t, 4*time.Second, name("l")+"=starting "+name("o")+"=serving "+name("p")+"=serving", o, p, l)
	if err := l.SetState(topology.Serving); err != nil {
		t.Fatal(err)
	}
	awaitView(t, 4*time.Second, name("l")+"=serving "+name("o")+"=serving "+name("p")+"=serving", o, p, l)
	l.crash()
	awaitView(t, 8*time.Second, name("l")+"=silent "+name("o")+"=serving "+name("p")+"=serving", o, p)
	if err := o.Forget(name("l")); err != nil {
		t.Fatal(err)
	}
	awaitView(t, time.Second, name("o")+"=serving "+name("p")+"=serving", o, p)
}

// Only who has the key is let in, and both sides say so.
func TestKey(t *testing.T) {
	t.Parallel()
	w := newNetwork()
	with := func(id, key string) Options {
		o := w.options(topology.Observer, id)
		o.Key = []byte(key)
		return o
	}
	o := w.serve(t, with("o", "0123456789abcdef"))
	o.SetSeeds(nil)
	right := w.serve(t, with("right", "0123456789abcdef"), o.addr)
	wrong := w.serve(t, with("wrong", "0123456789abcdeF"), o.addr)
	plain := w.serve(t, w.options(topology.Observer, "plain"), o.addr)
	awaitView(t, 2*time.Second, "o=serving right=serving", o, right)
	for _, p := range []*party{wrong, plain} {
		p.awaitLog(4*time.Second, "level=WARN", "cannot join an observer", o.addr.String(), "gossip-key-file must name the same key")
		if got, want := p.sees(), p.opts.Self.ID+"=serving"; got != want {
			t.Errorf("%s sees %s", p.opts.Self.ID, got)
		}
		if got := testutil.ToFloat64(p.metrics.failed); got < 1 {
			t.Errorf("%v failures are counted", got)
		}
	}
	o.awaitLog(time.Second, "level=WARN", "memberlist: failed to receive: ")
	if got := o.sees(); got != "o=serving right=serving" {
		t.Errorf("o sees %s", got)
	}
}

// Two clusters on one network do not meet.
func TestCluster(t *testing.T) {
	t.Parallel()
	w := newNetwork()
	in := func(id, cluster string) Options {
		o := w.options(topology.Observer, id)
		o.Cluster = cluster
		return o
	}
	o := w.serve(t, in("o", "/levee"))
	o.SetSeeds(nil)
	same := w.serve(t, in("same", "/levee/"), o.addr)
	other := w.serve(t, in("other", "/levee2"), o.addr)
	awaitView(t, 2*time.Second, "o=serving same=serving", o, same)
	other.awaitLog(2*time.Second, "level=WARN", "cannot join an observer", "storage-prefix must be the same on all members")
	o.awaitLog(2*time.Second, "level=WARN", "unacceptable label", "levee/levee2")
	awaitView(t, 0, "other=serving", other)
	awaitView(t, 0, "o=serving same=serving", o, same)
}

// A node that is not understood is not shown, and the log says so once.
func TestStranger(t *testing.T) {
	t.Parallel()
	w := newNetwork()
	o := w.observer(t, "o")
	o.SetSeeds(nil)
	conf := settings("stranger", "levee/levee", nil)
	conf.BindAddr, conf.BindPort = w.host().Addr().String(), 0
	conf.LogOutput = io.Discard
	list, err := memberlist.Create(conf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = list.Shutdown() })
	for range 3 {
		if _, err := list.Join([]string{o.addr.String()}); err != nil {
			t.Fatal(err)
		}
		if err := list.UpdateNode(time.Second); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"garbage", `{"silent":[{"name":"x"}]}`} {
		for _, n := range list.Members() {
			if n.Name != "stranger" {
				if err := list.SendReliable(n, []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	o.awaitLog(time.Second, "level=WARN", "a node of the overlay is not understood, and not shown", "node=stranger", "instance-id")
	o.awaitLog(time.Second, "level=WARN", "what another member remembers is not understood")
	eventually(t, time.Second, func() string { return "three are counted" }, func() bool {
		return testutil.ToFloat64(o.metrics.malformed) >= 3
	})
	if n := strings.Count(o.said.String(), "level=WARN"); n != 2 {
		t.Errorf("the log warns %d times", n)
	}
	awaitView(t, 0, "o=serving", o)
}

// Two processes with one ID are reported when a restart does not explain them.
func TestSameID(t *testing.T) {
	t.Parallel()
	w := newNetwork()
	o := w.observer(t, "o")
	o.SetSeeds(nil)
	a := w.limiter(t, "l", o.addr)
	awaitView(t, 2*time.Second, "l=serving o=serving", o, a)
	b := w.limiter(t, "l", o.addr)
	o.awaitLog(30*time.Second, "level=ERROR", "several processes have the same instance-id", "id=l")
	if got := o.View().Serving(); len(got) != 1 || got[0].Gossip != b.addr {
		t.Errorf("o sees %+v", got)
	}
	if got := testutil.ToFloat64(o.metrics.duplicates); got != 1 {
		t.Errorf("%v are counted", got)
	}
	a.leave()
	eventually(t, 4*time.Second, func() string { return "the mistake is mended" }, func() bool {
		return testutil.ToFloat64(o.metrics.duplicates) == 0
	})
	awaitView(t, 0, "l=serving o=serving", o, b)
	if n := strings.Count(o.said.String(), "several processes"); n != 1 {
		t.Errorf("the log says so %d times", n)
	}
	for _, v := range o.views {
		if slices.ContainsFunc(v.Members(), func(m topology.Member) bool { return m.State == topology.Silent }) {
			t.Errorf("somebody was silent in view %d", v.Revision())
		}
	}
}

// Run ends at once, also in the middle of joining somebody who does not answer.
func TestStopWhileJoining(t *testing.T) {
	t.Parallel()
	w := newNetwork()
	mute, err := net.Listen("tcp", w.host().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mute.Close() }()
	l := w.limiter(t, "l", netip.MustParseAddrPort(mute.Addr().String()))
	conn, err := mute.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Read(make([]byte, 1)); err != nil { // it has asked, and waits
		t.Fatal(err)
	}
	began := time.Now()
	l.stop()
	<-l.ended
	if took := time.Since(began); took > streamTimeout/2 {
		t.Errorf("it took %v", took)
	}
	if strings.Contains(l.said.String(), "cannot join") {
		t.Error("the stop is reported as a failure")
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	w := newNetwork()
	o := w.observer(t, "o")
	problems, err := testutil.GatherAndLint(o.gather)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	if n, err := testutil.GatherAndCount(o.gather); n != 4 || err != nil {
		t.Errorf("%d metrics, %v", n, err)
	}
}
