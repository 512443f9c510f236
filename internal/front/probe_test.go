package front

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestReachable(t *testing.T) {
	for listen, want := range map[string]string{
		"0.0.0.0:5454":   "127.0.0.1:5454",
		"[::]:5454":      "[::1]:5454",
		"192.0.2.1:80":   "192.0.2.1:80",
		"127.0.0.1:5454": "127.0.0.1:5454",
	} {
		addr, err := net.ResolveTCPAddr("tcp", listen)
		if err != nil {
			t.Fatal(err)
		}
		if got := reachable(addr); got != want {
			t.Errorf("%s is reached at %s, want %s", listen, got, want)
		}
	}
}

// Any answer proves that the process works; none does not.
func TestProbe(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	ask := probe(s.Listener.Addr())
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for range 2 {
		if err := ask(ctx); err != nil {
			t.Errorf("while it answers: %v", err)
		}
	}
	s.Close()
	if err := ask(ctx); err == nil {
		t.Error("no error when nobody listens")
	}
}
