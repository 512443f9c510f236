package target

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/levee-project/levee/test/bench/load"
)

// Cluster is limiters behind proxies, all on the servers' core. Its observer is
// where the store is.
type Cluster struct {
	Limiters, Proxies []*Server

	observer *Server
	name     string
	store    *Store
	net      string // the first three parts of all addresses
}

// ClusterOptions say what a cluster has.
type ClusterOptions struct {
	Limiters, Proxies int
	// Factor is the group size D of all resources.
	Factor int
}

// BuildCluster builds what a cluster consists of, with all cores. It goes before
// [Site.StartStore].
func (s *Site) BuildCluster(ctx context.Context) error {
	for _, name := range []string{"levee-observer", "levee-limiter", "levee-client-proxy"} {
		if err := s.build(ctx, s.root, name, "./cmd/"+name); err != nil {
			return err
		}
	}
	return s.build(ctx, s.tests(), "etcd", "go.etcd.io/etcd/server/v3") // a tool of the tests' module
}

// StartCluster starts a cluster and returns when all of it is ready, and the
// proxies have been seen to accept and to refuse, over both protocols.
func (s *Site) StartCluster(ctx context.Context, store *Store, o ClusterOptions) (*Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, clusterTime)
	defer cancel()
	store.clusters++
	c := &Cluster{
		// The whole of 127.0.0.0/8 is this host: each daemon has an address of its own.
		net:   fmt.Sprintf("127.%d.%d", 1+rand.IntN(254), rand.IntN(256)),
		name:  "bench-" + strconv.Itoa(store.clusters),
		store: store,
	}
	err := c.start(ctx, s, o)
	if err == nil {
		err = c.await(ctx)
	}
	if err != nil {
		c.Stop()
		return nil, fmt.Errorf("start a cluster of %d limiters: %w", o.Limiters, err)
	}
	return c, nil
}

// clusterTime bounds the start of a cluster: an observer alone takes some seconds.
const clusterTime = 60 * time.Second

// Ports of every daemon.
const (
	servePort  = 5454 // attempts, or the observer's gRPC
	gossipPort = 7373
	adminPort  = 9454
)

// host is the address of a daemon, by its kind and number.
func (c *Cluster) host(from, number int) netip.Addr {
	return netip.MustParseAddr(c.net + "." + strconv.Itoa(from+number))
}

func (c *Cluster) start(ctx context.Context, s *Site, o ClusterOptions) error {
	at := c.host(100, 0)
	gossip := netip.AddrPortFrom(at, gossipPort)
	err := c.store.write(ctx, c.prefix(), map[string]string{
		"factor/default":        strconv.Itoa(o.Factor),
		"limit/key_default":     `{"rate": 1000000, "burst": 1000000}`,
		"limit/key/tight/quota": `{"rate": 1, "burst": 5}`,
		"observer/observer":     fmt.Sprintf(`{"gossip": %q, "service": %q}`, gossip, netip.AddrPortFrom(at, servePort)),
	})
	if err != nil {
		return err
	}
	if c.observer, err = c.daemon(s, "levee-observer", "observer", at, c.store.cpu, "--observer-name=observer", "--http-addr="); err != nil {
		return err
	}
	for i := range o.Limiters {
		at := c.host(1, i)
		l, err := c.daemon(s, "levee-limiter", "limiter-"+strconv.Itoa(i+1), at, s.cpu,
			"--listen-addr="+netip.AddrPortFrom(at, servePort).String(), "--gossip-addr="+netip.AddrPortFrom(at, gossipPort).String())
		if err != nil {
			return err
		}
		c.Limiters = append(c.Limiters, l)
	}
	for i := range o.Proxies {
		at := c.host(200, i)
		// An attempt that waits for its turn on a busy machine is not to be asked
		// of another limiter.
		p, err := c.daemon(s, "levee-client-proxy", "proxy-"+strconv.Itoa(i+1), at, s.cpu,
			"--listen-addr="+netip.AddrPortFrom(at, servePort).String(), "--attempt-timeout=500ms")
		if err != nil {
			return err
		}
		c.Proxies = append(c.Proxies, p)
	}
	return nil
}

// prefix begins the keys of the cluster's tree.
func (c *Cluster) prefix() string { return "/" + c.name + "/" }

// daemon starts one of the daemons.
func (c *Cluster) daemon(s *Site, binary, name string, at netip.Addr, cpu int, args ...string) (*Server, error) {
	admin, serve := netip.AddrPortFrom(at, adminPort), netip.AddrPortFrom(at, servePort)
	args = append([]string{
		"--instance-id=" + name, "--log-format=json", "--metrics-addr=" + admin.String(),
		"--storage-addrs=" + c.store.endpoint, "--storage-prefix=/" + c.name,
	}, args...)
	p, err := start(exec.Command(s.binary(binary), args...), cpu) //nolint:noctx // ends by Stop
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Server{
		Name: name, admin: admin, tight: "/attempt", proc: p,
		addrs: map[load.Protocol]netip.AddrPort{load.HTTP1: serve, load.H2C: serve},
	}, nil
}

// servers are all daemons that run.
func (c *Cluster) servers() (all []*Server) {
	if c.observer != nil {
		all = append(all, c.observer)
	}
	return append(append(all, c.Limiters...), c.Proxies...)
}

// Stop ends the cluster, the proxies before the limiters that they ask.
func (c *Cluster) Stop() {
	stopAll(c.Proxies)
	stopAll(c.Limiters)
	if c.observer != nil {
		c.observer.Stop()
	}
}

func stopAll(servers []*Server) {
	var ends sync.WaitGroup
	for _, s := range servers {
		ends.Go(s.Stop)
	}
	ends.Wait()
}

// Addrs is where the proxies speak a protocol.
func (c *Cluster) Addrs(p load.Protocol) (addrs []netip.AddrPort) {
	for _, s := range c.Proxies {
		addrs = append(addrs, s.Addr(p))
	}
	return addrs
}

// CPU is what the proxies and the limiters have used so far.
func (c *Cluster) CPU() (proxies, limiters time.Duration, err error) {
	proxies, err = sumCPU(c.Proxies)
	limiters, second := sumCPU(c.Limiters)
	return proxies, limiters, errors.Join(err, second)
}

func sumCPU(servers []*Server) (sum time.Duration, err error) {
	for _, s := range servers {
		used, err := s.CPU()
		if err != nil {
			return 0, err
		}
		sum += used
	}
	return sum, nil
}
