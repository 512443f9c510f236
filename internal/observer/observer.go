package observer

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/gossip"
	"github.com/levee-project/levee/internal/inforce"
	"github.com/levee-project/levee/internal/program"
	"github.com/levee-project/levee/internal/roster"
	"github.com/levee-project/levee/internal/topology"
	"github.com/levee-project/levee/internal/topologyrpc"
)

const (
	// drainTime bounds how long the others may take to hear that this one drains.
	drainTime = 3 * time.Second
	// leaveTime is how long they may take to hear that it leaves.
	leaveTime = 2 * time.Second
)

// Main is the whole levee-observer: it reads the configuration that args and the
// environment give, and serves until it is told to stop.
func Main(ctx context.Context, args []string) error {
	p := program.Program[*config.Observer]{
		Name:  "levee-observer",
		Role:  "observer",
		Load:  config.LoadObserver,
		Check: check,
		Setup: func(ctx context.Context, d *daemon.Daemon, run *program.Run[*config.Observer]) error {
			return newObserver(d, run.Config).setup(ctx, run)
		},
	}
	return p.Main(ctx, args)
}

// check checks the files that the options name.
func check(cfg *config.Observer) error {
	if err := inforce.CheckFiles(&cfg.Storage); err != nil {
		return err
	}
	if _, err := gossip.ReadKey(cfg.GossipKeyFile); err != nil {
		return config.Unusable(err)
	}
	return nil
}

// observer is one run of the daemon.
type observer struct {
	*daemon.Daemon
	cfg      *config.Observer
	entry    *entry
	roster   *roster.Roster
	revision prometheus.Gauge
	changed  chan struct{} // holds one while the view is new

	configuration atomic.Pointer[inforce.Configuration] // nil before the first
	view          atomic.Pointer[topology.View]         // nil before the first

	node   *gossip.Node
	server *topologyrpc.Server
}

func newObserver(d *daemon.Daemon, cfg *config.Observer) *observer {
	return &observer{
		Daemon: d, cfg: cfg,
		entry:  newEntry(cfg.Storage.Prefix, cfg.ObserverName, d.Health, d.Log),
		roster: roster.New(d.Registry, d.Log),
		revision: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "levee_topology_revision",
			Help: "Changes of the topology seen by this process since its start; other observers have their own count.",
		}),
		changed: make(chan struct{}, 1),
	}
}

// setup starts everything and returns when watchers are served. The stop goes
// backwards through what it registers.
func (o *observer) setup(ctx context.Context, run *program.Run[*config.Observer]) error {
	if err := o.openConsole(ctx, run.Status); err != nil {
		return err
	}
	if err := inforce.Follow(ctx, o.Daemon, run.Status, &o.cfg.Storage, o.configure); err != nil {
		return err
	}
	own, err := o.entry.wait(ctx)
	if err != nil {
		return err
	}
	if err := o.enter(ctx, own); err != nil {
		return err
	}
	o.Health.SetStarting("waiting until the view of the cluster is stable")
	if err := settle(ctx, o.node.Joined(), o.changed); err != nil {
		return err
	}
	o.server.SetServing(true)
	if err := o.node.SetState(topology.Serving); err != nil {
		o.Log.Warn("the others may not have heard yet that this observer serves", "err", err)
	}
	run.Status.Add(o.report)
	o.OnStop("drain", drainTime, o.drain)
	run.OnReload(o.Daemon, func(*config.Observer) {})
	return nil
}

// report fills in this observer's part of its status.
func (o *observer) report(s *adminapi.Status) {
	for _, c := range o.server.Clients() {
		s.Watchers = append(s.Watchers, adminapi.Watcher{
			ID: c.ID, Role: "client-proxy", Version: c.Version, Addr: c.Addr, Admin: c.Admin, Since: c.Since,
		})
	}
}

// configure takes a new shared configuration.
func (o *observer) configure(c *inforce.Configuration) {
	o.configuration.Store(c)
	o.roster.Want(c.Quotas.MaxFactor())
	o.entry.take(c.Observers)
}

// enter binds this observer's addresses, and starts to gossip and to listen.
func (o *observer) enter(ctx context.Context, own topology.Addresses) error {
	key, err := gossip.ReadKey(o.cfg.GossipKeyFile)
	if err != nil {
		return config.Unusable(err)
	}
	listener, err := daemon.Bind(ctx, o.entry.key+": service", own.Service.String())
	if err != nil {
		return err
	}
	o.server = topologyrpc.NewServer(topologyrpc.ServerOptions{
		ID: o.cfg.InstanceID, Log: o.Log, Forget: func(id string) error { return o.node.Forget(id) },
	})
	o.node, err = gossip.Start(gossip.Options{
		Self: topology.Member{
			ID:          o.cfg.InstanceID,
			Role:        topology.Observer,
			Incarnation: time.Now().UnixNano(),
			State:       topology.Starting,
			Gossip:      own.Gossip,
			Service:     own.Service,
			Admin:       topology.Reachable(o.AdminAddr(), own.Gossip.Addr()),
			Version:     daemon.ReadBuild().Version,
			Weight:      1,
		},
		Cluster: o.cfg.Storage.Prefix,
		Key:     key,
		Forget:  o.cfg.GossipForget,
		Log:     o.Log,
		Metrics: o.Registry,
		Changed: o.show,
	})
	if err != nil {
		_ = listener.Close() // the process ends
		return fmt.Errorf("%s: %w", o.entry.key, err)
	}
	o.OnStop("leave the overlay", leaveTime+time.Second, func(context.Context) error {
		if err := o.node.Leave(leaveTime); err != nil {
			o.Log.Warn("the others may take this observer for dead, not for gone", "err", err)
		}
		return nil
	})
	o.Go("gossip", o.node.Run)
	o.entry.sow(o.node.SetSeeds)
	o.serve(listener)
	return nil
}

// serve starts to listen; watchers are refused until the view is stable.
func (o *observer) serve(listener *net.TCPListener) {
	o.Registry.MustRegister(o.revision, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "levee_topology_watchers", Help: "Streams of the topology that are being served; usually one for each client-proxy.",
	}, func() float64 { return float64(o.server.Watchers()) }))
	o.Log.Info("serving", "what", "topology", "addr", listener.Addr().String())
	o.Go("topology", func(ctx context.Context) error { return o.server.Serve(ctx, listener) })
	o.OnProbe(func(ctx context.Context) error { return topologyrpc.Check(ctx, listener.Addr()) })
}

// show takes a new view.
func (o *observer) show(v *topology.View) {
	o.view.Store(v)
	o.server.Publish(v)
	o.roster.View(v)
	o.revision.Set(float64(v.Revision()))
	select {
	case o.changed <- struct{}{}:
	default: // it is known that the view is new
	}
}

// drain sends the watchers to another observer, and tells the overlay.
func (o *observer) drain(context.Context) error {
	o.server.SetServing(false)
	if err := o.node.SetState(topology.Draining); err != nil {
		o.Log.Warn("the others may not have heard that this observer drains", "err", err)
	}
	return nil
}
