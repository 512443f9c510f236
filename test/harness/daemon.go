package harness

import (
	"net/http"
	"testing"
	"time"
)

// startTime bounds a start, also on a machine that is busy with other tests.
const startTime = 15 * time.Second

// Daemon is a running daemon, whichever it is.
type Daemon struct {
	*Process
	// Addr is the ip:port that serves attempts; an observer has none.
	Addr string
	// MetricsAddr is the ip:port of the admin port.
	MetricsAddr string

	admin *Client // of the admin port
}

// administer sets the address of the admin port.
func (d *Daemon) administer(t testing.TB, addr string) {
	d.MetricsAddr, d.admin = addr, NewClient(t, addr, HTTP1)
}

// serves waits for the line that tells an address.
func (d *Daemon) serves(t testing.TB, what string) string {
	t.Helper()
	var addr string
	Eventually(t, startTime, "the daemon serves "+what, func() bool {
		for _, line := range d.Log() {
			if line.Text("msg") == "serving" && line.Text("what") == what {
				addr = line.Text("addr")
				return true
			}
		}
		select {
		case <-d.Exited():
			t.Fatalf("the daemon has ended before it served %s", what)
		default:
		}
		return false
	})
	return addr
}

// Ready reports whether the daemon answers, and says that it is ready.
func (d *Daemon) Ready() bool {
	a, err := d.admin.Do(Request{Method: http.MethodGet, Path: "/readyz"})
	return err == nil && a.Status == http.StatusOK
}

// WaitReady waits until the daemon says that it is ready.
func (d *Daemon) WaitReady(t testing.TB) {
	t.Helper()
	Eventually(t, startTime, "the daemon is ready", d.Ready)
}

// Readyz asks the admin port whether the daemon is ready.
func (d *Daemon) Readyz(t testing.TB) Answer {
	t.Helper()
	return d.admin.Get(t, "/readyz")
}

// Healthz asks the serving port whether the daemon is ready, over a new
// connection, as a load balancer does.
func (d *Daemon) Healthz(t testing.TB) Answer {
	t.Helper()
	c := NewClient(t, d.Addr, HTTP1)
	defer c.Close()
	return c.Get(t, "/healthz")
}

// Client returns a client of the serving port.
func (d *Daemon) Client(t testing.TB, p Protocol) *Client { return NewClient(t, d.Addr, p) }
