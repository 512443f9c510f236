package daemon

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

func TestNotifierDatagrams(t *testing.T) {
	s := listenDatagrams(t)
	t.Setenv("NOTIFY_SOCKET", s.path)
	log, logged := testLog()
	n := &notifier{log: log}
	n.status("ready\nREADY=1")
	n.ready()
	n.stopping(90 * time.Second)
	n.watchdog()
	n.extendStart()
	s.expect("STATUS=ready READY=1", "READY=1", "STOPPING=1\nEXTEND_TIMEOUT_USEC=90000000", "WATCHDOG=1", "EXTEND_TIMEOUT_USEC=30000000")
	if logged.String() != "" {
		t.Errorf("logged %s", logged)
	}
}

func TestNotifierLogsAFailureOnce(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", t.TempDir()+"/nobody")
	log, logged := testLog()
	n := &notifier{log: log}
	n.ready()
	n.ready()
	if got := strings.Count(logged.String(), "cannot notify systemd"); got != 1 {
		t.Errorf("%d lines:\n%s", got, logged)
	}
}

func TestNotifierWithoutASocketIsSilent(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	log, logged := testLog()
	(&notifier{log: log}).ready()
	if logged.String() != "" {
		t.Errorf("logged %s", logged)
	}
}

// TestSlowStartAsksForPatience asks at once and then every ten seconds, for
// thirty more each time, until the start is over.
func TestSlowStartAsksForPatience(t *testing.T) {
	s := listenDatagrams(t)
	t.Setenv("NOTIFY_SOCKET", s.path)
	log, _ := testLog()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancelCause(t.Context())
		defer stop(nil)
		l := newLife(ctx, Options{Log: log}, stop, nil)
		err := l.start(ctx, func(context.Context, *Daemon) error {
			<-time.After(25 * time.Second)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		<-time.After(time.Minute)
	})
	const more = "EXTEND_TIMEOUT_USEC=30000000"
	s.expect(more, more, more)
	s.empty()
}

func FuzzStatusLine(f *testing.F) {
	f.Add("ready")
	f.Add("a\nREADY=1\r\n\x00\xff")
	f.Add(strings.Repeat("é", maxStatus))
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := strings.CutPrefix(statusLine(text), "STATUS=")
		if !ok || strings.ContainsAny(got, "\n\r") || !utf8.ValidString(got) || len(got) > maxStatus {
			t.Errorf("statusLine(%q) = %q", text, got)
		}
	})
}
