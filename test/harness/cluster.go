package harness

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Store is the shared tree of a cluster; a server of etcdtest is one.
type Store interface {
	// Endpoint is its address as an item of storage-addrs.
	Endpoint() string
	// Put puts pairs, key and value in turn, in one step.
	Put(pairs ...string)
	// Delete deletes keys in one step.
	Delete(keys ...string)
}

// root begins the keys of the shared tree: the default of storage-prefix.
const root = "/levee/"

// ClusterOptions says what a new cluster has.
type ClusterOptions struct {
	Observers, Limiters, Proxies int
	// Observer, Limiter and Proxy have options for all of a kind, beside those
	// that place them.
	Observer, Limiter, Proxy Command
}

// Cluster is daemons around a store, each on a loopback address of its own: the
// whole of 127.0.0.0/8 is this host, so clusters run beside each other and a
// member that is down keeps its place.
type Cluster struct {
	// Observers, Limiters and Proxies are all that were started, in this order,
	// also those that run no more.
	Observers, Limiters, Proxies []*Node

	t     testing.TB
	store Store
	opts  ClusterOptions
	net   string // the first three parts of all addresses
}

// StartCluster writes the entries, raw value by key without the root prefix, and
// starts a cluster that ends with the test. It returns when everybody is ready and
// knows all limiters.
func StartCluster(t testing.TB, store Store, o ClusterOptions, entries map[string]string) *Cluster {
	t.Helper()
	c := &Cluster{t: t, store: store, opts: o, net: fmt.Sprintf("127.%d.%d", 1+rand.IntN(254), rand.IntN(256))}
	c.Apply(entries)
	for range o.Observers {
		c.AddObserver()
	}
	for range o.Limiters {
		c.AddLimiter()
	}
	for range o.Proxies {
		c.AddProxy()
	}
	c.WaitServing(startTime, o.Limiters)
	return c
}

// Apply sets entries of the tree and then removes some.
func (c *Cluster) Apply(set map[string]string, remove ...string) {
	c.t.Helper()
	var pairs []string
	for key, value := range set {
		pairs = append(pairs, root+key, value)
	}
	if len(pairs) > 0 {
		c.store.Put(pairs...)
	}
	for i, key := range remove {
		remove[i] = root + key
	}
	if len(remove) > 0 {
		c.store.Delete(remove...)
	}
}

// AddObserver enters another observer in the tree and starts it, with more
// options, without waiting for it.
func (c *Cluster) AddObserver(args ...string) *Node {
	c.t.Helper()
	name, host := c.place("observer", 100, len(c.Observers))
	c.Apply(map[string]string{"observer/" + name: ObserverEntry(host)})
	n := StartObserver(c.t, c.store.Endpoint(), name, host, with(c.opts.Observer, args))
	c.Observers = append(c.Observers, n)
	return n
}

// AddLimiter starts another limiter, with more options, without waiting for it.
func (c *Cluster) AddLimiter(args ...string) *Node {
	c.t.Helper()
	name, host := c.place("limiter", 1, len(c.Limiters))
	n := StartClusterLimiter(c.t, c.store.Endpoint(), name, host, with(c.opts.Limiter, args))
	c.Limiters = append(c.Limiters, n)
	return n
}

// AddProxy starts another client-proxy, with more options, without waiting for it.
func (c *Cluster) AddProxy(args ...string) *Node {
	c.t.Helper()
	name, host := c.place("proxy", 200, len(c.Proxies))
	n := StartProxy(c.t, c.store.Endpoint(), name, host, with(c.opts.Proxy, args))
	c.Proxies = append(c.Proxies, n)
	return n
}

func (c *Cluster) place(kind string, from, i int) (name, host string) {
	return fmt.Sprintf("%s-%d", kind, i+1), fmt.Sprintf("%s.%d", c.net, from+i)
}

// with is a command with more options.
func with(c Command, args []string) Command {
	c.Args = slices.Concat(c.Args, args)
	return c
}

// Nodes returns all nodes that run, also those that are frozen.
func (c *Cluster) Nodes() (nodes []*Node) {
	for _, n := range slices.Concat(c.Observers, c.Limiters, c.Proxies) {
		select {
		case <-n.Exited():
		default:
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// WaitServing waits until all nodes that run are ready and know so many serving
// limiters, which the proxies can ask, and returns how long that took.
func (c *Cluster) WaitServing(within time.Duration, limiters int) time.Duration {
	c.t.Helper()
	return WaitServing(c.t, within, limiters, c.Nodes())
}

// WaitServing is [Cluster.WaitServing] for some nodes.
func WaitServing(t testing.TB, within time.Duration, limiters int, nodes []*Node) time.Duration {
	t.Helper()
	var missing string
	defer func() {
		if t.Failed() && missing != "" {
			t.Log(missing)
		}
	}()
	return Eventually(t, within, fmt.Sprintf("all are ready and know %d serving limiters", limiters), func() bool {
		missing = ""
		for _, n := range nodes {
			if known, ready := n.serving(), n.Ready(); known != limiters || !ready {
				missing = fmt.Sprintf("%s knows %d serving limiters; ready: %v", n.Name, known, ready)
				return false
			}
		}
		return true
	})
}

// ProxyAddrs are the serving ports of all proxies.
func (c *Cluster) ProxyAddrs() (addrs []string) {
	for _, p := range c.Proxies {
		addrs = append(addrs, p.Addr)
	}
	return addrs
}
