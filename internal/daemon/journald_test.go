package daemon

import (
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// A value with line breaks follows its length, in the native protocol's way.
func TestJournalValueWithLines(t *testing.T) {
	j := fakeJournal(t)
	l, _ := newLog(t, "journal", false)
	l.Info("x", "err", "one\ntwo")
	wantContains(t, j.next(), "LEVEE_ERR\n\x07\x00\x00\x00\x00\x00\x00\x00one\ntwo\n")
}

// A record that no datagram can hold comes as a file.
func TestJournalLargeRecord(t *testing.T) {
	j := fakeJournal(t)
	l, stderr := newLog(t, "journal", false)
	const size = 1 << 20
	l.Info(strings.Repeat("x", size))
	control := make([]byte, syscall.CmsgSpace(4))
	if err := j.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	n, n2, _, _, err := j.conn.ReadMsgUnix(make([]byte, 1), control)
	if err != nil || n > 0 {
		t.Fatalf("%d bytes, %v; the log says %s", n, err, stderr)
	}
	messages, err := syscall.ParseSocketControlMessage(control[:n2])
	if err != nil {
		t.Fatal(err)
	}
	files, err := syscall.ParseUnixRights(&messages[0])
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(files[0]), "record")
	defer func() { _ = f.Close() }()
	record, err := io.ReadAll(io.NewSectionReader(f, 0, 2*size))
	if err != nil {
		t.Fatal(err)
	}
	wantContains(t, string(record), "PRIORITY=6\nMESSAGE="+strings.Repeat("x", size)+"\n", "SYSLOG_IDENTIFIER=levee-test\n")
}

// When journald has a new socket, a record finds it.
func TestJournalAgain(t *testing.T) {
	j := fakeJournal(t)
	l, stderr := newLog(t, "journal", false)
	l.Info("before")
	wantContains(t, j.next(), "MESSAGE=before")
	_ = j.conn.Close()
	l.Info("away")
	wantContains(t, stderr.String(), "msg=away")
	if err := os.Remove(j.path); err != nil {
		t.Fatal(err)
	}
	var err error
	if j.conn, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: j.path, Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	l.Info("again")
	wantContains(t, j.next(), "MESSAGE=again")
}

// Waiting for a full journal takes no CPU. Where the kernel does not say when there
// is room again, a process is busy with trying.
func TestJournalThatIsFullIsWaitedFor(t *testing.T) {
	j := fakeJournal(t)
	l, _ := newLog(t, "journal", false)
	logALot(l)
	before := ownCPU(t)
	<-time.After(time.Second)
	if took := ownCPU(t) - before; took > 100*time.Millisecond {
		t.Errorf("waiting for a second took %v of CPU", took)
	}
	for range writers*eachLogs - int(testutil.ToFloat64(l.Dropped.WithLabelValues("line"))) {
		j.next()
	}
}

// ownCPU is how much CPU this process has taken.
func ownCPU(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
