package gossip

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/levee-project/levee/internal/topology"
)

// Options say who takes part in the overlay, and how.
type Options struct {
	// Self is this process: ID, Role, Incarnation, State (Starting), Gossip,
	// Service, Version and Weight. Gossip is bound, TCP and UDP, and is where the
	// others reach it.
	Self topology.Member
	// Cluster tells clusters on one network apart: those who have another do not
	// hear each other. At most 250 bytes; storage-prefix is a good one.
	Cluster string
	// Key encrypts: 16, 24 or 32 bytes, the same for all members. nil is plain text.
	Key []byte
	// Forget is how long a silent member is remembered (gossip-forget).
	Forget time.Duration
	Log    *slog.Logger
	// Metrics is where the package's own metrics go; nil is nowhere.
	Metrics prometheus.Registerer
	// Changed is called by Run with each new view, the first one included, one at a
	// time; of views that follow each other quickly the last.
	Changed func(*topology.View)
}

// Node is this process in the overlay. Its methods may be called from any
// goroutine.
type Node struct {
	log     *slog.Logger
	changed func(*topology.View)
	list    *memberlist.Memberlist
	queue   memberlist.TransmitLimitedQueue // of news that are not memberlist's
	metrics metrics
	name    string         // of this node
	addr    netip.AddrPort // at which it gossips

	hush  context.CancelFunc // ends connections to others
	news  chan struct{}      // holds one while a view may be new
	nodes atomic.Int64       // the length of alive

	update sync.Mutex // guards changes of self.State, until they are announced

	mu         sync.Mutex // guards what follows
	tracker    *topology.Tracker
	alive      map[string]netip.AddrPort // by name, also of nodes that are not understood
	self       topology.Member
	left       bool
	unreadable map[string]bool // names of nodes that the log has been told of
	seeds      []netip.AddrPort
	seeded     bool // seeds are known

	reseeded  chan struct{} // holds one while seeds are new
	hearsay   chan struct{} // holds one when somebody is known before anything is exchanged
	exchanged atomic.Bool   // all that is known with somebody, at least once
	joined    chan struct{}
	joining   sync.Once // closes joined
}

// Start binds the address to gossip at, and lets others find this node; it joins
// nobody before [Node.Run]. Errors name the option that is at fault.
func Start(o Options) (*Node, error) {
	return start(o, func(t *transport) memberlist.NodeAwareTransport { return t })
}

// start is Start with a hand in what is sent.
func start(o Options, wrap func(*transport) memberlist.NodeAwareTransport) (*Node, error) {
	label := "levee" + strings.TrimRight(o.Cluster, "/")
	if err := o.check(label); err != nil {
		return nil, err
	}
	ctx, hush := context.WithCancel(context.Background())
	logger := log.New(&lines{log: o.Log}, "", 0)
	t, err := bind(ctx, o.Self.Gossip, logger)
	if err != nil {
		hush()
		return nil, err
	}
	n := &Node{
		log: o.Log, changed: o.Changed, metrics: newMetrics(),
		name: nodeName(o.Self.ID, o.Self.Incarnation),
		hush: hush, news: make(chan struct{}, 1),
		tracker: topology.NewTracker(o.Forget), self: o.Self,
		alive: map[string]netip.AddrPort{}, unreadable: map[string]bool{},
		reseeded: make(chan struct{}, 1), hearsay: make(chan struct{}, 1), joined: make(chan struct{}),
	}
	n.queue.RetransmitMult = memberlist.DefaultLANConfig().RetransmitMult
	n.queue.NumNodes = func() int { return int(n.nodes.Load()) }
	if n.addr, err = t.address(); err == nil {
		conf := settings(n.name, label, o.Key)
		conf.Transport, conf.Logger = wrap(t), logger
		conf.Delegate, conf.Events = delegate{n}, delegate{n}
		conf.BindPort = int(n.addr.Port())
		n.list, err = memberlist.Create(conf)
	}
	if err != nil {
		hush()
		return nil, errors.Join(fmt.Errorf("gossip-addr: cannot gossip at %s: %w", o.Self.Gossip, err), t.Shutdown())
	}
	n.register(o.Metrics)
	return n, nil
}

// check refuses what would not fit into messages.
func (o *Options) check(label string) error {
	meta, err := announce(&o.Self)
	switch {
	case err != nil:
		return fmt.Errorf("cannot announce this member: %w", err)
	case o.Self.ID == "" || len(o.Self.ID) > longestID:
		return fmt.Errorf("instance-id: %q has %d bytes, expected 1 to %d", o.Self.ID, len(o.Self.ID), longestID)
	case o.Self.Incarnation <= 0:
		return fmt.Errorf("the incarnation %d is not positive; is the clock of this host right?", o.Self.Incarnation)
	case len(meta) > memberlist.MetaMaxSize:
		return fmt.Errorf("what this member would announce has %d bytes, at most %d fit: %s", len(meta), memberlist.MetaMaxSize, meta)
	case len(label) > memberlist.LabelMaxSize:
		return fmt.Errorf("storage-prefix: %q is too long to tell clusters apart by, at most 250 bytes fit", o.Cluster)
	}
	return nil
}

// View returns everybody as known now.
func (n *Node) View() *topology.View {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.tracker.View(time.Now())
}

// SetState announces a new state of this member. States go one way: starting,
// serving, draining. It returns when the others have been told. An error means
// that they may not have been in time; they will be.
func (n *Node) SetState(s topology.State) error { return n.setState(s, updateTimeout) }

func (n *Node) setState(s topology.State, timeout time.Duration) error {
	n.update.Lock()
	defer n.update.Unlock()
	n.mu.Lock()
	if n.left {
		n.mu.Unlock()
		return fmt.Errorf("cannot announce that this member is %s: it has left", s)
	}
	n.self.State = s
	n.mu.Unlock()
	if err := n.list.UpdateNode(timeout); err != nil {
		return fmt.Errorf("announcing that this member is %s: %w", s, err)
	}
	return nil
}

// Forget removes a silent member from the views of everybody. It is an error if
// the member is not silent, or not known here. If it comes back it counts as
// before.
func (n *Node) Forget(id string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	m, err := n.tracker.Forget(time.Now(), id)
	if err != nil {
		return err
	}
	wake(n.news)
	return n.spread(m)
}

// Leave announces that this member leaves, which takes a second or two and at
// most timeout, and then is silent. Run must have ended or ends soon; nothing
// else may be called any more. An error means that some may take the member for
// dead.
func (n *Node) Leave(timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	n.mu.Lock()
	announced := n.self.State == topology.Draining
	n.mu.Unlock()
	var errs []error
	if !announced {
		errs = append(errs, n.setState(topology.Draining, timeout/2)) // who goes without saying so has crashed
	}
	n.update.Lock()
	defer n.update.Unlock()
	n.mu.Lock()
	done := n.left
	n.left = true
	n.mu.Unlock()
	if done {
		return nil
	}
	if err := n.list.Leave(max(time.Millisecond, time.Until(deadline))); err != nil {
		errs = append(errs, fmt.Errorf("leaving the overlay: %w", err))
	}
	n.hush()
	return errors.Join(append(errs, n.list.Shutdown())...)
}
