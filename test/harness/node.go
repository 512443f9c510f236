package harness

import (
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"
)

// Ports of every node. Nodes differ in their address, as hosts do.
const (
	servePort   = "5454" // attempts, or an observer's gRPC
	gossipPort  = "7373"
	metricsPort = "9454"
)

// stopTime bounds a stop in order: the daemons' drain-timeout and some more.
const stopTime = 20 * time.Second

// Node is a daemon of a cluster, on a loopback address of its own, where it can be
// started again.
type Node struct {
	Daemon
	// Name is its instance-id, and an observer's name.
	Name string
	// Host is its address.
	Host string

	command Command
}

// StartClusterLimiter starts a limiter of the cluster of which store is the
// address of the shared tree, and returns without waiting for anything. The
// options of the command come behind those that place it.
func StartClusterLimiter(t testing.TB, store, name, host string, c Command) *Node {
	t.Helper()
	c.Binary = "levee-limiter"
	return startNode(t, store, name, host, c,
		"--listen-addr="+net.JoinHostPort(host, servePort), "--gossip-addr="+net.JoinHostPort(host, gossipPort))
}

// StartObserver is StartClusterLimiter for an observer, whose entry in the tree,
// [ObserverEntry], shall be there.
func StartObserver(t testing.TB, store, name, host string, c Command) *Node {
	t.Helper()
	c.Binary = "levee-observer"
	return startNode(t, store, name, host, c, "--observer-name="+name, "--http-addr=")
}

// StartProxy is StartClusterLimiter for a client-proxy.
func StartProxy(t testing.TB, store, name, host string, c Command) *Node {
	t.Helper()
	c.Binary = "levee-client-proxy"
	return startNode(t, store, name, host, c, "--listen-addr="+net.JoinHostPort(host, servePort))
}

// ObserverEntry is the value of observer/NAME for an observer at an address.
func ObserverEntry(host string) string {
	return fmt.Sprintf(`{"gossip": "%s", "service": "%s"}`, net.JoinHostPort(host, gossipPort), net.JoinHostPort(host, servePort))
}

func startNode(t testing.TB, store, name, host string, c Command, args ...string) *Node {
	t.Helper()
	metrics := net.JoinHostPort(host, metricsPort)
	args = append([]string{
		"--instance-id=" + name, "--storage-addrs=" + store, "--metrics-addr=" + metrics, "--log-format=json",
	}, args...)
	c.Name, c.Args = name, append(args, c.Args...)
	n := &Node{Name: name, Host: host, command: c}
	n.Addr = net.JoinHostPort(host, servePort)
	n.administer(t, metrics)
	n.Start(t)
	return n
}

// Start starts the node, which does not run, as it was started before.
func (n *Node) Start(t testing.TB) {
	t.Helper()
	n.Process = Start(t, n.command)
}

// Stop asks the node to end, waits until it has, and fails the test unless it
// ends with code 0.
func (n *Node) Stop(t testing.TB) {
	t.Helper()
	n.Signal(t, syscall.SIGTERM)
	if code := n.WaitExit(t, stopTime); code != 0 {
		t.Errorf("%s has ended with code %d after SIGTERM, want 0", n.Name, code)
	}
}

// Freeze halts the node, which then neither computes nor answers; Thaw lets it go
// on.
func (n *Node) Freeze(t testing.TB) {
	t.Helper()
	n.Signal(t, syscall.SIGSTOP)
}

// Thaw undoes Freeze.
func (n *Node) Thaw(t testing.TB) {
	t.Helper()
	n.Signal(t, syscall.SIGCONT)
}

// Members returns how many members of a role and a state the node knows, or -1
// when it does not answer.
func (n *Node) Members(role, state string) int {
	m, err := n.TryScrape()
	if err != nil {
		return -1
	}
	return int(m.Sum("levee_members", "role", role, "state", state))
}

// serving returns how many serving limiters the node knows, and a proxy can ask;
// -1 when it does not answer.
func (n *Node) serving() int {
	m, err := n.TryScrape()
	if err != nil {
		return -1
	}
	known := m.Sum("levee_members", "role", "limiter", "state", "serving")
	if up, proxy := m.Find("levee_proxy_limiter_up"); proxy {
		known = min(known, up)
	}
	return int(known)
}
