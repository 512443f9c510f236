package daemon

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// writers is how many goroutines log at once, and eachLogs how much each does:
// far more than the queue, a pipe or a socket holds.
const writers, eachLogs = 4, 1000

// logALot returns when everybody has logged, which nobody does while a log call
// waits for a sink that blocks.
func logALot(l *Log) {
	var wg sync.WaitGroup
	for w := range writers {
		logger := l.With("w", w)
		wg.Go(func() {
			for i := range eachLogs {
				logger.Info(strings.Repeat("x", 1000), "i", i)
			}
		})
	}
	wg.Wait()
}

// kept follows what is left of the records of each writer: they are whole, and in
// their order.
type kept struct {
	n    int
	next [writers]int
}

func (k *kept) see(t *testing.T, record string) {
	t.Helper()
	at := strings.Index(record, strings.Repeat("x", 1000)+" w=")
	var w, i int
	if at < 0 || strings.Count(record, " w=") != 1 {
		t.Fatalf("a record is not whole: %q", record)
	}
	if _, err := fmt.Sscanf(record[at+1000:], " w=%d i=%d", &w, &i); err != nil {
		t.Fatalf("%v: %q", err, record)
	}
	if i < k.next[w] {
		t.Fatalf("record %d of writer %d comes after %d", i, w, k.next[w]-1)
	}
	k.next[w] = i + 1
	k.n++
}

// all checks that every record was either kept or counted as dropped, and that
// there were some of both.
func (k *kept) all(t *testing.T, l *Log) {
	t.Helper()
	dropped := int(testutil.ToFloat64(l.Dropped.WithLabelValues("line")))
	t.Logf("%d kept, %d dropped", k.n, dropped)
	if k.n+dropped != writers*eachLogs || k.n < maxLines || dropped == 0 {
		t.Errorf("%d kept and %d dropped of %d", k.n, dropped, writers*eachLogs)
	}
}

// A pipe that nobody reads holds up nobody who logs. What fits is kept, in order,
// and the rest is counted.
func TestLogToAPipeThatNobodyReads(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	l, err := NewLog(LogOptions{Format: "text"}, w)
	if err != nil {
		t.Fatal(err)
	}
	logALot(l)
	l.Flush(time.Millisecond) // gives up
	go func() {
		l.Flush(patience)
		_ = w.Close()
	}()
	var k kept
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		k.see(t, strings.Replace(lines.Text(), "msg=", "", 1))
	}
	k.all(t, l)

	b := &syncBuffer{}
	again, err := NewLog(LogOptions{Format: "text"}, b)
	if err != nil {
		t.Fatal(err)
	}
	again.Info("at once") // a sink that works is waited for
	wantContains(t, b.String(), "at once")
}

// The same for a journal whose socket is full.
func TestLogToAJournalThatIsFull(t *testing.T) {
	j := fakeJournal(t)
	l, stderr := newLog(t, "journal", false)
	logALot(l)
	dropped := int(testutil.ToFloat64(l.Dropped.WithLabelValues("line")))
	var k kept
	for range writers*eachLogs - dropped {
		k.see(t, fields(t, j.next())["MESSAGE"])
	}
	k.all(t, l)
	j.empty()
	l.Info("caught up") // waits again
	wantContains(t, j.next(), "MESSAGE=caught up")
	if stderr.String() != "" {
		t.Errorf("written to stderr as well: %s", stderr)
	}
}
