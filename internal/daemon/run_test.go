package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLifeOfADaemon is one life as systemd sees it, with the signals and the
// datagrams of a real process.
func TestLifeOfADaemon(t *testing.T) {
	for _, stop := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(stopSignal{stop}.Error(), func(t *testing.T) {
			s := listenDatagrams(t)
			c := startChild(t, "serve", []string{"NOTIFY_SOCKET=" + s.path}, nil)
			s.expect("EXTEND_TIMEOUT_USEC=30000000", "STATUS=starting: waiting for the test", "STATUS=ready", "READY=1")
			c.expect("serving starts")
			c.signal(syscall.SIGHUP)
			if got := s.next(); !regexp.MustCompile(`^RELOADING=1\nMONOTONIC_USEC=[1-9][0-9]*$`).MatchString(got) {
				t.Errorf("datagram %q", got)
			}
			s.expect("READY=1")
			c.signal(stop)
			reason := "draining: " + stopSignal{stop}.Error()
			// Two clean-ups of 1 s, two components of 5 s, and 1 s of grace each.
			s.expect("STATUS="+reason, "STOPPING=1\nEXTEND_TIMEOUT_USEC=16000000")
			c.expect("false " + reason)
			c.expect("storage ended")
			c.expect("serving ended")
			c.expect("state saved")
			c.exits(0)
			s.empty()
			wantContains(t, c.stderr.String(), "msg=starting version=", "msg=ready took=", "msg=stopping reason="+stopSignal{stop}.Error(), "msg=stopped")
		})
	}
}

func TestSecondSignalStopsAtOnce(t *testing.T) {
	c := startChild(t, "stuck", nil, nil)
	c.expect("serving starts")
	c.signal(syscall.SIGTERM)
	c.expect("draining")
	c.signal(syscall.SIGINT)
	c.exits(1)
	wantContains(t, c.stderr.String(),
		`level=ERROR msg="stopping at once, without waiting for anything" reason=SIGINT`,
		"levee-test: stopped at once by a second signal (SIGINT), in the middle of a stop\n")
}

func TestStopDuringTheStart(t *testing.T) {
	c := startChild(t, "waiting", nil, nil)
	c.expect("waiting")
	c.signal(syscall.SIGTERM)
	c.expect("port closed")
	c.exits(0)
	if strings.Contains(c.stderr.String(), "msg=ready") {
		t.Errorf("became ready:\n%s", c.stderr)
	}
}

func TestStopDuringAStartThatDoesNotListen(t *testing.T) {
	c := startChild(t, "deaf", nil, nil)
	c.expect("waiting")
	c.signal(syscall.SIGTERM)
	c.exits(1)
	wantContains(t, c.stderr.String(), "levee-test: the start did not end in time after the stop was asked for (10ms)\n")
}

// TestFailingComponentStopsTheDaemon in good order, with every error.
func TestFailingComponentStopsTheDaemon(t *testing.T) {
	s := listenDatagrams(t)
	c := startChild(t, "fails", []string{"NOTIFY_SOCKET=" + s.path}, nil)
	c.expect("serving starts")
	c.tell("now")
	c.expect("drained")
	c.expect("serving ended")
	c.exits(1)
	wantContains(t, c.stderr.String(),
		`level=ERROR msg=stopping reason="storage: the file has gone"`,
		"\nlevee-test: storage: the file has gone\nlevee-test: stopping state: disk full\n")
	s.expect("EXTEND_TIMEOUT_USEC=30000000", "STATUS=ready", "READY=1", "STATUS=draining: storage: the file has gone")
}

// TestReloadsAreSerialized: signals that come during a reload cause one later,
// not one at the same time.
func TestReloadsAreSerialized(t *testing.T) {
	c := startChild(t, "reload", nil, nil)
	c.expect("serving starts")
	c.signal(syscall.SIGHUP)
	c.expect("reload begins")
	for range 5 {
		c.signal(syscall.SIGHUP)
	}
	c.tell("")
	c.expect("reload ends")
	c.expect("reload begins")
	if err := c.stdin.Close(); err != nil { // from now on reloads end at once
		t.Fatal(err)
	}
	c.expect("reload ends")
	c.signal(syscall.SIGTERM)
	c.exits(0)
	// A signal that the kernel delivered late may have caused one more.
	want := "reload begins"
	for got := range c.lines {
		if got != want {
			t.Errorf("printed %q, want %q", got, want)
		}
		want = map[string]string{"reload begins": "reload ends", "reload ends": "reload begins"}[got]
	}
	if want != "reload begins" {
		t.Error("the last reload has no end")
	}
}

func TestFailedReloadIsShownUntilOneSucceeds(t *testing.T) {
	s := listenDatagrams(t)
	c := startChild(t, "reload", []string{"NOTIFY_SOCKET=" + s.path}, nil)
	c.expect("serving starts")
	s.expect("EXTEND_TIMEOUT_USEC=30000000", "STATUS=ready", "READY=1")
	for _, r := range []struct{ answer, status string }{
		{"bad file", "STATUS=ready (the last reload failed: bad file)"},
		{"", "STATUS=ready"},
	} {
		c.signal(syscall.SIGHUP)
		c.tell(r.answer)
		if got := s.next(); !strings.HasPrefix(got, "RELOADING=1\n") {
			t.Fatalf("datagram %q", got)
		}
		s.expect(r.status, "READY=1")
	}
	c.signal(syscall.SIGTERM)
	c.exits(0)
	wantContains(t, c.stderr.String(), `level=ERROR msg="reload failed, nothing has changed" error="bad file"`)
}

// TestLostStderrIsNoReasonToStop: the log's reader goes, the daemon stays, and
// its exit code is what it would have been.
func TestLostStderrIsNoReasonToStop(t *testing.T) {
	withoutReader := func(t *testing.T, scenario string) *child {
		t.Helper()
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c := startChild(t, scenario, nil, func(cmd *exec.Cmd) { cmd.Stderr = w })
		c.expect("serving starts")
		if err := errors.Join(r.Close(), w.Close()); err != nil {
			t.Fatal(err)
		}
		return c
	}
	t.Run("stopped", func(t *testing.T) {
		c := withoutReader(t, "serve")
		c.signal(syscall.SIGTERM) // is logged
		c.expect("false draining: SIGTERM")
		c.expect("storage ended")
		c.expect("serving ended")
		c.expect("state saved")
		c.exits(0)
	})
	t.Run("failed", func(t *testing.T) {
		c := withoutReader(t, "fails")
		c.tell("now")
		c.expect("drained")
		c.exits(1)
	})
}

// TestAdminPortIsOpenFromStartToEnd reads /readyz in each phase.
func TestAdminPortIsOpenFromStartToEnd(t *testing.T) {
	log, logged := testLog()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var seen []string
	look := func(paths ...string) {
		m := regexp.MustCompile(`msg=serving what=metrics addr=(\S+)`).FindStringSubmatch(logged.String())
		if m == nil {
			t.Errorf("no admin port in the log:\n%s", logged)
			return
		}
		for _, p := range paths {
			a := get(t, http.MethodGet, "http://"+m[1]+p, nil)
			seen = append(seen, fmt.Sprintf("%s %d %s", p, a.code, strings.TrimSpace(a.body)))
		}
	}
	err := Run(ctx, Options{Log: log, MetricsAddr: "127.0.0.1:0"}, func(_ context.Context, d *Daemon) error {
		look("/readyz", "/healthz")
		d.OnStop("drain", patience, func(context.Context) error {
			look("/readyz", "/healthz")
			return nil
		})
		d.OnProbe(func(context.Context) error {
			look("/readyz")
			cancel()
			return nil
		})
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	want := "/readyz 503 starting, /healthz 200 alive, /readyz 200 ready, /readyz 503 draining: context canceled, /healthz 200 alive"
	if got := strings.Join(seen, ", "); got != want {
		t.Errorf("saw  %s\nwant %s", got, want)
	}
}

func TestRunReportsAStartThatFails(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	taken, err := Bind(t.Context(), "metrics-addr", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	boom := errors.New("boom")

	t.Run("admin port", func(t *testing.T) {
		err := Run(t.Context(), Options{Log: log, MetricsAddr: taken.Addr().String()}, func(context.Context, *Daemon) error {
			t.Error("setup was called")
			return nil
		})
		if !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("watchdog", func(t *testing.T) {
		t.Setenv("WATCHDOG_USEC", "soon")
		err := Run(t.Context(), Options{Log: log}, func(context.Context, *Daemon) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "WATCHDOG_USEC") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("setup", func(t *testing.T) {
		stopped := false
		err := Run(t.Context(), Options{Log: log}, func(_ context.Context, d *Daemon) error {
			d.OnStop("port", time.Second, func(context.Context) error {
				stopped = true
				return nil
			})
			return boom
		})
		if err == nil || err.Error() != "boom" || !stopped {
			t.Errorf("got %v, stopped: %v", err, stopped)
		}
	})
	t.Run("component", func(t *testing.T) {
		err := Run(t.Context(), Options{Log: log}, func(ctx context.Context, d *Daemon) error {
			d.Go("storage", func(context.Context) error { return boom })
			<-ctx.Done()
			return fmt.Errorf("waiting: %w", context.Cause(ctx))
		})
		if err == nil || err.Error() != "storage: boom" {
			t.Errorf("got %v", err)
		}
	})
}
