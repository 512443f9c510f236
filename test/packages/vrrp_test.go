package packages

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
	"github.com/levee-project/levee/test/lab"
)

// What levee-vrrp has to do with, and two addresses that are shared.
const (
	vrrpFile  = "/etc/levee/vrrp.yaml"
	vrrpConf  = "/etc/keepalived/keepalived.conf"
	trackFile = "/run/levee/vrrp-track"
	virtual   = "10.77.0.100"
	other     = "10.77.0.101"
)

// pairOf is the host's part in a pair of which the other host is not there.
func pairOf(vip string) string {
	return "interface: host0\naddress: " + address + "\npeers: [10.77.0.12]\nrank: 1\nvips: [" + vip + "/16]\n"
}

// serves says whether the limiter answers at an address.
func serves(t *testing.T, host string) bool {
	c := harness.NewClient(t, net.JoinHostPort(host, port), harness.HTTP1)
	defer c.Close()
	a, err := c.Do(harness.Request{Method: http.MethodGet, Path: "/healthz"})
	return err == nil && a.Status == http.StatusOK
}

func waitServing(t *testing.T, host string) {
	t.Helper()
	harness.Eventually(t, 20*time.Second, host+" is served", func() bool { return serves(t, host) })
}

// waitGone waits until a machine does not have an address.
func waitGone(t *testing.T, m *lab.Machine, host string) {
	t.Helper()
	harness.Eventually(t, 20*time.Second, host+" is given up", func() bool {
		return !strings.Contains(m.Run(t, "ip", "-brief", "address"), host+"/")
	})
}

// Three steps to a virtual address: install, say which, enable. It is where a limiter
// is ready, and nowhere else.
func TestVRRPPackage(t *testing.T) {
	m := debHost(t)
	out := m.Run(t, "apt-get", "install", "-y", "levee-limiter", "leveectl", "levee-vrrp")
	if !strings.Contains(out, "systemctl enable --now levee-vrrp") {
		t.Errorf("the installation does not say what to do:\n%s", out)
	}
	for _, name := range []string{"levee-vrrp", "keepalived"} {
		if active := m.Property(t, name, "ActiveState"); active != "inactive" {
			t.Errorf("%s is %s before it has been configured", name, active)
		}
	}
	m.Run(t, "systemd-analyze", "verify", "--man=no", "levee-vrrp.service")
	if out, err := m.Try("systemctl", "start", "levee-vrrp"); err == nil {
		t.Errorf("started without a configuration: %s", out)
	}
	if log := m.Run(t, "journalctl", "--no-pager", "-o", "cat", "-u", "levee-vrrp"); !strings.Contains(log, "leveectl: "+vrrpFile+": rank: missing") {
		t.Errorf("the journal does not name what is missing:\n%s", log)
	}

	m.WriteFile(t, vrrpFile, pairOf(virtual), 0o644)
	m.Run(t, "systemctl", "enable", "--now", "levee-vrrp")
	waitServing(t, virtual)
	harness.Eventually(t, 10*time.Second, "the metric", func() bool {
		return strings.Contains(m.Run(t, "curl", "-s", "http://127.0.0.1:9454/metrics"), `levee_vrrp_master{instance="levee"} 1`)
	})
	if log := m.Run(t, "journalctl", "--no-pager", "-o", "cat", "-t", "levee-vrrp"); !strings.Contains(log, "virtual addresses of levee: MASTER (priority 254)") {
		t.Errorf("the journal does not say who is master:\n%s", log)
	}
	followLimiter(t, m)
	m.PowerOff(t)
	m.Start(t)
	waitServing(t, virtual)
	changeVRRP(t, m)
}

// followLimiter: the address goes with the limiter, however that ends, and comes back
// with it.
func followLimiter(t *testing.T, m *lab.Machine) {
	t.Helper()
	m.Run(t, "systemctl", "stop", unit)
	waitGone(t, m, virtual)
	if text := m.Run(t, "cat", trackFile); text != "-254" {
		t.Errorf("the track file says %q of a limiter that was stopped", text)
	}
	m.Run(t, "systemctl", "start", unit)
	waitServing(t, virtual)
	m.Run(t, "systemctl", "kill", "-s", "STOP", unit)
	waitGone(t, m, virtual)
	m.Run(t, "systemctl", "kill", "-s", "CONT", unit)
	waitServing(t, virtual)
	m.Run(t, "systemctl", "kill", "-s", "KILL", unit)
	waitGone(t, m, virtual)
	waitServing(t, virtual)
}

// changeVRRP: a reload applies a change, and a mistake changes nothing.
func changeVRRP(t *testing.T, m *lab.Machine) {
	t.Helper()
	m.WriteFile(t, vrrpFile, pairOf(other), 0o644)
	m.Run(t, "systemctl", "reload", "levee-vrrp")
	waitServing(t, other)
	waitGone(t, m, virtual)
	m.WriteFile(t, vrrpFile, pairOf(other)+"colour: red\n", 0o644)
	if out, err := m.Try("systemctl", "reload", "levee-vrrp"); err == nil {
		t.Errorf("a mistake was taken: %s", out)
	}
	if !serves(t, other) {
		t.Error("a mistake took the address away")
	}
	m.Run(t, "systemctl", "stop", "levee-vrrp")
	waitGone(t, m, other)
	harness.Eventually(t, 10*time.Second, "keepalived stops with it", func() bool {
		return m.Property(t, "keepalived", "ActiveState") == "inactive"
	})
}

// keepalived that somebody else has configured is left alone, and a purge leaves
// nothing.
func TestVRRPPackageRemoved(t *testing.T) {
	m := debHost(t)
	before := everything(t, m)
	m.Run(t, "apt-get", "install", "-y", "levee-limiter", "leveectl", "levee-vrrp")
	m.WriteFile(t, vrrpFile, pairOf(virtual), 0o644)
	m.Run(t, "systemctl", "enable", "--now", "levee-vrrp")
	waitServing(t, virtual)
	m.Run(t, "apt-get", "remove", "-y", "levee-vrrp")
	waitGone(t, m, virtual)
	if m.Exists(t, vrrpConf) || !m.Exists(t, vrrpFile) {
		t.Error("the removal leaves what was rendered, or takes along what was written")
	}

	foreign := "vrrp_instance other {\n  interface host0\n  state BACKUP\n  virtual_router_id 9\n  virtual_ipaddress {\n    " + other + "/16\n  }\n}\n"
	m.WriteFile(t, vrrpConf, foreign, 0o644)
	m.Run(t, "systemctl", "start", "keepalived")
	waitServing(t, other)
	m.Run(t, "apt-get", "install", "-y", "levee-vrrp")
	if out, err := m.Try("systemctl", "start", "levee-vrrp"); err == nil {
		t.Errorf("a configuration of somebody else's was taken over: %s", out)
	}
	if got := m.ReadFile(t, vrrpConf); got != foreign {
		t.Errorf("it is now\n%s", got)
	}
	m.Run(t, "apt-get", "purge", "-y", "levee-vrrp")
	if !serves(t, other) {
		t.Error("the purge stopped a keepalived that is somebody else's")
	}
	m.Run(t, "systemctl", "stop", "keepalived")
	m.Run(t, "apt-get", "purge", "-y", "levee-limiter", "leveectl")
	m.Run(t, "rm", vrrpConf)
	for _, path := range everything(t, m) {
		if _, found := slices.BinarySearch(before, path); !found {
			t.Errorf("the purge leaves %s", path)
		}
	}
	if out, err := m.Try("ls", "/run/levee"); err == nil {
		t.Errorf("the purge leaves /run/levee: %s", out)
	}
}
