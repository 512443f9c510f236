package metrics

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

const (
	// million is how many resources are asked about, each once.
	million = 1_000_000
	// inFlight is how many attempts are sent in one write.
	inFlight = 200
	// first are asked about before anything is compared.
	first = 10 * inFlight
	// lines is how many connections share them.
	lines = 4
)

// series are the names and labels of a scrape.
func series(t *testing.T, n *harness.Node) (all []string) {
	t.Helper()
	for line := range strings.SplitSeq(n.ScrapeText(t), "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line[:strings.LastIndexByte(line, ' ')])
		}
	}
	slices.Sort(all)
	return all
}

// A million resources, which both proxy and limiter know then, leave /metrics as
// large as it was: not one series more, on any daemon.
func TestAMillionResources(t *testing.T) {
	t.Parallel()
	c := start(t, harness.ClusterOptions{
		Observers: 1, Limiters: 2, Proxies: 1, Proxy: harness.Command{Args: []string{"--attempt-timeout=20s"}},
	}, entries{"limit/key_default": plenty, "factor/default": "2"})
	askAbout(t, c.Proxies[0].Addr, million, first) // what appears with use is there
	before := map[string][]string{}
	for _, n := range c.Nodes() {
		before[n.Name] = series(t, n)
	}
	ended := make(chan struct{}, lines)
	began := time.Now()
	for i := range lines {
		go func() {
			defer func() { ended <- struct{}{} }()
			askAbout(t, c.Proxies[0].Addr, i*million/lines, million/lines)
		}()
	}
	for range lines {
		<-ended
	}
	t.Logf("a million resources took %v", time.Since(began).Round(time.Millisecond))
	keys := 0.0
	for _, n := range c.Nodes() {
		m := n.Scrape(t)
		keys += m.Sum("levee_keys")
		if of := m.Sum("levee_proxy_keys"); jobOf(n) == "levee-client-proxy" && of != million+first {
			t.Errorf("the proxy knows %v resources", of)
		}
		if after := series(t, n); !slices.Equal(after, before[n.Name]) {
			t.Errorf("%s has %d series, and had %d before; new are %v", n.Name, len(after), len(before[n.Name]), without(after, before[n.Name]))
		}
		if strings.Contains(n.ScrapeText(t), "secret-") {
			t.Errorf("%s shows a resource", n.Name)
		}
	}
	if keys != million+first {
		t.Errorf("the limiters know %v resources, want %d", keys, million+first)
	}
}

func without(all, those []string) (rest []string) {
	for _, s := range all {
		if !slices.Contains(those, s) && len(rest) < 10 {
			rest = append(rest, s)
		}
	}
	return rest
}

// askAbout asks once about each of n resources, over one connection.
func askAbout(t *testing.T, addr string, from, n int) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(3 * patience)); err != nil {
		t.Error(err)
		return
	}
	octets := make([]byte, 64<<10)
	for done := 0; done < n; done += inFlight {
		var batch bytes.Buffer
		for i := range inFlight {
			batch.Write(harness.AttemptText(fmt.Sprintf("secret-%d", from+done+i)))
		}
		if _, err := conn.Write(batch.Bytes()); err != nil {
			t.Error(err)
			return
		}
		if err := accepted(conn, octets, inFlight); err != nil {
			t.Error(err)
			return
		}
	}
}

// accepted reads n answers without a body, all of them 200.
func accepted(from io.Reader, octets []byte, n int) error {
	have := 0
	for ends := 0; ends < n; {
		more, err := from.Read(octets[have:])
		if err != nil {
			return fmt.Errorf("after %d answers: %w", ends, err)
		}
		have += more
		ends = bytes.Count(octets[:have], []byte("\r\n\r\n"))
	}
	if ok := bytes.Count(octets[:have], []byte("HTTP/1.1 200 ")); ok != n {
		return fmt.Errorf("%d of %d answers are 200:\n%.300s", ok, n, octets[:have])
	}
	return nil
}
