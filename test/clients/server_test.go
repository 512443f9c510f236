package clients

import (
	"context"
	"log/slog"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
	wire "github.com/levee-project/levee/internal/wire"
)

// server answers attempts on a loopback port and counts them.
type server struct {
	*wire.Server
	addr string

	mu    sync.Mutex
	asked map[string]int // by resource, prefix and method, with slashes between
	bad   map[wire.Reason]int
}

// serve starts a server, which ends with the test. Attempts for the resource
// rejected are, and all others pass.
func serve(t *testing.T) *server {
	t.Helper()
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	l, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	s := &server{addr: l.Addr().String(), asked: map[string]int{}, bad: map[wire.Reason]int{}}
	s.Server = wire.NewServer(l.(*net.TCPListener), wire.Options{
		Decider:       s,
		Clock:         func() int64 { return int64(time.Since(began)) },
		Health:        func() (bool, string) { return true, "ready" },
		Headers:       func() wire.Headers { return wire.HeadersRetryAfter },
		Observe:       func(int, time.Duration) {},
		Verbose:       func() bool { return false },
		Trace:         func(*attempt.Attempt, *attempt.Outcome) {},
		Bad:           s.countBad,
		Log:           slog.New(slog.NewTextHandler(t.Output(), nil)),
		HeaderTimeout: 10 * time.Second,
		BodyTimeout:   10 * time.Second,
		IdleTimeout:   5 * time.Minute,
		WriteTimeout:  10 * time.Second,
	})
	ended := make(chan error, 1)
	go func() { ended <- s.Serve() }()
	t.Cleanup(func() {
		s.Close()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return s
}

// Attempt implements [attempt.Decider].
func (s *server) Attempt(_ int64, a *attempt.Attempt, _ attempt.Later) (attempt.Outcome, bool) {
	key := string(a.Resource)
	for _, part := range [][]byte{a.Prefix, a.Method} {
		if len(part) > 0 {
			key += "/" + string(part)
		}
	}
	s.mu.Lock()
	s.asked[key]++
	s.mu.Unlock()
	if key == "rejected" {
		return attempt.Outcome{Result: attempt.Rejected, Level: attempt.Resource, RetryAfter: 1500 * time.Millisecond}, true
	}
	return attempt.Outcome{Result: attempt.Accepted, Level: attempt.Resource}, true
}

func (s *server) countBad(r wire.Reason) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bad[r]++
}

// decided returns how many attempts were made with a key.
func (s *server) decided(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[key]
}

// checkNothingBad checks that no client was told that it is at fault.
func (s *server) checkNothingBad(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.bad) > 0 {
		t.Errorf("bad requests: %v", s.bad)
	}
}

// run runs a program, which must succeed, and returns what it prints.
func run(t *testing.T, input, program string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("%v; `make setup` installs it", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}
