package lab

import (
	"fmt"
	"os/exec"
	"strings"
)

// The network of the lab. It has no way out.
const (
	bridge = "lab"
	// Gateway is the address of the tests themselves.
	Gateway = "10.77.0.1"

	prefixLength = "/16"
)

// makeBridge connects the tests to a bridge, in the namespace that they have for
// themselves.
func makeBridge() error {
	return ip(
		"link set lo up",
		"link add "+bridge+" type bridge stp_state 0 forward_delay 0",
		"addr add "+Gateway+prefixLength+" dev "+bridge,
		"link set "+bridge+" up",
	)
}

// connect makes a namespace for a machine, with an interface host0 on the
// bridge.
func connect(machine, addr string) error {
	port := "p-" + machine
	return ip(
		"netns add "+machine,
		"link add "+port+" type veth peer name host0 netns "+machine,
		"link set "+port+" master "+bridge+" up",
		"-n "+machine+" link set lo up",
		"-n "+machine+" addr add "+addr+prefixLength+" dev host0",
		"-n "+machine+" link set host0 up",
	)
}

// disconnect removes the interface at once; with the namespace alone it would go
// some time later.
func disconnect(machine string) error { return ip("link del p-"+machine, "netns del "+machine) }

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
