package gossip

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/levee-project/levee/internal/topology"
)

// TestMain looks for goroutines that are left over. memberlist waits for none of
// its own, and some may be in the middle of a probe when it is shut down, which
// can take two seconds.
func TestMain(m *testing.M) {
	code := m.Run()
	err := goleak.Find()
	for end := time.Now().Add(5 * time.Second); err != nil && time.Now().Before(end); {
		err = goleak.Find() // waits a little itself
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// incarnations are those of processes that start one after the other.
var incarnations atomic.Int64

// network is a part of the loopback net that nobody else uses, and can be cut.
type network struct {
	prefix [3]byte
	hosts  atomic.Uint32
	side   sync.Map // of a netip.AddrPort: int; those of two sides do not hear each other
}

func newNetwork() *network {
	return &network{prefix: [3]byte{127, byte(1 + rand.IntN(254)), byte(rand.IntN(256))}}
}

// host returns an address of another host, at a port that the system chooses.
func (w *network) host() netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{w.prefix[0], w.prefix[1], w.prefix[2], byte(w.hosts.Add(1))}), 0)
}

// party is a process that gossips.
type party struct {
	*Node
	t      *testing.T
	w      *network
	opts   Options
	said   *output
	gather *prometheus.Registry
	views  []*topology.View // as Changed was given them; guarded by mu
	mu     sync.Mutex
	stop   context.CancelFunc
	ended  chan struct{}
	silent bool
}

// output collects what is logged.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// cuttable is a transport of a network that can be cut.
type cuttable struct {
	*transport
	w  *network
	me netip.AddrPort
}

func (c cuttable) cut(to string) bool {
	mine, _ := c.w.side.Load(c.me)
	theirs, _ := c.w.side.Load(netip.MustParseAddrPort(to))
	return mine != theirs
}

func (c cuttable) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	if c.cut(a.Addr) {
		return time.Now(), nil // lost
	}
	return c.transport.WriteToAddress(b, a)
}

func (c cuttable) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	if c.cut(a.Addr) {
		return nil, fmt.Errorf("%s is on the other side", a.Addr)
	}
	return c.transport.DialAddressTimeout(a, timeout)
}

// part puts parties on a side of the net.
func (w *network) part(side int, ps ...*party) {
	for _, p := range ps {
		w.side.Store(p.addr, side)
	}
}

func (w *network) options(role topology.Role, id string) Options {
	return Options{
		Self: topology.Member{
			ID: id, Role: role, State: topology.Starting, Gossip: w.host(),
			Service: netip.MustParseAddrPort("192.0.2.1:5454"), Version: "1.2.3", Weight: 1,
		},
		Cluster: "/levee",
		Forget:  10 * time.Minute,
	}
}

// run starts a process.
func (w *network) run(t *testing.T, o Options, seeds ...netip.AddrPort) *party {
	t.Helper()
	p := &party{t: t, w: w, said: new(output), ended: make(chan struct{})}
	o.Self.Incarnation = time.Now().UnixNano() + incarnations.Add(1)
	o.Log = slog.New(slog.NewTextHandler(p.said, &slog.HandlerOptions{Level: slog.LevelDebug}))
	p.gather = prometheus.NewRegistry()
	o.Metrics = p.gather
	o.Changed = func(v *topology.View) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.views = append(p.views, v)
	}
	n, err := start(o, func(tr *transport) memberlist.NodeAwareTransport {
		me, _ := tr.address()
		return cuttable{transport: tr, w: w, me: me}
	})
	if err != nil {
		t.Fatal(err)
	}
	o.Self.Gossip = n.addr
	p.Node, p.opts = n, o
	if seeds != nil {
		n.SetSeeds(seeds)
	}
	var ctx context.Context
	ctx, p.stop = context.WithCancel(context.Background())
	go func() {
		defer close(p.ended)
		_ = n.Run(ctx)
	}()
	t.Cleanup(func() {
		p.crash()
		if t.Failed() {
			t.Logf("%s said:\n%s", p.opts.Self.ID, p.said)
		}
	})
	return p
}

// observer and limiter start one that serves at once.
func (w *network) observer(t *testing.T, id string, seeds ...netip.AddrPort) *party {
	return w.serve(t, w.options(topology.Observer, id), seeds...)
}

func (w *network) limiter(t *testing.T, id string, seeds ...netip.AddrPort) *party {
	return w.serve(t, w.options(topology.Limiter, id), seeds...)
}

func (w *network) serve(t *testing.T, o Options, seeds ...netip.AddrPort) *party {
	t.Helper()
	o.Self.State = topology.Serving
	return w.run(t, o, seeds...)
}

// crash ends the process without a word.
func (p *party) crash() {
	if p.silent {
		return
	}
	p.silent = true
	p.stop()
	<-p.ended
	p.hush()
	_ = p.list.Shutdown()
}

// leave ends the process in good order.
func (p *party) leave() {
	p.t.Helper()
	if err := p.Leave(5 * time.Second); err != nil {
		p.t.Fatal(err)
	}
	p.crash()
}

// again starts the process again at an address, the zero one for its old.
func (p *party) again(addr netip.AddrPort, seeds ...netip.AddrPort) *party {
	p.t.Helper()
	o := p.opts
	if addr.IsValid() {
		o.Self.Gossip = addr
	}
	return p.w.run(p.t, o, seeds...)
}

// sees returns the view in short: id=state for each member.
func (p *party) sees() string {
	var words []string
	for _, m := range p.View().Members() {
		words = append(words, m.ID+"="+string(m.State))
	}
	return strings.Join(words, " ")
}

// eventually waits until the condition holds, and returns how long that took.
func eventually(t *testing.T, within time.Duration, what func() string, holds func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for !holds() {
		if time.Since(began) > within {
			t.Fatalf("not within %v: %s", within, what())
		}
		<-poll.C
	}
	return time.Since(began)
}

// awaitView waits until all parties see what is wanted, in the form of sees.
func awaitView(t *testing.T, within time.Duration, want string, ps ...*party) time.Duration {
	t.Helper()
	return eventually(t, within, func() string {
		lines := []string{"everybody sees " + want}
		for _, p := range ps {
			lines = append(lines, p.opts.Self.ID+" sees "+p.sees())
		}
		return strings.Join(lines, "\n")
	}, func() bool {
		return !slices.ContainsFunc(ps, func(p *party) bool { return p.sees() != want })
	})
}

// awaitLog waits until the party's log has a line with all of the words.
func (p *party) awaitLog(within time.Duration, words ...string) {
	p.t.Helper()
	eventually(p.t, within, func() string { return fmt.Sprintf("%s says %q", p.opts.Self.ID, words) }, func() bool {
		for line := range strings.Lines(p.said.String()) {
			if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
				return true
			}
		}
		return false
	})
}

func (p *party) awaitJoined(within time.Duration) time.Duration {
	p.t.Helper()
	began := time.Now()
	select {
	case <-p.Joined():
	case <-time.After(within):
		p.t.Fatalf("%s has not joined within %v", p.opts.Self.ID, within)
	}
	return time.Since(began)
}
