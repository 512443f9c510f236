package packages

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
	"github.com/levee-project/levee/test/lab"
)

const (
	// inForce is how soon a change of the quotas applies.
	inForce = time.Second
	// watchdog is the unit's WatchdogSec.
	watchdog = 10 * time.Second
	// stopTime is how long a stop may take, with what drain-timeout is here.
	stopTime = 15 * time.Second
	// callers is how many clients keep asking while something happens to the
	// limiter.
	callers = 8
)

// A person edits the file, and the quota is another one.
func TestEditQuotas(t *testing.T) {
	m := limiterHost(t)
	c := client(t)
	if a := c.Attempt(t, "photos"); a.Status != http.StatusOK {
		t.Fatalf("before: %v", a)
	}
	edit(t, m, storageFile, "    photos: {quota: {rate: 0, burst: 0}}")
	took := harness.Eventually(t, inForce, "the new quota is in force", func() bool {
		return c.Attempt(t, "photos").Status == http.StatusTooManyRequests
	})
	t.Logf("in force after %v", took)
	m.Run(t, "sed", "-i", "/photos: {quota/d", storageFile)
	harness.Eventually(t, inForce, "the old one is", func() bool { return c.Attempt(t, "photos").Status == http.StatusOK })

	edit(t, m, storageFile, "    mistake: {quota: {rate: -1}}")
	harness.Eventually(t, 5*time.Second, "the journal names the mistake", func() bool {
		for _, e := range m.Journal(t, unit) {
			if strings.Contains(e["MESSAGE"], "limit/key/mistake/quota") {
				return true
			}
		}
		return false
	})
}

// systemctl reload applies options without a restart, and refuses a file that is
// wrong.
func TestReload(t *testing.T) {
	m := limiterHost(t)
	c := client(t)
	pid := m.Property(t, unit, "MainPID")
	edit(t, m, optionsFile, "no-quota: reject")
	m.Run(t, "systemctl", "reload", unit)
	harness.Eventually(t, inForce, "the option applies", func() bool {
		return c.Attempt(t, "photos").Status == http.StatusTooManyRequests
	})
	edit(t, m, optionsFile, "no-qouta: accept")
	if _, err := m.Try("systemctl", "reload", unit); err == nil {
		t.Error("a reload with a mistake in the file succeeds")
	}
	wantProperty(t, m, "ActiveState", "active")
	wantProperty(t, m, "MainPID", pid)
	if a := c.Attempt(t, "photos"); a.Status != http.StatusTooManyRequests {
		t.Errorf("after a reload that failed: %v", a)
	}

	if _, err := m.Try("systemctl", "restart", unit); err == nil {
		t.Error("a restart with a mistake in the file succeeds")
	}
	harness.Eventually(t, 5*time.Second, "the unit gives up at once", func() bool {
		return m.Property(t, unit, "ActiveState") == "failed"
	})
	wantProperty(t, m, "ExecMainStatus", "78")
}

// With verbose, the journal tells what became of a request by its id, and has each
// thing about it in a field of its own.
func TestFollowARequest(t *testing.T) {
	m := limiterHost(t)
	edit(t, m, optionsFile, "verbose: true")
	m.Run(t, "systemctl", "reload", unit)
	const id = "7f1c9a5e-0b1d-4c57"
	c := client(t)
	for _, name := range []string{id, "another"} {
		fields := http.Header{"X-Resource": {"demo"}, "X-Method": {"GET"}, "X-Req-Id": {name}}
		if _, err := c.Do(harness.Request{Fields: fields}); err != nil {
			t.Fatal(err)
		}
	}
	var found []lab.Entry
	harness.Eventually(t, 5*time.Second, "the journal has the request", func() bool {
		found = m.Entries(t, "LEVEE_REQ_ID="+id)
		return len(found) > 0
	})
	want := lab.Entry{
		"PRIORITY": "7", "SYSLOG_IDENTIFIER": "levee-limiter", "_SYSTEMD_UNIT": unit,
		"LEVEE_RESULT": "accepted", "LEVEE_QUOTA": "resource", "LEVEE_BUCKET": "demo", "LEVEE_RESOURCE": "demo",
		"LEVEE_METHOD": "GET", "LEVEE_HITS": "1", "LEVEE_REQ_ID": id,
		"MESSAGE": "attempt result=accepted quota=resource bucket=demo resource=demo method=GET req_id=" + id + " hits=1",
	}
	if len(found) != 1 {
		t.Fatalf("%d entries for one request: %v", len(found), found)
	}
	for field, value := range want {
		if found[0][field] != value {
			t.Errorf("%s is %q, want %q", field, found[0][field], value)
		}
	}
}

// A restart under load answers what it has been asked.
func TestRestart(t *testing.T) {
	m := limiterHost(t)
	hasten(t, m)
	pid := m.Property(t, unit, "MainPID")
	load := harness.StartCallers(t, attempts, callers, harness.AttemptText("photos"))
	m.Run(t, "systemctl", "restart", unit)
	waitStatus(t, http.StatusOK)
	before := load.Count()
	harness.Eventually(t, 10*time.Second, "the load goes on", func() bool { return load.Count() > before+callers })
	wantAnswered(t, load.Stop())
	if m.Property(t, unit, "MainPID") == pid {
		t.Error("it has not been restarted")
	}
	wantProperty(t, m, "Result", "success")
}

// With the socket unit, a restart under load loses no attempt and refuses no
// connection.
func TestRestartWithSocket(t *testing.T) {
	m := limiterHost(t)
	hasten(t, m)
	m.Run(t, "systemctl", "stop", unit)
	m.Run(t, "systemctl", "enable", "--now", "levee-limiter.socket")
	m.Run(t, "systemctl", "start", unit)
	waitStatus(t, http.StatusOK)
	for range 2 {
		load := harness.StartCallers(t, attempts, callers, harness.AttemptText("photos"))
		m.Run(t, "systemctl", "restart", unit)
		before := load.Count()
		harness.Eventually(t, 10*time.Second, "the load goes on", func() bool { return load.Count() > before+callers })
		calls := load.Stop()
		wantLossless(t, calls)
		if calls.Refused > 0 {
			t.Errorf("%d connections were refused", calls.Refused)
		}
	}

	m.Run(t, "systemctl", "stop", unit)
	if a := client(t).Attempt(t, "photos"); a.Status != http.StatusOK {
		t.Errorf("the first attempt does not start the limiter: %v", a)
	}
}

// A limiter that hangs is killed and started again.
func TestWatchdog(t *testing.T) {
	m := limiterHost(t)
	pid := m.Property(t, unit, "MainPID")
	m.Run(t, "kill", "-STOP", pid)
	took := harness.Eventually(t, watchdog+time.Second, "the process that hangs is ended", func() bool {
		_, err := m.Try("test", "-e", "/proc/"+pid)
		return err != nil
	})
	t.Logf("ended after %v", took)
	waitStatus(t, http.StatusOK)
	wantProperty(t, m, "NRestarts", "1")
	for _, e := range m.Journal(t, unit) {
		if strings.Contains(e["MESSAGE"], "goroutine ") {
			return
		}
	}
	t.Error("the journal does not say what the process was at")
}

// A stop answers what is in flight, and says that it drains meanwhile.
func TestDrain(t *testing.T) {
	m := limiterHost(t)
	c := harness.Dial(t, attempts)
	request := string(harness.AttemptText("photos"))
	c.Put(t, strings.Replace(request, "Content-Length: 0", "Content-Length: 4", 1)+"bo")
	load := harness.StartCallers(t, attempts, callers, harness.AttemptText("photos"))

	stopped := make(chan error, 1)
	go func() {
		_, err := m.Try("systemctl", "stop", unit)
		stopped <- err
	}()
	waitStatus(t, http.StatusServiceUnavailable)
	if got := m.Property(t, unit, "ActiveState"); got != "deactivating" {
		t.Errorf("while it drains, the unit is %s", got)
	}
	if _, err := io.WriteString(c, "dy"); err != nil {
		t.Fatal(err)
	}
	if a := c.Answer(t); a.Status != http.StatusOK {
		t.Errorf("an attempt in flight: %v", a)
	}
	wantAnswered(t, load.Stop())
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	wantProperty(t, m, "ActiveState", "inactive")
	wantProperty(t, m, "Result", "success")
	if !m.Exists(t, "/var/lib/levee/limiter.state") {
		t.Error("what the keys owe has not been saved")
	}
}

// levee.target stands for all of Levee on a host.
func TestTarget(t *testing.T) {
	m := limiterHost(t)
	m.Run(t, "apt-get", "install", "-y", "levee-client-proxy")
	m.Run(t, "systemctl", "stop", "levee.target")
	harness.Eventually(t, stopTime, "the limiter has stopped", func() bool { return m.Property(t, unit, "ActiveState") == "inactive" })
	m.Run(t, "systemctl", "start", "levee.target")
	waitStatus(t, http.StatusOK)
	pid := m.Property(t, unit, "MainPID")
	m.Run(t, "systemctl", "restart", "levee.target")
	harness.Eventually(t, stopTime, "the limiter is another process", func() bool {
		next := m.Property(t, unit, "MainPID")
		return next != pid && next != "0"
	})
	waitStatus(t, http.StatusOK)
	if got := m.Property(t, "levee-client-proxy", "ActiveState"); got != "inactive" {
		t.Errorf("the client-proxy, which nobody has enabled, is %s", got)
	}
}

// Secrets are readable for the process, and for nobody else.
func TestSecrets(t *testing.T) {
	m := limiterHost(t)
	m.WriteFile(t, "/etc/credstore/levee.gossip-key", "secret", 0o600)
	m.Run(t, "systemctl", "restart", unit)
	const seen = "/run/credentials/" + unit + "/levee.gossip-key"
	pid := m.Property(t, unit, "MainPID")
	if got := asUnit(t, m, pid, "levee", "cat", seen); got != "secret" {
		t.Errorf("the process reads %q", got)
	}
	if out, err := m.Try("runuser", "-u", "nobody", "--", "cat", seen); err == nil {
		t.Errorf("somebody else reads %q", out)
	}
}

// asUnit runs a command with the mounts of a process, as a user.
func asUnit(t *testing.T, m *lab.Machine, pid, user string, args ...string) string {
	t.Helper()
	return m.Run(t, append([]string{"nsenter", "-t", pid, "-m", "--", "runuser", "-u", user, "--"}, args...)...)
}
