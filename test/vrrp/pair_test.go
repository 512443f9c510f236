package vrrp

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
	"github.com/levee-project/levee/test/lab"
)

const (
	limiterUnit    = "levee-limiter"
	vrrpUnit       = "levee-vrrp"
	keepalivedUnit = "keepalived"

	configFile = "/etc/levee/vrrp.yaml"

	virtual  = "10.77.0.100"
	instance = "levee"
	port     = "5454"
)

// service is where the pair serves.
var service = net.JoinHostPort(virtual, port)

// pair is two machines that share the address.
type pair struct {
	first, second *lab.Machine
	watch         *watch
}

// newPair boots two machines, and sets them up as the README says. One of them has
// the address then, and the other would take it.
func newPair(t *testing.T) *pair {
	t.Helper()
	furnish(t)
	directories := []string{built(oldVersion) + ":/srv/old", built(newVersion) + ":/srv/new"}
	p := &pair{
		first:  lab.New(t, "first", "10.77.0.2", directories...),
		second: lab.New(t, "second", "10.77.0.3", directories...),
	}
	p.watch = watchAddress(t, virtual, p.first, p.second)
	lab.StartTogether(t, p.both()...)
	for i, m := range p.both() {
		install(t, m, "/srv/old")
		setUp(t, m, p.other(m), i+1)
	}
	p.settled(t)
	return p
}

func (p *pair) both() []*lab.Machine { return []*lab.Machine{p.first, p.second} }

func (p *pair) other(m *lab.Machine) *lab.Machine {
	if m == p.first {
		return p.second
	}
	return p.first
}

// furnish lets the client have a connection for each attempt, 400 a second, of which
// the kernel remembers some for a minute; and gives it a second address.
func furnish(t *testing.T) {
	t.Helper()
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte("10000 65000"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "ip", "addr", "replace", keeper+"/16", "dev", lab.Bridge).CombinedOutput()
	if err != nil {
		t.Fatalf("an address for the client: %v: %s", err, out)
	}
}

// install installs, or upgrades to, all packages in a directory.
func install(t *testing.T, m *lab.Machine, directory string) {
	t.Helper()
	m.Shell(t, "apt-get install -y --no-install-recommends "+directory+"/*.deb")
}

var stateLine = regexp.MustCompile(`\(` + instance + `\) Entering (\w+) STATE`)

// state is what the machine's keepalived has said last: MASTER, BACKUP or FAULT.
// It is empty while it does not run.
func state(t *testing.T, m *lab.Machine) string {
	t.Helper()
	if m.Property(t, keepalivedUnit, "ActiveState") != "active" {
		return ""
	}
	run := m.Property(t, keepalivedUnit, "InvocationID")
	log := m.Run(t, "journalctl", "--no-pager", "-o", "cat", "_SYSTEMD_INVOCATION_ID="+run)
	all := stateLine.FindAllStringSubmatch(log, -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1][1]
}

// master waits until exactly one machine has the address, and returns it.
func (p *pair) master(t *testing.T) *lab.Machine {
	t.Helper()
	harness.Eventually(t, 10*time.Second, "exactly one machine has the address", func() bool { return len(p.watch.holders()) == 1 })
	if p.watch.holders()[0] == p.first.Name {
		return p.first
	}
	return p.second
}

// settled waits until one machine has the address, and the other is ready to take
// it, and returns both.
func (p *pair) settled(t *testing.T) (master, backup *lab.Machine) {
	t.Helper()
	harness.Eventually(t, 20*time.Second, "one machine is master, the other its backup", func() bool {
		if len(p.watch.holders()) != 1 {
			return false
		}
		master = p.master(t)
		backup = p.other(master)
		return healthy(master) && healthy(backup) && state(t, master) == "MASTER" && state(t, backup) == "BACKUP"
	})
	return master, backup
}

// healthy reports whether the limiter of the machine is ready.
func healthy(m *lab.Machine) bool {
	c := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Get("http://" + net.JoinHostPort(m.Addr, port) + "/healthz") //nolint:noctx // bounded by the client
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// setUp configures a machine, and starts: the second and third step of the README.
func setUp(t *testing.T, m, peer *lab.Machine, rank int) {
	t.Helper()
	m.WriteFile(t, configFile, fmt.Sprintf(`interface: host0
address: %s
peers: [%s]
rank: %d
vips:
  - %s/16
`, m.Addr, peer.Addr, rank, virtual), 0o644)
	m.Run(t, "systemctl", "enable", "--now", vrrpUnit)
}
