package harness

import (
	"net/http"
	"testing"
	"time"
)

// startTime bounds a start, also on a machine that is busy with other tests.
const startTime = 15 * time.Second

// Limiter is a running levee-limiter.
type Limiter struct {
	*Process
	// Addr is the ip:port that serves attempts.
	Addr string
	// MetricsAddr is the ip:port of the admin port.
	MetricsAddr string

	admin *Client // of the admin port
}

// StartLimiter starts a standalone limiter with these options and waits until it
// is ready.
func StartLimiter(t testing.TB, args ...string) *Limiter {
	t.Helper()
	l := LaunchLimiter(t, Command{Args: args})
	l.WaitReady(t)
	return l
}

// LaunchLimiter starts a standalone limiter and returns as soon as its ports
// serve. The options of the command come behind those that give it ports of its
// own and a log that can be read.
func LaunchLimiter(t testing.TB, c Command) *Limiter {
	t.Helper()
	c.Args = append([]string{
		"--standalone", "--listen-addr=127.0.0.1:0", "--metrics-addr=127.0.0.1:0",
		"--log-format=json", "--instance-id=test",
	}, c.Args...)
	return AttachLimiter(t, c)
}

// AttachLimiter starts a limiter with the options of the command and no others,
// among which is log-format: json. It returns as soon as its ports serve.
func AttachLimiter(t testing.TB, c Command) *Limiter {
	t.Helper()
	c.Binary = "levee-limiter"
	l := &Limiter{Process: Start(t, c)}
	l.Addr, l.MetricsAddr = l.serves(t, "attempts"), l.serves(t, "metrics")
	l.admin = NewClient(t, l.MetricsAddr, HTTP1)
	return l
}

// serves waits for the line that tells an address.
func (l *Limiter) serves(t testing.TB, what string) string {
	t.Helper()
	var addr string
	Eventually(t, startTime, "the limiter serves "+what, func() bool {
		for _, line := range l.Log() {
			if line.Text("msg") == "serving" && line.Text("what") == what {
				addr = line.Text("addr")
				return true
			}
		}
		select {
		case <-l.Exited():
			t.Fatalf("the limiter has ended before it served %s", what)
		default:
		}
		return false
	})
	return addr
}

// WaitReady waits until the limiter says that it is ready.
func (l *Limiter) WaitReady(t testing.TB) {
	t.Helper()
	Eventually(t, startTime, "the limiter is ready", func() bool {
		return l.Readyz(t).Status == http.StatusOK
	})
}

// Readyz asks the admin port whether the limiter is ready.
func (l *Limiter) Readyz(t testing.TB) Answer {
	t.Helper()
	return l.admin.Get(t, "/readyz")
}

// Healthz asks the serving port whether the limiter is ready, over a new
// connection, as a load balancer does.
func (l *Limiter) Healthz(t testing.TB) Answer {
	t.Helper()
	c := NewClient(t, l.Addr, HTTP1)
	defer c.Close()
	return c.Get(t, "/healthz")
}

// Client returns a client of the limiter's serving port.
func (l *Limiter) Client(t testing.TB, p Protocol) *Client { return NewClient(t, l.Addr, p) }
