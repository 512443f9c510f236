package daemon

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// startAdmin serves the admin port until the test ends.
func startAdmin(t *testing.T, reg *prometheus.Registry, h *Health) (url string) {
	t.Helper()
	log, _ := testLog()
	ln, err := Bind(t.Context(), "metrics-addr", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pages := http.NewServeMux()
	addStockPages(pages, reg, h, log)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- admin(ctx, ln, pages, log) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("admin: %v", err)
		}
	})
	return "http://" + ln.Addr().String()
}

// answered is what came back.
type answered struct {
	code   int
	header http.Header
	body   string
}

// get asks once, on a connection of its own.
func get(t *testing.T, method, url string, header http.Header) answered {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		req.Header = header
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{resp.StatusCode, resp.Header, string(body)}
}

func TestAdminHealthPages(t *testing.T) {
	h := &Health{}
	url := startAdmin(t, NewRegistry(), h)
	check := func(path string, code int, body string) {
		t.Helper()
		if got := get(t, http.MethodGet, url+path, nil); got.code != code || got.body != body+"\n" {
			t.Errorf("%s: %d %q, want %d %q", path, got.code, got.body, code, body)
		}
		if got := get(t, http.MethodHead, url+path, nil); got.code != code || got.body != "" {
			t.Errorf("HEAD %s: %d %q, want %d", path, got.code, got.body, code)
		}
	}
	check("/healthz", 200, "alive")
	check("/readyz", 503, "starting")
	h.SetReady()
	check("/readyz", 200, "ready")
	h.SetNote("storage", "configuration from the cache: etcd is away")
	check("/readyz", 200, "ready (configuration from the cache: etcd is away)")
	h.SetDead("probe", "no answer")
	check("/healthz", 503, "dead: probe: no answer")
	h.SetDraining("SIGTERM")
	check("/readyz", 503, "draining: SIGTERM")
}

func TestAdminMetrics(t *testing.T) {
	url := startAdmin(t, NewRegistry(), &Health{})
	text := get(t, http.MethodGet, url+"/metrics", nil)
	if text.code != 200 || !strings.HasPrefix(text.header.Get("Content-Type"), "text/plain") {
		t.Errorf("%d %s", text.code, text.header.Get("Content-Type"))
	}
	b := ReadBuild()
	wantContains(t, text.body,
		`levee_build_info{commit="`+b.Commit+`",goversion="`+b.GoVersion+`",version="`+b.Version+`"} 1`,
		"\ngo_goroutines ", "\nprocess_open_fds ")
	open := get(t, http.MethodGet, url+"/metrics", http.Header{"Accept": {"application/openmetrics-text;version=1.0.0"}})
	if !strings.HasPrefix(open.header.Get("Content-Type"), "application/openmetrics-text") || !strings.HasSuffix(open.body, "# EOF\n") {
		t.Errorf("no OpenMetrics: %s", open.header.Get("Content-Type"))
	}
}

// broken is a collector that fails.
type broken struct{}

func (broken) Describe(c chan<- *prometheus.Desc) {
	c <- prometheus.NewDesc("levee_broken", "Fails.", nil, nil)
}

func (b broken) Collect(c chan<- prometheus.Metric) {
	c <- prometheus.NewInvalidMetric(prometheus.NewDesc("levee_broken", "Fails.", nil, nil), errors.New("broken"))
}

func TestAdminMetricsSurviveABrokenCollector(t *testing.T) {
	reg := NewRegistry()
	reg.MustRegister(broken{})
	url := startAdmin(t, reg, &Health{})
	get(t, http.MethodGet, url+"/metrics", nil)
	second := get(t, http.MethodGet, url+"/metrics", nil)
	if second.code != 200 {
		t.Errorf("code %d", second.code)
	}
	wantContains(t, second.body, "levee_build_info{", `promhttp_metric_handler_errors_total{cause="gathering"} 1`)
}

func TestAdminRefuses(t *testing.T) {
	url := startAdmin(t, NewRegistry(), &Health{})
	tests := []struct {
		method, path string
		header       http.Header
		code         int
	}{
		{http.MethodPost, "/metrics", nil, 405},
		{http.MethodPut, "/readyz", nil, 405},
		{http.MethodDelete, "/healthz", nil, 405},
		{http.MethodGet, "/", nil, 404},
		{http.MethodGet, "/debug/pprof/", nil, 404},
		{http.MethodGet, "/metrics", http.Header{"X-Long": {strings.Repeat("x", 3*adminHeaderBytes)}}, 431},
	}
	for _, tt := range tests {
		got := get(t, tt.method, url+tt.path, tt.header)
		if got.code != tt.code {
			t.Errorf("%s %s: %d, want %d", tt.method, tt.path, got.code, tt.code)
		}
		if allow := got.header.Get("Allow"); tt.code == 405 && allow != "GET, HEAD" {
			t.Errorf("%s %s: Allow: %q", tt.method, tt.path, allow)
		}
	}
}

// TestAdminBoundsItsConnections: one too many is closed, until there is room.
func TestAdminBoundsItsConnections(t *testing.T) {
	url := startAdmin(t, NewRegistry(), &Health{})
	addr := strings.TrimPrefix(url, "http://")
	dial := func() net.Conn {
		t.Helper()
		c, err := (&net.Dialer{Timeout: patience}).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		return c
	}
	conns := make([]net.Conn, adminConns)
	for i := range conns {
		conns[i] = dial()
	}
	if n, err := dial().Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("one connection too many: read %d bytes, %v", n, err)
	}
	for _, c := range conns {
		_ = c.Close()
	}
	for deadline := time.Now().Add(patience); ; {
		c := dial()
		_, _ = io.WriteString(c, "GET /healthz HTTP/1.0\r\n\r\n")
		if answer, _ := io.ReadAll(c); strings.HasPrefix(string(answer), "HTTP/1.0 200") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no room after the others have gone")
		}
	}
}

func TestAdminFailsWithItsListener(t *testing.T) {
	log, _ := testLog()
	ln, err := Bind(t.Context(), "metrics-addr", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	err = admin(t.Context(), ln, http.NotFoundHandler(), log)
	if err == nil {
		t.Fatal("no error from a closed listener")
	}
	wantContains(t, err.Error(), "serve "+ln.Addr().String())
}
