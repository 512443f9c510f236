package packages

import (
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
	"github.com/levee-project/levee/test/lab"
)

const (
	address = "10.77.0.11"
	port    = "5454"
	unit    = "levee-limiter.service"
)

// attempts is where the limiter of a host serves.
var attempts = net.JoinHostPort(address, port)

// newHost boots a machine that has never heard of Levee, but sees the
// repositories.
func newHost(t *testing.T) *lab.Machine {
	t.Helper()
	m := lab.New(t, "host", address, built("repo")+":"+built("repo"), lab.Work()+":/srv/sources")
	m.Start(t)
	return m
}

// debHost is a new host that apt knows the repository of.
func debHost(t *testing.T) *lab.Machine {
	t.Helper()
	m := newHost(t)
	m.Run(t, "cp", built("repo")+"/levee.asc", "/usr/share/keyrings/")
	m.Run(t, "cp", built("repo")+"/levee.sources", "/etc/apt/sources.list.d/")
	m.Run(t, "apt-get", "update", "-qq", "-o", "APT::Update::Error-Mode=any")
	return m
}

// limiterHost is a new host with a limiter of the old version.
func limiterHost(t *testing.T) *lab.Machine {
	t.Helper()
	m := debHost(t)
	m.Run(t, "apt-get", "install", "-y", "levee-limiter="+oldVersion+"-1")
	waitStatus(t, http.StatusOK)
	return m
}

// client is a client of the host's limiter.
func client(t *testing.T) *harness.Client { return harness.NewClient(t, attempts, harness.HTTP1) }

// health is the status of /healthz over a new connection, 0 when there is none.
func health(t *testing.T) int {
	c := client(t)
	defer c.Close()
	a, err := c.Do(harness.Request{Method: http.MethodGet, Path: "/healthz"})
	if err != nil {
		return 0
	}
	return a.Status
}

func waitStatus(t *testing.T, want int) {
	t.Helper()
	harness.Eventually(t, 20*time.Second, "the status of /healthz", func() bool { return health(t) == want })
}

// wantProperty fails the test unless a property of the limiter's unit is as it
// should be.
func wantProperty(t *testing.T, m *lab.Machine, name, want string) {
	t.Helper()
	if got := m.Property(t, unit, name); got != want {
		t.Errorf("%s of %s is %q, want %q", name, unit, got, want)
	}
}

// wantLossless fails the test unless every attempt was accepted.
func wantLossless(t *testing.T, calls harness.Calls) {
	t.Helper()
	wantAnswered(t, calls)
	if calls.Answers[http.StatusInternalServerError] > 0 || len(calls.Lost) > 0 {
		t.Error("not all were accepted")
	}
}

// wantAnswered is wantLossless for a limiter that opens its port by itself, which
// costs attempts in two moments. At the end, those who connect are cut, at most
// one for each caller, where the kernel lets only CAP_NET_ADMIN, which the unit
// does not grant, close a port without that. At the start, a limiter that has no
// quotas yet answers 500.
func wantAnswered(t *testing.T, calls harness.Calls) {
	t.Helper()
	for status, n := range calls.Answers {
		if status != http.StatusOK && status != http.StatusInternalServerError {
			t.Errorf("%d attempts were answered %d", n, status)
		}
	}
	if len(calls.Lost) > callers {
		t.Errorf("%d attempts were lost: %v", len(calls.Lost), calls.Lost[0])
	}
	t.Logf("answers %v, %d lost, %d connections refused", calls.Answers, len(calls.Lost), calls.Refused)
}

// The installed configuration.
const (
	optionsFile = "/etc/levee/limiter.yaml"
	storageFile = "/etc/levee/storage.yaml"
)

// edit adds a line to a file, as an operator may.
func edit(t *testing.T, m *lab.Machine, path, line string) {
	t.Helper()
	m.WriteFile(t, path, m.ReadFile(t, path)+line+"\n", 0o644)
}

// hasten shortens the drain of a limiter that is asked without a pause.
func hasten(t *testing.T, m *lab.Machine) {
	t.Helper()
	edit(t, m, optionsFile, "drain-timeout: 2s")
	m.Run(t, "systemctl", "restart", unit)
	waitStatus(t, http.StatusOK)
}
