package harness

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

func TestFileStoreText(t *testing.T) {
	s := NewFileStore(t, map[string]string{
		"limit/key_default":               `{"rate": 1, "burst": 0}`,
		"limit/subkey_default/b":          `{"rate": 2, "burst": 0}`,
		"limit/subkey_default/b/c":        `not json`,
		"limit/key/photos/quota":          `{"rate": 3, "burst": 0}`,
		"limit/key/photos/sublimit/a/GET": `{"rate": 4, "burst": 0}`,
		"factor/default":                  `2`,
	})
	const want = `"factor":
  "default": 2
"limit":
  "key":
    "photos":
      "quota": {"rate": 3, "burst": 0}
      "sublimit":
        "a/GET": {"rate": 4, "burst": 0}
  "key_default": {"rate": 1, "burst": 0}
  "subkey_default":
    "b": {"rate": 2, "burst": 0}
    "b/c": not json
`
	if got := s.Text(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestReadAnswer(t *testing.T) {
	in := bufio.NewReader(strings.NewReader("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" +
		"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 6\r\nconnection: Close\r\n\r\nwrong\n" +
		"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\n\r\nHTTP/1.1 200 OK\r\nDate"))
	for _, want := range []struct {
		status int
		last   bool
	}{{200, false}, {500, true}, {429, false}} {
		if status, last, err := readAnswer(in); status != want.status || last != want.last || err != nil {
			t.Errorf("got %d, %v, %v, want %+v", status, last, err, want)
		}
	}
	if _, _, err := readAnswer(in); err == nil {
		t.Error("a cut answer is read as a whole one")
	}
	if _, _, err := readAnswer(bufio.NewReader(strings.NewReader("SSH-2.0-OpenSSH_9.2\r\n"))); err == nil {
		t.Error("something else is read as an answer")
	}
}

// answerer serves connections with a function until the end of the test.
func answerer(t *testing.T, serve func(c net.Conn)) (addr string) {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // closed
			}
			go func() {
				serve(c)
				_ = c.Close()
			}()
		}
	}()
	return l.Addr().String()
}

// answering answers n requests of a connection with 200.
func answering(n int) func(net.Conn) {
	return func(c net.Conn) {
		in := bufio.NewReader(c)
		for range n {
			if _, err := http.ReadRequest(in); err != nil {
				return
			}
			if _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"); err != nil {
				return
			}
		}
		_, _ = http.ReadRequest(in) // and leaves one without an answer
	}
}

// The callers' verdict on a server that loses attempts is the point of them.
func TestCallersNoticeLostAttempts(t *testing.T) {
	callers := StartCallers(t, answerer(t, answering(3)), 2, AttemptText("r"))
	Eventually(t, 10*time.Second, "answers", func() bool { return callers.Count() >= 12 })
	calls := callers.Stop()
	if len(calls.Lost) == 0 || calls.Answers[200] < 12 || calls.Told != 0 || calls.Last.IsZero() {
		t.Errorf("got %+v", calls)
	}
}

func TestCallersRefused(t *testing.T) {
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	callers := StartCallers(t, addr, 2, AttemptText("r"))
	Eventually(t, 10*time.Second, "refusals", func() bool { return callers.Calls().Refused >= 4 })
	if calls := callers.Stop(); len(calls.Lost) != 0 || len(calls.Answers) != 0 {
		t.Errorf("got %+v", calls)
	}
}

func TestLoad(t *testing.T) {
	addr := answerer(t, answering(1<<30))
	load := Load{Addr: addr, Request: AttemptText("r"), Connections: 4, Rate: 1000, Batch: 8, For: 200 * time.Millisecond}
	tally, err := load.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if tally.Sent == 0 || tally.Sent > 200 || tally.Answers[200] != tally.Sent || tally.Took < load.For {
		t.Errorf("got %+v", tally)
	}
	load.Addrs = []string{addr, answerer(t, answering(1<<30))}
	if tally, err := load.Run(t.Context()); err != nil || tally.Sent == 0 || tally.Slowest == 0 || tally.Slowest > tally.Took {
		t.Errorf("two servers: got %+v, %v", tally, err)
	}
	load.Addrs[1] = answerer(t, answering(3))
	if _, err := load.Run(t.Context()); err == nil {
		t.Error("a server that closes is no error")
	}
}

func TestLink(t *testing.T) {
	link := NewLink(t, answerer(t, answering(1<<30)))
	whole := Dial(t, link.Addr)
	if a := whole.Ask(t, string(AttemptText("r"))); a.Status != 200 {
		t.Errorf("got %v", a)
	}
	link.Cut()
	for name, c := range map[string]*Conn{"that was open": whole, "that is new": Dial(t, link.Addr)} {
		if _, err := c.in.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a connection %s goes on through a cut link: %v", name, err)
		}
	}
	link.Mend()
	if a := Dial(t, link.Addr).Ask(t, string(AttemptText("r"))); a.Status != 200 {
		t.Errorf("got %v", a)
	}
}

func TestNotifySocket(t *testing.T) {
	s := NewNotifySocket(t)
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: s.Path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, datagram := range []string{"STATUS=x\nREADY=1", "WATCHDOG=1", "WATCHDOG=1\n"} {
		if _, err := io.WriteString(c, datagram); err != nil {
			t.Fatal(err)
		}
	}
	Eventually(t, 5*time.Second, "both", func() bool { return s.Count("WATCHDOG=1") == 2 })
	s.Wait(t, time.Second, "READY=1")
}

func TestMetricsFind(t *testing.T) {
	addr := answerer(t, func(c net.Conn) {
		_, _ = http.ReadRequest(bufio.NewReader(c))
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n# TYPE a_total counter\na_total{x=\"1\",y=\"p\"} 2\na_total{x=\"1\",y=\"q\"} 3\na_total{x=\"2\",y=\"q\"} 4\n")
	})
	d := &Daemon{}
	d.administer(t, addr)
	m := d.Scrape(t)
	for _, c := range []struct {
		labels []string
		sum    float64
		found  bool
	}{{nil, 9, true}, {[]string{"x", "1"}, 5, true}, {[]string{"y", "q", "x", "2"}, 4, true}, {[]string{"x", "3"}, 0, false}} {
		if sum, found := m.Find("a_total", c.labels...); sum != c.sum || found != c.found {
			t.Errorf("%q: got %v, %v", c.labels, sum, found)
		}
	}
	if _, found := m.Find("b_total"); found {
		t.Error("found what is not there")
	}
}
