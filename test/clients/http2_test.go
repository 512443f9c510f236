package clients

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestH2load has many streams under way on each of several connections.
func TestH2load(t *testing.T) {
	const requests = 20000
	for _, streams := range []int{1, 8, 100} {
		t.Run(strconv.Itoa(streams), func(t *testing.T) {
			s := serve(t)
			out := run(t, "", "h2load", "-n", strconv.Itoa(requests), "-c", "10", "-m", strconv.Itoa(streams),
				"-H", ":method: POST", "-H", "x-resource: a", "-H", "x-prefix: p", "http://"+s.addr+"/attempt")
			if n := number(t, out, `(\d+) succeeded`); n != requests {
				t.Errorf("%d requests succeeded, want %d:\n%s", n, requests, out)
			}
			if n := s.decided("a/p"); n != requests {
				t.Errorf("%d attempts were decided, want %d", n, requests)
			}
			s.checkNothingBad(t)
		})
	}
}

// TestNghttp shows what a client that is a reference for others sees.
func TestNghttp(t *testing.T) {
	s := serve(t)
	for key, want := range map[string]string{"a": ":status: 200", "rejected": ":status: 429"} {
		out := run(t, "", "nghttp", "-nv", "-H", ":method: POST", "-H", "x-resource: "+key, "http://"+s.addr+"/attempt")
		if !strings.Contains(out, want) {
			t.Errorf("%s: no %q in\n%s", key, want, out)
		}
	}
	s.checkNothingBad(t)
}

// TestCurlHTTP2 speaks HTTP/2 with prior knowledge, also with a body.
func TestCurlHTTP2(t *testing.T) {
	s := serve(t)
	url := "http://" + s.addr + "/attempt"
	for name, args := range map[string][]string{
		"no body": {"-X", "POST"},
		"body":    {"-d", strings.Repeat("x", 60000)},
	} {
		common := []string{"-sS", "--http2-prior-knowledge", "-o", "/dev/null", "-w", "%{http_code} %{http_version}", "-H", "X-Resource: a"}
		if out := run(t, "", "curl", append(append(common, args...), url)...); out != "200 2" {
			t.Errorf("%s: %s, want 200 2", name, out)
		}
	}
	s.checkNothingBad(t)
}

// TestNodeHTTP2 uses Node's own HTTP/2 client.
func TestNodeHTTP2(t *testing.T) {
	const script = `
const session = require('http2').connect(process.argv[1]);
let left = 100, codes = {};
for (let i = 0; i < left; i++) {
  const r = session.request({':method': 'POST', ':path': '/attempt', 'x-resource': 'a'});
  r.on('response', h => { codes[h[':status']] = (codes[h[':status']] || 0) + 1; });
  r.on('close', () => { if (--left === 0) { console.log(JSON.stringify(codes)); session.close(); } });
  r.resume();
  r.end();
}`
	s := serve(t)
	if out := strings.TrimSpace(run(t, "", "node", "-e", script, "http://"+s.addr)); out != `{"200":100}` {
		t.Errorf("Node saw %s, want 100 times 200", out)
	}
	s.checkNothingBad(t)
}

// TestGoHTTP2 uses the standard library's client.
func TestGoHTTP2(t *testing.T) {
	s := serve(t)
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	client := &http.Client{Transport: &http.Transport{Protocols: protocols}, Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	for key, want := range map[string]int{"a": 200, "rejected": 429} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.addr+"/attempt", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Resource", key)
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
		cancel()
		if res.StatusCode != want || res.ProtoMajor != 2 {
			t.Errorf("%s: %s over HTTP/%d, want %d over HTTP/2", key, res.Status, res.ProtoMajor, want)
		}
	}
	s.checkNothingBad(t)
}
