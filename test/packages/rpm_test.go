package packages

import (
	"net/http"
	"strings"
	"testing"

	"github.com/levee-project/levee/test/harness"
	"github.com/levee-project/levee/test/lab"
)

// sysconfigFile is the environment of the service where packages are rpms.
const sysconfigFile = "/etc/sysconfig/levee-limiter"

// rpmHost is a new host that dnf knows the repository of. Its files are those of
// Debian, but the packages see systemd, scripts run, and dnf does what it does
// elsewhere; what is not shown is that nothing else is missing there.
func rpmHost(t *testing.T) *lab.Machine {
	t.Helper()
	m := newHost(t)
	m.Run(t, "rpm", "-i", "--force-debian", "--nodeps", "/srv/sources/stub.rpm")
	m.Run(t, "mkdir", "-p", "/etc/yum.repos.d")
	m.Run(t, "cp", built("repo")+"/levee.repo", "/etc/yum.repos.d/")
	return m
}

// dnf is dnf with what the distribution would configure, and the rest.
func dnf(args ...string) []string {
	return append([]string{"dnf", "-y", "--releasever=9", "--setopt=install_weak_deps=False"}, args...)
}

// The same as on Debian: installed, it serves; nothing in it differs from what the
// package says.
func TestRPMInstall(t *testing.T) {
	m := rpmHost(t)
	if out := m.Run(t, dnf("install", "levee-limiter-"+oldVersion)...); !strings.Contains(out, "0.0.0.0:5454") {
		t.Errorf("the installation does not say where it serves:\n%s", out)
	}
	harness.Eventually(t, startTime, "an attempt is accepted", func() bool { return health(t) == http.StatusOK })
	wantProperty(t, m, "UnitFileState", "enabled")
	if user := m.Run(t, "ps", "-o", "user=", "-p", m.Property(t, unit, "MainPID")); user != "levee" {
		t.Errorf("it runs as %s", user)
	}
	m.Run(t, dnf("install", "levee-observer", "levee-client-proxy", "leveectl")...)
	for _, name := range []string{"levee-observer", "levee-client-proxy"} {
		if got := m.Property(t, name, "UnitFileState"); got != "disabled" {
			t.Errorf("%s is %s", name, got)
		}
	}
	if out := m.Shell(t, `rpm -K "`+built("repo")+`"/yum/*/levee-limiter-*.rpm`); strings.Contains(out, "NOT OK") || !strings.Contains(out, "signatures OK") {
		t.Errorf("the packages are not signed: %s", out)
	}
	for _, name := range names {
		if out, err := m.Try("rpm", "-V", name); err != nil || out != "" {
			t.Errorf("rpm -V: %v: %s", err, out)
		}
	}
}

// An upgrade keeps what has been edited, and restarts the limiter unless it has
// been told not to.
func TestRPMUpgrade(t *testing.T) {
	m := rpmHost(t)
	m.Run(t, dnf("install", "levee-limiter-"+oldVersion)...)
	waitStatus(t, http.StatusOK)
	edit(t, m, optionsFile, "drain-timeout: 2s\nno-quota: fail")
	edit(t, m, sysconfigFile, "LEVEE_GC_PERIOD=2m")
	m.Run(t, "systemctl", "restart", unit)
	waitStatus(t, http.StatusOK)

	load := harness.StartCallers(t, attempts, callers, harness.AttemptText("demo", "X-Hits", "0"))
	m.Run(t, dnf("upgrade", "levee-limiter")...)
	wantRunning(t, m, newVersion)
	wantAnswered(t, load.Stop())
	if text := m.ReadFile(t, optionsFile); !strings.HasSuffix(text, "no-quota: fail\n") || !m.Exists(t, optionsFile+".rpmnew") {
		t.Errorf("the options are now\n%s", text)
	}
	if !strings.Contains(m.ReadFile(t, storageFile), "New in this version") {
		t.Error("the quotas, which nobody has edited, are those of the old version")
	}
	if a := client(t).Attempt(t, "photos"); a.Status != http.StatusInternalServerError {
		t.Errorf("without a quota: %v", a)
	}

	m.Run(t, "sed", "-i", "s/^RESTART_ON_UPGRADE=.*/RESTART_ON_UPGRADE=no/", sysconfigFile)
	m.Run(t, dnf("downgrade", "levee-limiter-"+oldVersion)...)
	wantRunning(t, m, newVersion)
	m.Run(t, "systemctl", "restart", unit)
	wantRunning(t, m, oldVersion)
}

// A removal stops the limiter, and keeps what has been edited.
func TestRPMRemove(t *testing.T) {
	m := rpmHost(t)
	m.Run(t, dnf("install", "levee-limiter")...)
	waitStatus(t, http.StatusOK)
	edit(t, m, storageFile, "    photos: {quota: {rate: 1, burst: 1}}")
	m.Run(t, dnf("remove", "levee-limiter")...)
	if got := health(t); got != 0 {
		t.Errorf("after the removal /healthz answers %d", got)
	}
	if !m.Exists(t, storageFile+".rpmsave") {
		t.Error("the quotas are gone")
	}
	for _, path := range []string{optionsFile, "/usr/bin/levee-limiter", "/usr/lib/systemd/system/" + unit, "/etc/systemd/system/multi-user.target.wants/" + unit} {
		if m.Exists(t, path) {
			t.Errorf("the removal leaves %s", path)
		}
	}
}

// What somebody has changed on the way is refused.
func TestRPMTampered(t *testing.T) {
	tests := map[string]string{
		"the index":    `sed -i 's/levee-limiter/levee-limited/' repodata/repomd.xml; echo >>repodata/repomd.xml`,
		"the package":  `for rpm in levee-limiter-*; do printf x >>"$rpm"; done`,
		"no signature": `rm repodata/repomd.xml.asc`,
	}
	m := rpmHost(t)
	for name, script := range tests {
		t.Run(name, func(t *testing.T) {
			m.Shell(t, `rm -rf /srv/tampered; cp -r "`+built("repo")+`/yum/$(uname -m)" /srv/tampered; cd /srv/tampered; `+script)
			m.Run(t, "sed", "-i", "s|^baseurl=.*|baseurl=file:///srv/tampered|", "/etc/yum.repos.d/levee.repo")
			if out, err := m.Try(dnf("install", "--refresh", "levee-limiter")...); err == nil {
				t.Errorf("it can be installed:\n%s", out)
			}
			if _, err := m.Try("rpm", "-q", "levee-limiter"); err == nil {
				t.Error("it is installed")
			}
		})
	}
}
