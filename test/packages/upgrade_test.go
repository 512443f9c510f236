package packages

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/levee-project/levee/test/harness"
	"github.com/levee-project/levee/test/lab"
)

// environmentFile is the environment of the service on Debian.
const environmentFile = "/etc/default/levee-limiter"

// edits are what an operator has changed, by file.
var edits = map[string]string{
	optionsFile:     "drain-timeout: 2s\nno-quota: fail",
	storageFile:     "    photos: {quota: {rate: 1000000, burst: 1000000}}",
	environmentFile: "LEVEE_GC_PERIOD=2m",
	"/etc/systemd/system/levee-limiter.service.d/local.conf": "[Service]\nLimitNOFILE=4321",
}

func makeEdits(t *testing.T, m *lab.Machine) {
	t.Helper()
	for path, line := range edits {
		if m.Exists(t, path) {
			edit(t, m, path, line)
		} else {
			m.WriteFile(t, path, line+"\n", 0o644)
		}
	}
	m.Run(t, "systemctl", "daemon-reload")
	m.Run(t, "systemctl", "restart", unit)
	waitStatus(t, http.StatusOK)
}

// wantEdits fails the test unless what the operator has changed is there, and in
// force.
func wantEdits(t *testing.T, m *lab.Machine) {
	t.Helper()
	for path, line := range edits {
		if text := m.ReadFile(t, path); !strings.HasSuffix(text, line+"\n") || strings.Contains(text, "New in this version") {
			t.Errorf("%s is now\n%s", path, text)
		}
	}
	if got := m.Property(t, unit, "LimitNOFILE"); got != "4321" {
		t.Errorf("LimitNOFILE is %s", got)
	}
	if a := client(t).Attempt(t, "nobody's"); a.Status != http.StatusInternalServerError {
		t.Errorf("without a quota: %v", a)
	}
	if a := client(t).Attempt(t, "photos"); a.Status != http.StatusOK {
		t.Errorf("with the quota that was added: %v", a)
	}
}

var versionLabel = regexp.MustCompile(`levee_build_info\{[^}]*version="([^"]*)"`)

// running is the version of the limiter that serves.
func running(t *testing.T, m *lab.Machine) string {
	t.Helper()
	metrics := m.Run(t, "curl", "-fsS", "http://127.0.0.1:9454/metrics")
	match := versionLabel.FindStringSubmatch(metrics)
	if match == nil {
		t.Fatal("the metrics do not tell the version")
	}
	return match[1]
}

func wantRunning(t *testing.T, m *lab.Machine, version string) {
	t.Helper()
	waitStatus(t, http.StatusOK)
	if got := running(t, m); got != version {
		t.Errorf("running is %s, want %s", got, version)
	}
}

// upgrade is what unattended upgrades do: whatever has been edited stays.
var upgrade = apt("upgrade")

// apt is apt-get that asks nobody, and keeps what has been edited.
func apt(args ...string) []string {
	return append([]string{"apt-get", "-y", "-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold"}, args...)
}

// An upgrade under load runs the new version with the configuration of the
// operator; there is a way back.
func TestUpgrade(t *testing.T) {
	m := limiterHost(t)
	makeEdits(t, m)
	load := harness.StartCallers(t, attempts, callers, harness.AttemptText("photos"))
	m.Run(t, upgrade...)
	wantRunning(t, m, newVersion)
	wantAnswered(t, load.Stop())
	wantEdits(t, m)

	m.Run(t, apt("install", "--allow-downgrades", "levee-limiter="+oldVersion+"-1")...)
	wantRunning(t, m, oldVersion)
	wantEdits(t, m)
}

// What has not been edited is replaced.
func TestUpgradeDefaults(t *testing.T) {
	m := limiterHost(t)
	m.Run(t, upgrade...)
	wantRunning(t, m, newVersion)
	for _, path := range []string{optionsFile, storageFile} {
		if !strings.Contains(m.ReadFile(t, path), "New in this version") {
			t.Errorf("%s is that of the old version", path)
		}
	}
}

// An operator can keep upgrades from restarting the limiter; one that does not
// run is not started by any.
func TestUpgradeWithoutRestart(t *testing.T) {
	m := limiterHost(t)
	m.Run(t, "sed", "-i", "s/^RESTART_ON_UPGRADE=.*/RESTART_ON_UPGRADE=no/", environmentFile)
	pid := m.Property(t, unit, "MainPID")
	if out := m.Run(t, upgrade...); !strings.Contains(out, "systemctl restart levee-limiter") {
		t.Errorf("the upgrade does not say what is left to do:\n%s", out)
	}
	wantProperty(t, m, "MainPID", pid)
	wantRunning(t, m, oldVersion)
	m.Run(t, "systemctl", "restart", unit)
	wantRunning(t, m, newVersion)

	m.Run(t, "systemctl", "stop", unit)
	m.Run(t, apt("install", "--allow-downgrades", "levee-limiter="+oldVersion+"-1")...)
	wantProperty(t, m, "ActiveState", "inactive")
}

// A removal stops the limiter and leaves configuration and state; coming back, it
// serves at once. A purge leaves nothing.
func TestRemove(t *testing.T) {
	m := debHost(t)
	before := everything(t, m)
	m.Run(t, "apt-get", "install", "-y", "levee-limiter="+oldVersion+"-1", "leveectl", "levee-observer")
	waitStatus(t, http.StatusOK)
	makeEdits(t, m)
	m.Run(t, "apt-get", "remove", "-y", "levee-limiter")
	if got := health(t); got != 0 {
		t.Errorf("after the removal /healthz answers %d", got)
	}
	for _, path := range []string{optionsFile, storageFile, "/var/lib/levee/limiter.state"} {
		if !m.Exists(t, path) {
			t.Errorf("the removal took %s along", path)
		}
	}
	m.Run(t, apt("install", "levee-limiter")...)
	waitStatus(t, http.StatusOK)

	m.Run(t, "apt-get", "purge", "-y", "levee-limiter")
	if m.Exists(t, "/var/lib/levee/limiter.state") || !m.Exists(t, "/etc/levee/observer.yaml") {
		t.Error("the purge leaves what is its own, or takes what is not")
	}
	m.Run(t, "getent", "passwd", "levee") // the observer's user as well
	m.Run(t, "apt-get", "purge", "-y", "levee-observer", "leveectl")
	for _, path := range everything(t, m) {
		if _, found := slices.BinarySearch(before, path); !found {
			t.Errorf("the purge leaves %s", path)
		}
	}
	if out, err := m.Try("getent", "passwd", "levee"); err == nil {
		t.Errorf("the purge leaves the user %s", out)
	}
	if out, _ := m.Try("systemctl", "list-unit-files", "--no-legend", "levee*"); out != "" { // fails when there are none
		t.Errorf("the purge leaves units: %s", out)
	}
}

// everything lists the machine's files, sorted, but for those that apt, dpkg and
// systemd keep for themselves.
func everything(t *testing.T, m *lab.Machine) []string {
	t.Helper()
	out := m.Run(t, "find", "/", "-xdev", "(", "-path", "/proc", "-o", "-path", "/sys", "-o", "-path", "/run", "-o", "-path", "/tmp",
		"-o", "-path", "/var/tmp", "-o", "-path", "/var/lib/dpkg", "-o", "-path", "/var/lib/apt", "-o", "-path", "/var/cache",
		"-o", "-path", "/var/log", "-o", "-path", "/var/backups", "-o", "-path", "/var/lib/systemd", "-o", "-path", "/etc/*-", ")",
		"-prune", "-o", "-print")
	paths := strings.Split(out, "\n")
	slices.Sort(paths)
	return paths
}
