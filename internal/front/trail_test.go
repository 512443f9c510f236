package front

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/daemon"
)

func newTestTrail(write func(slog.Record)) *trail {
	return newTrail(write, prometheus.NewCounter(prometheus.CounterOpts{Name: "dropped"}))
}

// What the log says of an attempt: the bucket is the attempt cut to the level, and
// what is absent is left out.
func TestTrailRecords(t *testing.T) {
	long := strings.Repeat("l", maxTraced+1)
	whole := attempt.Attempt{Resource: []byte("r"), Prefix: []byte("a/b"), Method: []byte("GET"), ReqID: []byte("id-1"), Hits: 3}
	for _, tt := range []struct {
		attempt attempt.Attempt
		outcome attempt.Outcome
		want    string
	}{
		{
			whole,
			attempt.Outcome{Result: attempt.Accepted, Level: attempt.Full},
			`result=accepted quota=full bucket=r/a/b/GET resource=r prefix=a/b method=GET req_id=id-1 hits=3`,
		},
		{
			whole,
			attempt.Outcome{Result: attempt.Accepted, Level: attempt.Method, Shadow: true},
			`result=accepted quota=method bucket=r/GET resource=r prefix=a/b method=GET req_id=id-1 hits=3 shadow=true`,
		},
		{
			whole,
			attempt.Outcome{Result: attempt.Rejected, Level: attempt.Resource, RetryAfter: 1500 * time.Millisecond},
			`result=rejected quota=resource bucket=r resource=r prefix=a/b method=GET req_id=id-1 hits=3 retry_after=1.5s`,
		},
		{
			attempt.Attempt{Resource: []byte("r")},
			attempt.Outcome{Failure: "no quotas"},
			`result=failed quota=none resource=r hits=0 failure="no quotas"`,
		},
		{
			attempt.Attempt{Resource: []byte("r"), Prefix: []byte("p")},
			attempt.Outcome{Level: attempt.Full},
			`result=failed quota=full bucket=r/p resource=r prefix=p hits=0`,
		},
		{
			attempt.Attempt{Resource: []byte("r"), ReqID: []byte(long)},
			attempt.Outcome{},
			`result=failed quota=none resource=r req_id=` + long[1:] + `… hits=0`,
		},
	} {
		var b bytes.Buffer
		h := slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug})
		trail := newTestTrail(func(r slog.Record) { _ = h.Handle(t.Context(), r) })
		trail.trace(&tt.attempt, &tt.outcome)
		trail.drain(new(traced))
		if _, got, _ := strings.Cut(strings.TrimSpace(b.String()), " msg=attempt "); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// A full ring drops until half of it is free again; what is missing is counted, and
// told where it is missing.
func TestTrailIsBounded(t *testing.T) {
	var got []string
	trail := newTestTrail(func(r slog.Record) {
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "attempts" || a.Key == "resource" {
				got = append(got, a.Key+" "+a.Value.String())
			}
			return true
		})
	})
	put := func(from, to int) {
		for i := from; i < to; i++ {
			trail.trace(&attempt.Attempt{Resource: fmt.Append(nil, i)}, &attempt.Outcome{})
		}
	}
	s := new(traced)
	put(0, trailLength+10) // ten too many
	for range trailLength/2 - 1 {
		trail.take(s)
	}
	put(5000, 5001) // still full
	trail.take(s)
	put(6000, 6000+trailLength/2)
	put(7000, 7003) // full again
	trail.drain(s)
	middle := trailLength - trailLength/2
	want := map[int]string{
		0: fmt.Sprint("resource ", trailLength/2), middle - 1: fmt.Sprint("resource ", trailLength-1),
		middle: "attempts 11", middle + 1: "resource 6000",
		len(got) - 2: fmt.Sprint("resource ", 6000+trailLength/2-1), len(got) - 1: "attempts 3",
	}
	for i, w := range want {
		if got[i] != w {
			t.Errorf("line %d of %d is %q, want %q", i, len(got), got[i], w)
		}
	}
	if n := testutil.ToFloat64(trail.dropped); n != 14 {
		t.Errorf("%v are counted as dropped, want 14", n)
	}
	a, o := &attempt.Attempt{Resource: []byte("r")}, new(attempt.Outcome)
	if n := testing.AllocsPerRun(100, func() { trail.trace(a, o) }); n > 0 {
		t.Errorf("an attempt costs %v allocations", n)
	}
}

// With verbose and a log that nobody reads, every attempt is answered. What the
// log kept is whole and in order, and with what it dropped it is everything.
func TestAttemptsWhileTheLogBlocks(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	log, err := daemon.NewLog(daemon.LogOptions{Name: "front", Format: "json", Verbose: true}, w)
	if err != nil {
		t.Fatal(err)
	}
	cfg := &config.Serving{
		ListenAddr: "127.0.0.1:0", HeaderTimeout: time.Minute, BodyTimeout: time.Minute, IdleTimeout: time.Minute,
		WriteTimeout: time.Minute, DrainTimeout: 5 * time.Second, ResponseHeaders: config.HeadersRetryAfter,
	}
	ctx, stop := context.WithCancelCause(t.Context())
	seen := make(chan int, 1)
	decider := &generous{NewTally()}
	err = daemon.Run(ctx, daemon.Options{Log: log.Logger}, func(ctx context.Context, d *daemon.Daemon) error {
		f, err := Open(ctx, log, cfg)
		if err != nil {
			return err
		}
		f.Serve(d, cfg, decider, decider.tally)
		f.Admit()
		go func() {
			if err := pipeline(f.Addr().String(), manyAttempts); err != nil {
				t.Error(err)
			}
			go func() { seen <- readTrail(t, r) }() // now somebody reads
			stop(errors.New("the test has asked enough"))
		}()
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	log.Flush(10 * time.Second)
	_ = w.Close()
	n, dropped := <-seen, int(testutil.ToFloat64(log.Dropped.WithLabelValues("attempt")))
	if n+dropped != manyAttempts || n < trailLength || dropped == 0 {
		t.Errorf("%d attempts are in the log and %d were dropped, of %d", n, dropped, manyAttempts)
	}
	if n := decider.tally.Count(attempt.Accepted, attempt.None, false); n != manyAttempts {
		t.Errorf("%d of %d attempts were decided", n, manyAttempts)
	}
}

// manyAttempts are far more than the ring and a pipe hold.
const manyAttempts = 20_000

// pipeline asks n attempts over one connection, and waits for their answers.
func pipeline(addr string, n int) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	answers := bufio.NewReader(c)
	const together = 50
	for i := 0; i < n; i += together {
		for k := range together {
			if _, err := fmt.Fprintf(c, "POST /attempt HTTP/1.1\r\nHost: l\r\nX-Resource: r\r\nX-Req-Id: %d\r\n\r\n", i+k); err != nil {
				return err
			}
		}
		for range together {
			if err := readAnswer(answers); err != nil {
				return err
			}
		}
	}
	return nil
}

func readAnswer(r *bufio.Reader) error {
	line, err := r.ReadString('\n')
	if err != nil {
		return err
	}
	if !strings.HasPrefix(line, "HTTP/1.1 200 ") {
		return errors.New(line)
	}
	for line != "\r\n" {
		if line, err = r.ReadString('\n'); err != nil {
			return err
		}
	}
	return nil
}

// readTrail reads the log to its end, and returns how many attempts it has. Those
// that are missing are told where they are missing.
func readTrail(t *testing.T, r io.Reader) (attempts int) {
	lines, next := bufio.NewScanner(r), 0
	for lines.Scan() {
		var line struct {
			Msg      string
			ReqID    int `json:"req_id,string"`
			Attempts int
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Errorf("%v in %q", err, lines.Text())
		}
		switch {
		case line.Attempts > 0:
			next += line.Attempts
		case line.Msg == "attempt":
			if line.ReqID != next {
				t.Errorf("attempt %d comes where %d should", line.ReqID, next)
			}
			next = line.ReqID + 1
			attempts++
		}
	}
	return attempts
}
