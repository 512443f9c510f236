package graphite

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

const interval = 15 * time.Second

// site is a bridge with a network made of pipes, for tests in which time is not
// real.
type site struct {
	*Bridge
	value prometheus.Gauge // what is pushed, beside the bridge's own

	mu    sync.Mutex // guards the rest
	serve func(net.Conn)
	dials []time.Time
}

// newSite returns a bridge whose collector is a function that has each
// connection; while it is nil there is no collector.
func newSite(serve func(net.Conn)) *site {
	r := prometheus.NewRegistry()
	s := &site{
		Bridge: New(Options{
			Network: "tcp", Address: "collector:2003", Interval: interval, Registry: r, Log: slog.New(slog.DiscardHandler),
		}),
		value: gauge("value", 0, nil),
		serve: serve,
	}
	r.MustRegister(s.value)
	s.connect = func(context.Context, string, string) (net.Conn, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.dials = append(s.dials, time.Now())
		if s.serve == nil {
			return nil, errors.New("connection refused")
		}
		near, far := net.Pipe()
		go s.serve(far)
		return near, nil
	}
	return s
}

func (s *site) collector(serve func(net.Conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serve = serve
}

// run runs the bridge until the function that it returns is called, which returns
// when it has ended.
func (s *site) run(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// waiting is how many polls wait, and how many lines the first of them has.
func (s *site) waiting() (polls, lines int) {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	if polls = len(s.queue.polls); polls > 0 {
		lines = s.queue.polls[0].count
	}
	return polls, lines
}

// dialled is when connections were tried.
func (s *site) dialled() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.dials)
}

func (s *site) dropped(reason string) float64 {
	return testutil.ToFloat64(s.metrics.dropped.WithLabelValues(reason))
}

// book is what a collector has been told: value by series and second.
type book struct {
	mu     sync.Mutex // guards the rest
	values map[string]string
	order  []string // of the series "value"
}

func (b *book) read(from io.Reader) {
	for lines := bufio.NewScanner(from); lines.Scan(); {
		b.line(lines.Text())
	}
}

func (b *book) line(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := strings.Fields(text)
	if len(f) != 3 {
		return // what a broken connection has cut
	}
	if b.values == nil {
		b.values = map[string]string{}
	}
	b.values[f[0]+" "+f[2]] = f[1]
	if f[0] == "value" {
		b.order = append(b.order, f[1])
	}
}

func (b *book) told() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.order
}

func (b *book) lines() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.values)
}

// pass has time pass, and what happens meanwhile happen.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // in a synctest bubble
	synctest.Wait()
}
