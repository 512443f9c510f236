package daemon

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestWatchdogPace: fed every period while the probe succeeds, never while it
// fails; one log line for each change; a probe has half a period.
func TestWatchdogPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		since := func() time.Duration { return time.Since(began) }
		log, logged := testLog()
		var fed []time.Duration
		var deadlines []time.Duration
		h := &Health{}
		w := &watchdog{
			period: 10 * time.Second,
			health: h,
			log:    log,
			feed:   func() { fed = append(fed, since()) },
			probe: func(ctx context.Context) error {
				at := since()
				if deadline, ok := ctx.Deadline(); ok {
					deadlines = append(deadlines, deadline.Sub(began)-at)
				}
				if at >= 20*time.Second && at < 40*time.Second {
					<-ctx.Done() // a serving path that hangs
					return ctx.Err()
				}
				return nil
			},
		}
		ctx, cancel := context.WithTimeout(t.Context(), 55*time.Second)
		defer cancel()
		go func() {
			<-time.After(36 * time.Second)
			if ok, text := h.Alive(); ok || text != "dead: probe: context deadline exceeded" {
				t.Errorf("Alive() = %v, %q while the probe fails", ok, text)
			}
		}()
		if err := w.run(ctx); err != nil {
			t.Error(err)
		}
		want := []time.Duration{0, 10 * time.Second, 40 * time.Second, 50 * time.Second}
		if !slices.Equal(fed, want) {
			t.Errorf("fed at %v, want %v", fed, want)
		}
		for _, d := range deadlines {
			if d != 5*time.Second {
				t.Errorf("a probe had %v, want 5s", d)
			}
		}
		if ok, text := h.Alive(); !ok {
			t.Errorf("not alive afterwards: %s", text)
		}
		wantLines := `level=ERROR msg="the process does not answer its own probe; the watchdog is not fed" error="context deadline exceeded"
level=INFO msg="the process answers its own probe again"
`
		if got := logged.String(); got != wantLines {
			t.Errorf("logged:\n%s\nwant:\n%s", got, wantLines)
		}
	})
}

// TestWatchdogStopsInTheMiddleOfAProbe: whatever the probe says then is neither
// believed nor fed, and run does not wait for the next period.
func TestWatchdogStopsInTheMiddleOfAProbe(t *testing.T) {
	for _, answer := range []error{nil, context.Canceled} {
		synctest.Test(t, func(t *testing.T) {
			log, logged := testLog()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			h := &Health{}
			w := &watchdog{
				period: time.Hour,
				probe:  func(context.Context) error { cancel(); return answer },
				feed:   func() { t.Error("fed") },
				health: h,
				log:    log,
			}
			began := time.Now()
			if err := w.run(ctx); err != nil || time.Since(began) != 0 {
				t.Errorf("run: %v after %v", err, time.Since(began))
			}
			if ok, text := h.Alive(); !ok || logged.String() != "" {
				t.Errorf("%s; logged: %s", text, logged)
			}
		})
	}
}

// TestWatchdogThroughRun drives the probe answer by answer and reads what
// systemd would get.
func TestWatchdogThroughRun(t *testing.T) {
	s := listenDatagrams(t)
	t.Setenv("NOTIFY_SOCKET", s.path)
	t.Setenv("WATCHDOG_USEC", "2000")
	log, _ := testLog()
	ctx, cancel := context.WithCancel(t.Context())
	answers := make(chan error)
	var d *Daemon
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{Log: log}, func(_ context.Context, daemon *Daemon) error {
			d = daemon
			d.OnProbe(func(context.Context) error { return <-answers })
			return nil
		})
	}()
	s.expect("EXTEND_TIMEOUT_USEC=30000000", "STATUS=ready", "READY=1")
	answers <- nil
	s.expect("WATCHDOG=1")
	answers <- errors.New("no answer")
	answers <- errors.New("no answer") // taken: the beat before is over
	if ok, text := d.Health.Alive(); ok || text != "dead: probe: no answer" {
		t.Errorf("Alive() = %v, %q", ok, text)
	}
	s.empty()
	answers <- nil
	s.expect("WATCHDOG=1")
	cancel()
	close(answers)
	s.expect("STATUS=draining: context canceled", "STOPPING=1\nEXTEND_TIMEOUT_USEC=0")
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
	s.empty()
}

func TestWatchdogPeriod(t *testing.T) {
	tests := []struct {
		usec, pid string
		period    time.Duration
		fed       bool
		fault     string
	}{
		{"", "", probePeriod, false, ""},
		{"30000000", "", 15 * time.Second, true, ""},
		{"30000000", "1", probePeriod, false, ""}, // meant for another process
		{"1", "", time.Millisecond, true, ""},
		{"soon", "", 0, false, "WATCHDOG_USEC"},
		{"0", "", 0, false, "WATCHDOG_USEC"},
	}
	for _, tt := range tests {
		t.Setenv("WATCHDOG_USEC", tt.usec)
		t.Setenv("WATCHDOG_PID", tt.pid)
		period, fed, err := watchdogPeriod()
		if (err != nil) != (tt.fault != "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%+v: error %v", tt, err)
		}
		if period != tt.period || fed != tt.fed {
			t.Errorf("%+v: got %v, %v", tt, period, fed)
		}
	}
}
