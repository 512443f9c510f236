package dev

import (
	"fmt"
	"net"
	"path/filepath"
	"strconv"
)

// host is where everything listens.
const host = "127.0.0.1"

// use is what a port is for, as the table of processes calls it.
type use string

// The uses, in the order of the table.
const (
	attempts use = "attempts"
	metrics  use = "metrics"
	gossip   use = "gossip"
	service  use = "gRPC"
	console  use = "console"
	clients  use = "etcd"
	peers    use = "peers"
)

var uses = []use{attempts, metrics, gossip, service, console, clients, peers}

// ports is how many numbers a cluster has, ten for each kind of port. The first
// are the proxies', which is what a developer types most.
const ports = 100

// Offsets of the kinds of ports from the first one.
const (
	proxyAttempts = 10 * iota
	limiterAttempts
	limiterGossip
	observerService
	observerGossip
	observerConsole
	proxyMetrics
	limiterMetrics
	observerMetrics
	etcdPorts
)

// process is one process to run.
type process struct {
	name   string // limiter-2, also its instance-id
	binary string
	ports  map[use]int
	args   []string
}

// addr is where the process serves a use.
func (p *process) addr(u use) string { return net.JoinHostPort(host, strconv.Itoa(p.ports[u])) }

// plan is a whole cluster that does not run yet.
type plan struct {
	etcd                         *process
	observers, limiters, proxies []*process
}

// plan says which processes there shall be, and where.
func (o *options) plan() *plan {
	p := &plan{etcd: &process{
		name: "etcd", binary: "etcd",
		ports: map[use]int{clients: o.port + etcdPorts, peers: o.port + etcdPorts + 1},
	}}
	p.observers = members("observer", o.observers, o.port, map[use]int{
		service: observerService, gossip: observerGossip, console: observerConsole, metrics: observerMetrics,
	})
	p.limiters = members("limiter", o.limiters, o.port, map[use]int{
		attempts: limiterAttempts, gossip: limiterGossip, metrics: limiterMetrics,
	})
	p.proxies = members("proxy", o.proxies, o.port, map[use]int{attempts: proxyAttempts, metrics: proxyMetrics})
	return p
}

// members returns n processes of one kind, the i-th with the i-th port of each
// use.
func members(kind string, n, first int, offsets map[use]int) []*process {
	list := make([]*process, n)
	for i := range list {
		list[i] = &process{name: fmt.Sprintf("%s-%d", kind, i+1), ports: map[use]int{}}
		for u, offset := range offsets {
			list[i].ports[u] = first + offset + i
		}
	}
	return list
}

// all returns every process, those that others need first.
func (p *plan) all() []*process {
	all := []*process{p.etcd}
	for _, tier := range p.tiers() {
		all = append(all, tier...)
	}
	return all
}

// tiers returns Levee's processes, in the order of their start.
func (p *plan) tiers() [][]*process { return [][]*process{p.observers, p.limiters, p.proxies} }

// endpoint is the URL of etcd.
func (p *plan) endpoint() string { return "http://" + p.etcd.addr(clients) }

// commands gives each process its arguments, with all files below dir.
func (p *plan) commands(dir string) {
	urls := func(u use) string { return "http://" + p.etcd.addr(u) }
	p.etcd.args = []string{
		"--name=dev", "--data-dir=" + filepath.Join(dir, "etcd"), "--unsafe-no-fsync",
		"--listen-client-urls=" + urls(clients), "--advertise-client-urls=" + urls(clients),
		"--listen-peer-urls=" + urls(peers), "--initial-advertise-peer-urls=" + urls(peers),
		"--initial-cluster=dev=" + urls(peers),
		// Alone, it need not wait a second for the votes of others.
		"--heartbeat-interval=10", "--election-timeout=100",
		// Below that, it reports errors that mean nothing at every start and stop.
		"--log-level=fatal", "--log-format=console",
	}
	common := func(m *process) []string {
		return []string{
			"--instance-id=" + m.name, "--storage-addrs=" + p.endpoint(), "--log-format=text",
			"--storage-cache=" + filepath.Join(dir, m.name+".cache"), "--metrics-addr=" + m.addr(metrics),
		}
	}
	for _, m := range p.observers {
		m.binary = "levee-observer"
		m.args = append(common(m), "--observer-name="+m.name, "--http-addr="+m.addr(console))
	}
	for _, m := range p.limiters {
		m.binary = "levee-limiter"
		m.args = append(common(m), "--listen-addr="+m.addr(attempts), "--gossip-addr="+m.addr(gossip),
			"--state-file="+filepath.Join(dir, m.name+".state"))
	}
	for _, m := range p.proxies {
		m.binary = "levee-client-proxy"
		m.args = append(common(m), "--listen-addr="+m.addr(attempts))
	}
}
