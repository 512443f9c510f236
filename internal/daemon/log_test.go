package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	_ "unsafe" // for go:linkname
)

// journalSocket is the library's own variable, which it documents as one to be
// set when linking. The tests' journald is a socket of theirs, for large records
// too.
//
//go:linkname journalSocket github.com/coreos/go-systemd/v22/journal.journalSocket
var journalSocket string

// fakeJournal is where journald would be.
func fakeJournal(t *testing.T) *datagrams {
	t.Helper()
	d := listenDatagrams(t)
	useJournal(t, d.path)
	return d
}

func useJournal(t *testing.T, path string) {
	t.Helper()
	before, library := journaldAddr, journalSocket
	journaldAddr, journalSocket = path, path
	t.Cleanup(func() { journaldAddr, journalSocket = before, library })
}

func newLog(t *testing.T, format string, verbose bool) (*Log, *syncBuffer) {
	t.Helper()
	b := &syncBuffer{}
	l, err := NewLog(LogOptions{Name: "levee-test", Format: format, Verbose: verbose}, b)
	if err != nil {
		t.Fatal(err)
	}
	return l, b
}

func TestLogFormats(t *testing.T) {
	text, b := newLog(t, "text", false)
	text.Warn("watch lost", "addr", "10.0.0.1:2379")
	wantContains(t, b.String(), "time=", ` level=WARN msg="watch lost" addr=10.0.0.1:2379`)

	asJSON, b := newLog(t, "json", false)
	asJSON.Warn("watch lost", "addr", "10.0.0.1:2379")
	var got map[string]string
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	if got["msg"] != "watch lost" || got["addr"] != "10.0.0.1:2379" || got["level"] != "WARN" || got["time"] == "" {
		t.Errorf("got %v", got)
	}
}

func TestLogUnknownFormat(t *testing.T) {
	_, err := NewLog(LogOptions{Format: "xml"}, &syncBuffer{})
	if err == nil {
		t.Fatal("no error")
	}
	if want := `log-format: "xml" is not one of auto, text, json, journal`; err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}

// TestLogChangesAtRunTime also in loggers that were made before the change.
func TestLogChangesAtRunTime(t *testing.T) {
	l, b := newLog(t, "text", false)
	derived := l.With("component", "storage").WithGroup("etcd").With("addr", "a")
	derived.Debug("hidden")
	if err := l.Set("json", true); err != nil {
		t.Fatal(err)
	}
	derived.Debug("shown", "rev", 7)
	if strings.Contains(b.String(), "hidden") {
		t.Errorf("debug without verbose: %s", b)
	}
	wantContains(t, b.String(), `"level":"DEBUG","msg":"shown","component":"storage","etcd":{"addr":"a","rev":7}}`)
	if err := l.Set("xml", false); err == nil {
		t.Error("no error for xml")
	}
	derived.Debug("still json and verbose")
	wantContains(t, b.String(), `"msg":"still json and verbose"`)
	if err := l.Set("text", false); err != nil {
		t.Fatal(err)
	}
	derived.Debug("hidden")
	derived.Info("plain")
	wantContains(t, b.String(), `msg=plain component=storage etcd.addr=a`)
	if strings.Contains(b.String(), "hidden") {
		t.Errorf("debug without verbose: %s", b)
	}
}

// fields takes a datagram of the native protocol apart; values without line
// breaks only.
func fields(t *testing.T, datagram string) map[string]string {
	t.Helper()
	got := map[string]string{}
	for line := range strings.Lines(datagram) {
		k, v, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if _, twice := got[k]; !ok || twice {
			t.Fatalf("line %q in %q", line, datagram)
		}
		got[k] = v
	}
	return got
}

func TestJournalFields(t *testing.T) {
	j := fakeJournal(t)
	l, b := newLog(t, "journal", true)
	tests := []struct {
		name string
		log  func()
		want map[string]string
	}{
		{
			"plain",
			func() { l.Info("ready") },
			map[string]string{"PRIORITY": "6", "MESSAGE": "ready"},
		},
		{
			"attributes",
			func() {
				l.Warn("entry is invalid", "key", "limit/key default", "level", "full", "err", errors.New("no rate"))
			},
			map[string]string{
				"PRIORITY": "4", "MESSAGE": `entry is invalid key="limit/key default" level=full err="no rate"`,
				"LEVEE_KEY": "limit/key default", "LEVEE_LEVEL": "full", "LEVEE_ERR": "no rate",
			},
		},
		{
			"names",
			func() { l.Error("x", "priority", 1, "_uid", 0, "räte.1/s", 2) },
			map[string]string{
				"PRIORITY": "3", "MESSAGE": `x priority=1 _uid=0 räte.1/s=2`,
				"LEVEE_PRIORITY": "1", "LEVEE__UID": "0", "LEVEE_R__TE_1_S": "2",
			},
		},
		{
			"groups",
			func() {
				l.With("a", 1).WithGroup("etcd").With("b", 2).WithGroup("").
					Debug("x", slog.Group("watch", "rev", 3), slog.Group("", "c", 4), slog.Attr{})
			},
			map[string]string{
				"PRIORITY": "7", "MESSAGE": "x a=1 etcd.b=2 etcd.watch.rev=3 etcd.c=4",
				"LEVEE_A": "1", "LEVEE_ETCD_B": "2", "LEVEE_ETCD_WATCH_REV": "3", "LEVEE_ETCD_C": "4",
			},
		},
		{
			"siblings do not see each other's attributes",
			func() { p := l.With("a", 1); p.With("b", 2); p.Info("x") },
			map[string]string{"PRIORITY": "6", "MESSAGE": "x a=1", "LEVEE_A": "1"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.log()
			tt.want["SYSLOG_IDENTIFIER"] = "levee-test"
			got := fields(t, j.next())
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("got  %v\nwant %v", got, tt.want)
			}
		})
	}
	if b.String() != "" {
		t.Errorf("written to stderr as well: %s", b)
	}
}

func TestJournalNamesTheProgram(t *testing.T) {
	j := fakeJournal(t)
	l, err := NewLog(LogOptions{Format: "journal"}, &syncBuffer{})
	if err != nil {
		t.Fatal(err)
	}
	l.Info("x")
	if got, want := fields(t, j.next())["SYSLOG_IDENTIFIER"], filepath.Base(os.Args[0]); got != want {
		t.Errorf("SYSLOG_IDENTIFIER=%s, want %s", got, want)
	}
}

// TestJournalAway loses no line.
func TestJournalAway(t *testing.T) {
	useJournal(t, t.TempDir()+"/nobody")
	l, b := newLog(t, "journal", false)
	l.With("a", 1).Info("ready")
	wantContains(t, b.String(), "level=INFO msg=ready a=1")
}

// TestLogAuto runs a process with a stderr that is, or is not, what
// JOURNAL_STREAM says.
func TestLogAuto(t *testing.T) {
	j := listenDatagrams(t)
	stream := func(t *testing.T) (reader, stderr *os.File, id string) {
		t.Helper()
		pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
		t.Cleanup(func() { _, _ = ours.Close(), theirs.Close() })
		var st syscall.Stat_t
		if err := syscall.Fstat(pair[1], &st); err != nil {
			t.Fatal(err)
		}
		return ours, theirs, fmt.Sprintf("JOURNAL_STREAM=%d:%d", st.Dev, st.Ino)
	}
	t.Run("journal", func(t *testing.T) {
		_, stderr, id := stream(t)
		c := startChild(t, "journald", []string{id, "TEST_JOURNAL_SOCKET=" + j.path}, func(cmd *exec.Cmd) { cmd.Stderr = stderr })
		c.exits(0)
		if got := fields(t, j.next())["MESSAGE"]; got != "hello" {
			t.Errorf("MESSAGE %q", got)
		}
	})
	for name, env := range map[string][]string{
		"stderr is something else": {"JOURNAL_STREAM=1:2", "TEST_JOURNAL_SOCKET=" + j.path},
		"malformed":                {"JOURNAL_STREAM=x", "TEST_JOURNAL_SOCKET=" + j.path},
		"no journal":               {"TEST_JOURNAL_SOCKET=" + j.path},
	} {
		t.Run(name, func(t *testing.T) {
			c := startChild(t, "journald", env, nil)
			c.exits(0)
			wantContains(t, c.stderr.String(), "level=INFO msg=hello")
			j.empty()
		})
	}
	t.Run("journald is away", func(t *testing.T) {
		reader, stderr, id := stream(t)
		c := startChild(t, "journald", []string{id, "TEST_JOURNAL_SOCKET=" + j.path + "-nobody"}, func(cmd *exec.Cmd) { cmd.Stderr = stderr })
		c.exits(0)
		if err := stderr.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		wantContains(t, string(got), "level=INFO msg=hello")
	})
}

// TestJournalFromManyGoroutines: the records share a buffer, but no text.
func TestJournalFromManyGoroutines(t *testing.T) {
	j := fakeJournal(t)
	l, b := newLog(t, "journal", false)
	const writers, each = 4, 50
	var wg sync.WaitGroup
	defer wg.Wait()
	for w := range writers {
		logger := l.With("w", w)
		wg.Go(func() {
			for i := range each {
				logger.Info("x", "i", i)
			}
		})
	}
	for range writers * each {
		got := fields(t, j.next())
		if want := "x w=" + got["LEVEE_W"] + " i=" + got["LEVEE_I"]; got["MESSAGE"] != want {
			t.Fatalf("MESSAGE %q, want %q", got["MESSAGE"], want)
		}
	}
	if b.String() != "" {
		t.Errorf("not taken by the journal: %s", b)
	}
}

func FuzzFieldName(f *testing.F) {
	f.Add("addr")
	f.Add("räte.1/s\n=")
	f.Add(strings.Repeat("x", 100))
	f.Fuzz(func(t *testing.T, key string) {
		got := fieldName(key)
		if len(got) > 64 || !strings.HasPrefix(got, fieldPrefix) {
			t.Errorf("fieldName(%q) = %q", key, got)
		}
		for _, c := range []byte(got) {
			if (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
				t.Errorf("fieldName(%q) = %q", key, got)
			}
		}
	})
}
