package limiter

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/gossip"
	"github.com/levee-project/levee/internal/inforce"
	"github.com/levee-project/levee/internal/roster"
	"github.com/levee-project/levee/internal/topology"
)

// leaveTimeout is how long the others may take to hear that this one leaves.
const leaveTimeout = 2 * time.Second

// cluster is the limiter's part in the overlay. A nil cluster is that of a
// limiter that is alone.
type cluster struct {
	node   *gossip.Node
	roster *roster.Roster
	log    *slog.Logger
}

// enter binds gossip-addr and starts to gossip; nobody is known yet.
func enter(d *daemon.Daemon, cfg *config.Limiter, serves *net.TCPAddr, decider *Decider) (*cluster, error) {
	key, err := gossip.ReadKey(cfg.GossipKeyFile)
	if err != nil {
		return nil, config.Unusable(err)
	}
	c := &cluster{roster: roster.New(d.Registry, d.Log), log: d.Log}
	c.node, err = gossip.Start(gossip.Options{
		Self: topology.Member{
			ID:          cfg.InstanceID,
			Role:        topology.Limiter,
			Incarnation: time.Now().UnixNano(),
			State:       topology.Starting,
			Gossip:      cfg.GossipAddr,
			Service:     advertised(serves, cfg.GossipAddr),
			Admin:       topology.Reachable(d.AdminAddr(), cfg.GossipAddr.Addr()),
			Version:     daemon.ReadBuild().Version,
			Weight:      cfg.Weight,
		},
		Cluster: cfg.Storage.Prefix,
		Key:     key,
		Forget:  cfg.GossipForget,
		Log:     d.Log,
		Metrics: d.Registry,
		Changed: func(v *topology.View) {
			decider.SetView(v)
			c.roster.View(v)
		},
	})
	if err != nil {
		return nil, err
	}
	d.OnStop("leave the overlay", leaveTimeout+time.Second, func(context.Context) error {
		if err := c.node.Leave(leaveTimeout); err != nil {
			c.log.Warn("the others may take this limiter for dead, not for gone", "err", err)
		}
		return nil
	})
	d.Go("gossip", c.node.Run)
	return c, nil
}

// advertised is where the others reach what this limiter serves: at the address
// it listens on, or where that is all addresses at the host that gossips.
func advertised(serves *net.TCPAddr, gossips netip.AddrPort) netip.AddrPort {
	port := serves.AddrPort().Port()
	host := serves.AddrPort().Addr().Unmap()
	if host.IsUnspecified() {
		host = gossips.Addr()
	}
	return netip.AddrPortFrom(host, port)
}

// configure takes a new shared configuration.
func (c *cluster) configure(conf *inforce.Configuration) {
	if c == nil {
		return
	}
	c.roster.Want(conf.Quotas.MaxFactor())
	seeds := make([]netip.AddrPort, len(conf.Observers))
	for i, o := range conf.Observers {
		seeds[i] = o.Gossip
	}
	c.node.SetSeeds(seeds)
}

// join waits until the overlay is joined, and then lets attempts come here.
func (c *cluster) join(ctx context.Context) error {
	if c == nil {
		return nil
	}
	select {
	case <-c.node.Joined():
		// Where many start at once, the news queues. It arrives, so this is no
		// reason to give up.
		if err := c.node.SetState(topology.Serving); err != nil {
			c.log.Warn("the others may not have heard yet that this limiter serves", "err", err)
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// leaving sends the proxies elsewhere, while this limiter still answers.
func (c *cluster) leaving() {
	if c == nil {
		return
	}
	if err := c.node.SetState(topology.Draining); err != nil {
		c.log.Warn("the others may not have heard that this limiter drains", "err", err)
	}
}
