package adminapi

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
)

func serve(t *testing.T, h http.Handler) netip.AddrPort {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return netip.MustParseAddrPort(s.Listener.Addr().String())
}

// What a page says is what the client reads.
func TestRoundTrip(t *testing.T) {
	keys := int64(7)
	since := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	status := Status{
		Role: "observer", ID: "obs-1", Version: "1.2.3", Started: since, Now: since, Ready: true, State: "ready",
		Storage:  &Storage{Revision: 812, Connected: true, Invalid: 1, Faults: []Fault{{"limit/x", "no"}}},
		Attempts: &Attempts{1, 2, 3}, Keys: &keys,
		Watchers: []Watcher{{
			ID: "proxy-1", Role: "client-proxy", Addr: netip.MustParseAddrPort("10.0.0.9:40000"),
			Admin: netip.MustParseAddrPort("[fd00::9]:9456"), Since: since,
		}},
		Limiters: []Link{{"l-1", true, 5}},
	}
	top := Top{HalfLife: 60, Attempts: []Key{{Resource: "photos", Method: "GET", Level: "method", Count: 2.5, Error: 1}}}
	mux := http.NewServeMux()
	mux.Handle("GET /status", Page(func() Status { return status }))
	mux.Handle("GET /top", Page(func() Top { return top }))
	addr := serve(t, mux)
	c := NewClient()
	defer c.Close()
	gotStatus, err := c.Status(t.Context(), addr)
	if err != nil || !reflect.DeepEqual(*gotStatus, status) {
		t.Errorf("read %+v, %v; want %+v", gotStatus, err, status)
	}
	gotTop, err := c.Top(t.Context(), addr)
	if err != nil || !reflect.DeepEqual(*gotTop, top) {
		t.Errorf("read %+v, %v; want %+v", gotTop, err, top)
	}
}

func TestClientRefuses(t *testing.T) {
	answers := map[string]http.HandlerFunc{
		"answers 404":                    http.NotFound,
		"answers 302":                    func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/top", http.StatusFound) },
		"does not answer what was asked": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"more than": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`"` + strings.Repeat("x", largest) + `"`))
		},
	}
	c := NewClient()
	defer c.Close()
	for want, h := range answers {
		s, err := c.Status(t.Context(), serve(t, h))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v; want an error with %q", s, err, want)
		}
	}
	if _, err := c.Status(t.Context(), netip.MustParseAddrPort("127.0.0.1:1")); err == nil {
		t.Error("no error where nobody listens")
	}
}

func TestBucketPage(t *testing.T) {
	var asked *attempt.Attempt
	want := Bucket{Level: "full", Debt: 2.5, AtOnce: 9, Remaining: 7}
	addr := serve(t, BucketPage(func(a *attempt.Attempt) Bucket {
		asked = a
		return want
	}))
	c := NewClient()
	defer c.Close()
	odd := &attempt.Attempt{Resource: []byte("a b/&?=\xff\"<"), Prefix: []byte("p/q"), Method: []byte("GET"), Hits: 1}
	got, err := c.Bucket(t.Context(), addr, odd)
	if err != nil || *got != want || !reflect.DeepEqual(asked, odd) {
		t.Errorf("%+v, %v; asked for %+v, want %+v", got, err, asked, odd)
	}
	for _, bad := range []*attempt.Attempt{{}, {Resource: []byte(" ")}, {Resource: make([]byte, attempt.MaxKeyPart+1)}} {
		if got, err := c.Bucket(t.Context(), addr, bad); err == nil || !strings.Contains(err.Error(), "answers 400") {
			t.Errorf("%d bytes: %+v, %v", len(bad.Resource), got, err)
		}
	}
}

// What is read from parameters is what an attempt would have.
func TestParseAttempt(t *testing.T) {
	a, err := ParseAttempt(url.Values{"resource": {" r "}, "prefix": {"/p/q/"}, "method": {""}})
	if err != nil || string(a.Resource) != "r" || string(a.Prefix) != "p/q" || len(a.Method) != 0 {
		t.Errorf("%q %q %q, %v", a.Resource, a.Prefix, a.Method, err)
	}
}
