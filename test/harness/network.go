package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Network is a small network on this machine: sides that each have hosts, joined
// by a bridge that can be cut between them. The test itself is joined to it, too,
// and reaches every host whatever is cut. It needs root.
type Network struct {
	// Gateway is the test's own address in it.
	Gateway string

	t     testing.TB
	id    string // begins the names of all namespaces and devices
	net   string // the first two parts of all addresses
	sides map[string]*side

	mu sync.Mutex // one change of the network at a time
}

// side is a part of the network that is whole in itself.
type side struct {
	number, hosts int
}

// networks counts those of this process; each has a network of addresses of its
// own, out of those set aside for benchmarks of networks (RFC 2544).
var networks struct {
	sync.Mutex
	taken [2]bool
	made  int // what a network was called goes away a little later than the network
}

// NewNetwork makes a network with sides of the given names, which must be a few
// letters. It is gone when the test ends.
func NewNetwork(t testing.TB, sides ...string) *Network {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("this test makes network namespaces, and needs root for that")
	}
	clearNetworks(t)
	slot, number := takeNetwork(t)
	n := &Network{
		t: t, id: fmt.Sprintf("lv%d-%d", os.Getpid(), number), net: fmt.Sprintf("198.%d", 18+slot), sides: map[string]*side{},
	}
	n.Gateway = n.net + ".0.1"
	n.makeNamespace(n.bridge())
	n.ip("-n", n.bridge(), "link", "add", "name", "br", "type", "bridge")
	n.ip("-n", n.bridge(), "link", "set", "dev", "br", "up")
	n.plug("test", "")
	n.ip("addr", "add", n.Gateway+"/16", "dev", n.id)
	n.ip("link", "set", "dev", n.id, "up")
	for i, name := range sides {
		n.sides[name] = &side{number: i + 1}
		n.makeNamespace(n.Namespace(name))
		n.plug(name, n.Namespace(name))
		n.ip("-n", n.Namespace(name), "link", "set", "lo", "up")
		n.ip("-n", n.Namespace(name), "link", "set", "dev", n.id, "up")
	}
	return n
}

// clearNetworks removes what the networks of tests that were killed have left.
func clearNetworks(t testing.TB) {
	t.Helper()
	names, err := filepath.Glob("/run/netns/lv*-*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range names {
		name := filepath.Base(path)
		owner, _, _ := strings.Cut(strings.TrimPrefix(name, "lv"), "-")
		if _, err := os.Stat("/proc/" + owner); os.IsNotExist(err) {
			_ = exec.CommandContext(t.Context(), "ip", "netns", "del", name).Run() // another test may be faster
		}
	}
}

// takeNetwork returns which addresses a new network has, those of no other test
// of this process, and its number.
func takeNetwork(t testing.TB) (slot, number int) {
	networks.Lock()
	defer networks.Unlock()
	for slot := range networks.taken {
		if !networks.taken[slot] {
			networks.taken[slot] = true
			networks.made++
			t.Cleanup(func() {
				networks.Lock()
				networks.taken[slot] = false
				networks.Unlock()
			})
			return slot, networks.made
		}
	}
	t.Fatalf("there are %d networks already", len(networks.taken))
	return 0, 0
}

func (n *Network) bridge() string { return n.id + "-br" }

// Namespace is the network namespace of a side, for [Command].
func (n *Network) Namespace(name string) string { return n.id + "-" + name }

func (n *Network) makeNamespace(name string) {
	n.t.Helper()
	n.ip("netns", "add", name)
	n.t.Cleanup(func() { n.ip("netns", "del", name) }) // its devices go with it
}

// plug joins a namespace, or that of the test, to the bridge, with a device of the
// network's name there and one of the given name on the bridge.
func (n *Network) plug(name, namespace string) {
	n.t.Helper()
	link := []string{"-n", n.bridge(), "link", "add", "name", name, "type", "veth", "peer", "name", n.id, "netns"}
	if namespace == "" {
		n.ip(append(link, fmt.Sprint(os.Getpid()))...)
	} else {
		n.ip(append(link, namespace)...)
	}
	n.ip("-n", n.bridge(), "link", "set", "dev", name, "master", "br", "up")
}

// Host adds a host to a side and returns its address.
func (n *Network) Host(name string) string {
	n.t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.sides[name]
	s.hosts++
	host := fmt.Sprintf("%s.%d.%d", n.net, s.number, s.hosts)
	n.ip("-n", n.Namespace(name), "addr", "add", host+"/16", "dev", n.id)
	return host
}

// Cut drops all that goes between two sides, both ways.
func (n *Network) Cut(a, b string) {
	n.t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	rules := fmt.Sprintf(`table bridge cut {
	chain forward {
		type filter hook forward priority 0;
		iifname %q oifname %q drop
		iifname %q oifname %q drop
	}
}`, a, b, b, a)
	cmd := exec.CommandContext(n.t.Context(), "ip", "netns", "exec", n.bridge(), "nft", "-f", "-")
	cmd.Stdin = strings.NewReader(rules)
	if out, err := cmd.CombinedOutput(); err != nil {
		n.t.Fatalf("nft: %v: %s", err, out)
	}
}

// Mend undoes every cut.
func (n *Network) Mend() {
	n.t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ip("netns", "exec", n.bridge(), "nft", "flush", "ruleset")
}

// ip runs ip to its end. It is used for cleaning up, too, and so has no
// context of the test's.
func (n *Network) ip(args ...string) {
	n.t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil { //nolint:noctx // see above
		n.t.Errorf("ip %s: %v: %s", strings.Join(args, " "), err, out)
	}
}
