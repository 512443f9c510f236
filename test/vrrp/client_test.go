package vrrp

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

const (
	// pace is the time from one attempt of a way to the next.
	pace = 5 * time.Millisecond
	// patience is how long an attempt may take. A SYN that was lost is sent again
	// after a second.
	patience = 2 * time.Second
	// slow is how long an attempt takes that had to wait for something.
	slow = 100 * time.Millisecond
)

// keeper is the address of the client that keeps connections. It has few of them,
// and so none that a machine remembers from an earlier time: to such a one, a machine
// that has just got the address would not say that it is none.
const keeper = "10.77.0.4"

// way is how a client connects: through a protocol, over a connection for each
// attempt, or one that it keeps.
type way struct {
	protocol harness.Protocol
	kept     bool
}

// ways are all of them.
var ways = []way{{harness.HTTP1, false}, {harness.HTTP1, true}, {harness.H2C, false}, {harness.H2C, true}}

func (w way) String() string {
	if w.kept {
		return string(w.protocol) + " kept"
	}
	return string(w.protocol) + " new"
}

// client makes attempts in every way until it is stopped.
type client struct {
	stop    context.CancelFunc
	callers sync.WaitGroup
	began   time.Time
	records []*record // by way
}

// startClient starts a client of the serving port at addr, ip:port.
func startClient(t *testing.T, addr string) *client {
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	c := &client{stop: cancel, began: time.Now()}
	for _, w := range ways {
		r := &record{way: w}
		c.records = append(c.records, r)
		c.callers.Go(func() { r.run(ctx, "http://"+addr+"/attempt") })
	}
	t.Cleanup(c.end)
	return c
}

// end stops the client, and waits for the attempts under way.
func (c *client) end() {
	c.stop()
	c.callers.Wait()
}

// answered waits until each way has had so many answers more.
func (c *client) answered(t *testing.T, more int) {
	t.Helper()
	for _, r := range c.records {
		from := r.answers()
		harness.Eventually(t, 15*time.Second, fmt.Sprintf("%d attempts over %s are answered", more, r.way), func() bool { return r.answers() >= from+more })
	}
}

// record is what became of the attempts of one way.
type record struct {
	way way

	mu       sync.Mutex
	attempts []attempt
}

// attempt is one attempt, in terms of the client's clock. One without an error
// was accepted.
type attempt struct {
	began, ended time.Time
	err          error
	// kept is true when it went over a connection that had served another one.
	kept bool
}

func (r *record) answers() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, a := range r.attempts {
		if a.err == nil {
			n++
		}
	}
	return n
}

// transport is the client that makes the attempts of a way.
func (w way) transport() *http.Transport {
	t := &http.Transport{Protocols: new(http.Protocols), DisableCompression: true, DisableKeepAlives: !w.kept}
	t.Protocols.SetHTTP1(w.protocol == harness.HTTP1)
	t.Protocols.SetUnencryptedHTTP2(w.protocol == harness.H2C)
	if w.kept {
		t.DialContext = (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(keeper)}}).DialContext
	}
	return t
}

// run makes attempts: over new connections at the pace, however long earlier ones
// take; over a kept one, one after the other.
func (r *record) run(ctx context.Context, url string) {
	transport := r.way.transport()
	defer transport.CloseIdleConnections()
	ticks := time.NewTicker(pace)
	defer ticks.Stop()
	var under sync.WaitGroup
	defer under.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if r.way.kept {
			r.attempt(transport, url)
		} else {
			under.Go(func() { r.attempt(transport, url) })
		}
	}
}

func (r *record) attempt(transport *http.Transport, url string) {
	a := attempt{began: time.Now()}
	a.err = ask(transport, url, &a.kept)
	a.ended = time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts = append(r.attempts, a)
}

// ask is one attempt. The transport repeats it where any client would: when a
// stream is refused, or nothing has been sent.
func ask(transport *http.Transport, url string, kept *bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { *kept = i.Reused }})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, http.NoBody)
	if err != nil {
		return err
	}
	req.Header["X-Resource"] = []string{"photos"}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", resp.StatusCode, body)
	}
	return err
}

// unanswered is how long after a moment an attempt that was under way then, over a
// kept connection, was left without an answer, and without the news that there will
// be none.
func (r *record) unanswered(moment time.Time) (longest time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.attempts {
		if a.kept && a.began.Before(moment) {
			longest = max(longest, a.ended.Sub(moment))
		}
	}
	return longest
}

// tally is what a way made of a part of its record.
type tally struct {
	way                    way
	attempts, failed, slow int
	// outage is the longest time without an answer, slowest that to an answer.
	outage, slowest time.Duration
	// errors has each kind of failure once.
	errors []string
}

// ports is where an error names the client's own port, which differs each time.
var ports = regexp.MustCompile(`[0-9.]+:\d+->`)

// tally sums up what began after a moment, when the client has been stopped.
func (r *record) tally(moment time.Time) tally {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := tally{way: r.way}
	var answers []time.Time
	for _, a := range r.attempts {
		if a.began.Before(moment) {
			continue
		}
		t.attempts++
		if a.err != nil {
			t.failed++
			if text := ports.ReplaceAllString(a.err.Error(), "->"); !slices.Contains(t.errors, text) {
				t.errors = append(t.errors, text)
			}
			continue
		}
		answers = append(answers, a.ended)
		took := a.ended.Sub(a.began)
		t.slowest = max(t.slowest, took)
		if took > slow {
			t.slow++
		}
	}
	slices.SortFunc(answers, time.Time.Compare)
	last := moment
	for _, at := range answers {
		t.outage = max(t.outage, at.Sub(last))
		last = at
	}
	return t
}

func (t tally) String() string {
	text := fmt.Sprintf("%-13s %4d attempts, %2d failed, outage %v, slowest %v, %d slow", t.way, t.attempts, t.failed,
		t.outage.Round(time.Millisecond), t.slowest.Round(time.Millisecond), t.slow)
	if len(t.errors) > 0 {
		text += ": " + strings.Join(t.errors, "; ")
	}
	return text
}
