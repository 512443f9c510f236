package packages

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
	"github.com/levee-project/levee/test/lab"
)

// startTime is how long after its installation a limiter may take to serve.
const startTime = 2 * time.Second

// A limiter that has just been installed serves, as the user that it should be,
// and says so.
func TestInstall(t *testing.T) {
	m := debHost(t)
	out := m.Run(t, "apt-get", "install", "-y", "levee-limiter")
	if !strings.Contains(out, "0.0.0.0:5454") || !strings.Contains(out, storageFile) {
		t.Errorf("the installation does not say where it serves:\n%s", out)
	}
	harness.Eventually(t, startTime, "an attempt is accepted", func() bool {
		code, _ := m.Try("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-X", "POST", "-H", "X-Resource: demo", "http://127.0.0.1:5454/attempt")
		return code == "200"
	})
	if a := client(t).Attempt(t, "demo"); a.Status != http.StatusOK {
		t.Errorf("over the network: %v", a)
	}

	for name, want := range map[string]string{
		"Type": "notify", "NotifyAccess": "main", "ActiveState": "active", "SubState": "running", "UnitFileState": "enabled", "NRestarts": "0",
	} {
		wantProperty(t, m, name, want)
	}
	if m.Property(t, unit, "StatusText") == "" {
		t.Error("systemctl status has no line of the limiter")
	}
	pid := m.Property(t, unit, "MainPID")
	if user := m.Run(t, "ps", "-o", "user=,group=", "-p", pid); strings.Join(strings.Fields(user), " ") != "levee levee" {
		t.Errorf("it runs as %s", user)
	}
	journalFields(t, m)
	sandbox(t, m, pid)
	m.Run(t, "systemd-analyze", "verify", "--man=no", unit, "levee-limiter.socket", "levee.target")
	if got := m.Run(t, "leveectl", "limit", "list"); !strings.Contains(got, "demo") {
		t.Errorf("leveectl does not know the quotas of this host: %s", got)
	}
}

// journalFields: the lines of the log can be searched by their parts.
func journalFields(t *testing.T, m *lab.Machine) {
	t.Helper()
	for _, e := range m.Journal(t, unit) {
		if e["SYSLOG_IDENTIFIER"] == "levee-limiter" && strings.HasSuffix(e["LEVEE_ADDR"], ":"+port) && e["PRIORITY"] == "6" {
			return
		}
	}
	t.Error("no entry of the journal has the address as a field")
}

// sandbox: the units's restrictions hold, and cost nothing that is needed.
func sandbox(t *testing.T, m *lab.Machine, pid string) {
	t.Helper()
	status := m.Run(t, "cat", "/proc/"+pid+"/status")
	for _, want := range []string{"CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"} {
		if !strings.Contains(status, want) {
			t.Errorf("the process lacks %q", want)
		}
	}
	if got := m.Shell(t, "ss -Hltn 'sport = :5454' | awk '{print $3}'"); got != m.Run(t, "cat", "/proc/sys/net/core/somaxconn") {
		t.Errorf("the queue of new connections holds %s", got)
	}
}

// What has to be configured first is installed, and does not run.
func TestInstallOthers(t *testing.T) {
	m := debHost(t)
	out := m.Run(t, "apt-get", "install", "-y", "levee-observer", "levee-client-proxy", "leveectl")
	for _, name := range []string{"levee-observer", "levee-client-proxy"} {
		if !strings.Contains(out, "systemctl enable --now "+name) {
			t.Errorf("the installation does not say what to do about %s:\n%s", name, out)
		}
		if enabled, active := m.Property(t, name, "UnitFileState"), m.Property(t, name, "ActiveState"); enabled != "disabled" || active != "inactive" {
			t.Errorf("%s is %s and %s", name, enabled, active)
		}
		m.Run(t, "systemd-analyze", "verify", "--man=no", name+".service")
	}
}

// A limiter runs again after the power has been cut.
func TestPowerCut(t *testing.T) {
	m := limiterHost(t)
	m.Run(t, "sync")
	m.Kill(t)
	m.Start(t)
	waitStatus(t, http.StatusOK)
}
