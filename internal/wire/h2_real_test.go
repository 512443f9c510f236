package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"
)

// The clients that most people have, with prior knowledge.
var realClients = []struct {
	name string
	make func() (*http.Client, func())
}{
	{"net/http", func() (*http.Client, func()) {
		t := &http.Transport{Protocols: new(http.Protocols)}
		t.Protocols.SetUnencryptedHTTP2(true)
		return &http.Client{Transport: t, Timeout: patience}, t.CloseIdleConnections
	}},
	{"x/net/http2", olderClient},
}

// olderClient is what came before net/http spoke HTTP/2 without TLS.
//
//nolint:staticcheck // deprecated, and in many a program
func olderClient() (*http.Client, func()) {
	t := &xhttp2.Transport{
		AllowHTTP: true,
		DialTLSContext: func(ctx context.Context, network, addr string, _ *tls.Config) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
		StrictMaxConcurrentStreams: true,
	}
	return &http.Client{Transport: t, Timeout: patience}, t.CloseIdleConnections
}

// call makes a request and returns its status and text.
func call(c *http.Client, method, url, resource string, body io.Reader) (status int, text string, err error) {
	req, err := http.NewRequest(method, url, body)
	if err != nil {
		return 0, "", err
	}
	if resource != "" {
		req.Header.Set("X-Resource", resource)
	}
	resp, err := c.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.ProtoMajor != 2 {
		return 0, "", fmt.Errorf("spoke %s", resp.Proto)
	}
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

func TestHTTP2RealClients(t *testing.T) {
	for _, real := range realClients {
		t.Run(real.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, runningClock)
			c, end := real.make()
			defer end()
			url := "http://" + s.addr
			for _, test := range []struct {
				method, path, resource string
				body                   io.Reader
				status                 int
				text                   string
			}{
				{"POST", "/attempt", "r", nil, 200, ""},
				{"POST", "/attempt?x=y", "rejected", nil, 429, ""},
				{"POST", "/attempt", "failed", nil, 500, "the quotas are not loaded\n"},
				{"POST", "/attempt", "", nil, 400, "X-Resource is missing or empty\n"},
				{"POST", "/attempt", "r", strings.NewReader(strings.Repeat("x", MaxBody)), 200, ""},
				{"POST", "/attempt", "r", io.MultiReader(strings.NewReader("of no known length")), 200, ""},
				{"POST", "/attempt", "r", strings.NewReader(strings.Repeat("x", MaxBody+1)), 413, "the body is longer than 64 KiB\n"},
				{"POST", "/attempt", "r", io.MultiReader(strings.NewReader(strings.Repeat("x", 10*MaxBody))), 413, "the body is longer than 64 KiB\n"},
				{"GET", "/attempt", "r", nil, 405, "attempts are made with POST\n"},
				{"HEAD", "/healthz", "", nil, 200, ""},
				{"GET", "/healthz", "", nil, 200, healthLine + "\n"},
				{"GET", "/", "", nil, 404, "there is nothing here; ask POST /attempt\n"},
			} {
				status, text, err := call(c, test.method, url+test.path, test.resource, test.body)
				if err != nil || status != test.status || text != test.text {
					t.Errorf("%s %s of %q: %d %q %v, want %d %q", test.method, test.path, test.resource, status, text, err, test.status, test.text)
				}
			}
			if n := s.connections(); n != 1 {
				t.Errorf("it took %d connections, want 1", n)
			}
		})
	}
}

// Many callers share a connection, and none of them notices.
func TestHTTP2RealClientsAtOnce(t *testing.T) {
	for _, real := range realClients {
		t.Run(real.name, func(t *testing.T) {
			t.Parallel()
			late := newScattering(t)
			s := serve(t, runningClock, func(o *Options) { o.Decider = late })
			c, end := real.make()
			defer end()
			var wg sync.WaitGroup
			for i := range 100 {
				wg.Go(func() {
					for j := range 50 {
						resource, want := "r", 200
						if (i+j)%3 == 0 {
							resource, want = "rejected", 429
						}
						if (i+j)%7 == 0 {
							resource, want = "failed", 500
						}
						status, _, err := call(c, "POST", "http://"+s.addr+"/attempt", resource, strings.NewReader(strings.Repeat("x", j*100)))
						if err != nil || status != want {
							t.Errorf("%s: %d %v, want %d", resource, status, err, want)
							return
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// A drain under load loses nothing: whatever was asked was answered, and what
// could not be asked any more says so.
func TestHTTP2DrainUnderLoad(t *testing.T) {
	for _, real := range realClients {
		t.Run(real.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, runningClock)
			var answered, refused atomic.Int64
			var wg sync.WaitGroup
			for range 4 {
				c, end := real.make()
				defer end()
				for range 16 {
					wg.Go(func() {
						for {
							status, _, err := call(c, "POST", "http://"+s.addr+"/attempt", "r", nil)
							switch {
							case err == nil && status == 200:
								answered.Add(1)
								continue
							case errors.Is(err, syscall.ECONNREFUSED):
								refused.Add(1)
							default:
								t.Errorf("%d %v", status, err)
							}
							return
						}
					})
				}
			}
			eventually(t, "load", func() bool { return answered.Load() > 1000 })
			if err := s.Drain(context.Background(), 1500*time.Millisecond); err != nil {
				t.Error(err)
			}
			wg.Wait()
			if refused.Load() != 64 {
				t.Errorf("%d of 64 callers were refused in the end", refused.Load())
			}
			if asked := len(s.decider.take()); int64(asked) != answered.Load() {
				t.Errorf("%d attempts were decided and %d answered", asked, answered.Load())
			}
		})
	}
}
