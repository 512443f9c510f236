package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// It limits each key by itself, as the others do.
func TestLimits(t *testing.T) {
	t.Parallel()
	l := newLimiter()
	ask := func(resource, method string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "/attempt", http.NoBody)
		r.Header.Set("X-Resource", resource)
		r.Header.Set("X-Method", method)
		w := httptest.NewRecorder()
		l.ServeHTTP(w, r)
		return w
	}
	for n := range 6 {
		if got := ask("tight", "GET").Code; got != http.StatusOK {
			t.Fatalf("attempt %d: %d", n+1, got)
		}
	}
	if got := ask("tight", "GET"); got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") != "1" {
		t.Errorf("attempt 7: %d, Retry-After %q", got.Code, got.Header().Get("Retry-After"))
	}
	if got := ask("tight", "PUT").Code; got != http.StatusOK {
		t.Errorf("another key: %d", got)
	}
	for range 100 {
		if got := ask("loose", "GET").Code; got != http.StatusOK {
			t.Fatalf("no limit in reach: %d", got)
		}
	}
	if got := ask("", "GET").Code; got != http.StatusBadRequest {
		t.Errorf("no resource: %d", got)
	}
}
