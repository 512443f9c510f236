package observer

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/levee-project/levee/internal/config"
)

// The console is served while the observer still waits for its entry, and as long
// as it runs.
func TestConsole(t *testing.T) {
	s := newShared(t)
	addr := home("a").Service.String()
	r := s.start("a", func(c *config.Observer) { c.HTTPAddr = addr })
	r.says("waiting for the entry")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	get := func(path string) (code int, body string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(text)
	}
	if code, body := get("/"); code != http.StatusOK || !strings.Contains(body, "<title>a ·") {
		t.Errorf("the page: %d\n%s", code, body)
	}
	if code, body := get("/console/group?resource=r"); code != http.StatusOK || !strings.Contains(body, `"wanted":1`) {
		t.Errorf("the picture: %d %s", code, body)
	}
	if code, _ := get("/metrics"); code != http.StatusNotFound {
		t.Errorf("the console has the pages of the admin port: %d", code)
	}

	taken := s.start("b", func(c *config.Observer) { c.HTTPAddr = addr })
	if err := taken.end(); err == nil || !strings.Contains(err.Error(), "http-addr: ") {
		t.Errorf("an address that is taken: %v", err)
	}
	r.stop()
	_ = r.end() // it was stopped while it waited
	if c, err := net.Listen("tcp", addr); err != nil {
		t.Errorf("somebody still listens: %v", err)
	} else {
		_ = c.Close()
	}
}
