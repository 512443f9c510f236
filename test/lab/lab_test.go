package lab

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { Main(m, nil) }

// A machine boots, can be reached, keeps its disk over a cut of its power, and
// cannot touch the clock.
func TestMachine(t *testing.T) {
	m := New(t, "one", "10.77.0.11")
	m.Start(t)
	if got := m.Run(t, "hostname"); got != "one" {
		t.Errorf("its name is %q", got)
	}
	// Looked up, not tried: if it were there, the clock of the host would be set.
	bounds, err := strconv.ParseUint(m.Shell(t, `sed -n 's/^CapBnd:\s*//p' /proc/self/status`), 16, 64)
	if err != nil || bounds == 0 || bounds&(1<<unix.CAP_SYS_TIME) != 0 {
		t.Fatalf("a command in the machine has capabilities %x, error %v", bounds, err)
	}
	m.WriteFile(t, "/srv/kept", "text", 0o600)
	if got := m.Shell(t, "stat -c %a /srv/kept; cat /srv/kept; sync"); got != "600\ntext" {
		t.Errorf("the machine sees %q", got)
	}
	m.Kill(t)
	m.Start(t)
	if got := m.ReadFile(t, "/srv/kept"); got != "text" {
		t.Errorf("after a cut of its power the disk has %q", got)
	}
	m.PowerOff(t)

	m.Reinstall(t)
	m.Start(t)
	if m.Exists(t, "/srv/kept") {
		t.Error("the fresh disk has what the old one had")
	}
	m.Run(t, "ping", "-c1", "-W5", Gateway)
}

// Machines reach each other and the test, and nobody else.
func TestNetwork(t *testing.T) {
	one, two := New(t, "one", "10.77.0.11"), New(t, "two", "10.77.0.12")
	one.Start(t)
	two.Start(t)
	one.Run(t, "ping", "-c1", "-W5", two.Addr)

	ln, err := net.Listen("tcp", net.JoinHostPort(Gateway, "0"))
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.RemoteAddr))
	})}
	go func() { _ = server.Serve(ln) }()
	defer server.Close()
	if got := one.Run(t, "curl", "-fsS", "http://"+ln.Addr().String()); !strings.HasPrefix(got, one.Addr+":") {
		t.Errorf("the test sees the machine as %s", got)
	}
	if out := one.Run(t, "ip", "route"); strings.Contains(out, "default") {
		t.Errorf("there is a way out: %s", out)
	}
}

// What a machine's systemd must be able to do for units.
func TestSystemd(t *testing.T) {
	m := New(t, "one", "10.77.0.11")
	m.Start(t)
	out := m.Run(t, "systemd-run", "--quiet", "--wait", "--pipe", "-p", "DynamicUser=yes", "-p", "ProtectSystem=strict",
		"-p", "PrivateTmp=yes", "-p", "SystemCallFilter=@system-service", "-p", "CapabilityBoundingSet=",
		"sh", "-c", "grep -E '^(CapBnd|Seccomp):' /proc/self/status; touch /etc/x || true")
	if !strings.Contains(out, "0000000000000000") || !strings.Contains(out, "Seccomp:\t2") || m.Exists(t, "/etc/x") {
		t.Errorf("the sandbox is not one: %s", out)
	}
	m.Run(t, "systemd-run", "--quiet", "--unit=said", "--wait", "echo", "hello")
	for _, e := range m.Journal(t, "said") {
		if e["MESSAGE"] == "hello" {
			return
		}
	}
	t.Error("the journal lacks what the unit said")
}

// A command ends at its deadline.
func TestDeadline(t *testing.T) {
	m := New(t, "one", "10.77.0.11")
	m.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := m.Command(ctx, "sleep", "60").Run(); err == nil {
		t.Error("it has not been cut")
	}
}
