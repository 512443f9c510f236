package lab

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// The network of the lab. It has no way out.
const (
	// Bridge is the interface of the tests themselves.
	Bridge = "lab"
	// Gateway is their address.
	Gateway = "10.77.0.1"

	prefixLength = "/16"
)

// makeBridge connects the tests to a bridge, in the namespace that they have for
// themselves.
func makeBridge() error {
	return ip(
		"link set lo up",
		"link add "+Bridge+" type bridge stp_state 0 forward_delay 0",
		"addr add "+Gateway+prefixLength+" dev "+Bridge,
		"link set "+Bridge+" up",
	)
}

// port is the machine's place on the bridge.
func port(machine string) string { return "p-" + machine }

// connect makes a namespace for a machine, with an interface host0 that has a
// place on the bridge, and nothing in it: the machine is off.
func connect(machine string) error {
	return ip(
		"netns add "+machine,
		"link add "+port(machine)+" type veth peer name host0 netns "+machine,
		"link set "+port(machine)+" master "+Bridge,
		"-n "+machine+" link set lo up",
	)
}

// linkUp brings the interface up, with the machine's address.
func linkUp(machine, addr string) error {
	return ip(
		"-n "+machine+" addr add "+addr+prefixLength+" dev host0",
		"-n "+machine+" link set host0 up",
		"link set "+port(machine)+" up",
	)
}

// linkDown brings the interface down. The namespace outlives the machine's
// processes: without this, it would go on answering for all addresses they gave it.
func linkDown(machine string) error {
	return ip(
		"link set "+port(machine)+" down",
		"-n "+machine+" link set host0 down",
		"-n "+machine+" addr flush dev host0",
	)
}

// Unplug takes the cable out of the machine, which notices.
func (m *Machine) Unplug(t testing.TB) {
	t.Helper()
	if err := ip("link set " + port(m.Name) + " down"); err != nil {
		t.Fatal(err)
	}
}

// Plug puts the cable back.
func (m *Machine) Plug(t testing.TB) {
	t.Helper()
	if err := ip("link set " + port(m.Name) + " up"); err != nil {
		t.Fatal(err)
	}
}

// Port is the name of the interface of the test's own network through which all
// that the machine sends and receives goes, for filters.
func (m *Machine) Port() string { return port(m.Name) }

// Namespace is the path of the machine's network namespace. It exists as long as
// the test, whether the machine runs or not.
func (m *Machine) Namespace() string { return "/run/netns/" + m.Name }

// disconnect removes the interface at once; with the namespace alone it would go
// some time later.
func disconnect(machine string) error { return ip("link del "+port(machine), "netns del "+machine) }

// ip runs the commands of ip(8), one after the other.
func ip(commands ...string) error {
	for _, command := range commands {
		out, err := exec.Command("ip", strings.Fields(command)...).CombinedOutput() //nolint:noctx // ends at once
		if err != nil {
			return fmt.Errorf("ip %s: %w: %s", command, err, out)
		}
	}
	return nil
}
