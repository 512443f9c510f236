package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// serve answers attempts with another server, in both protocols.
func serve(t *testing.T, handler http.HandlerFunc, more ...func(s *http.Server)) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: handler, Protocols: new(http.Protocols), ErrorLog: log.New(io.Discard, "", 0)}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	for _, change := range more {
		change(s)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return l.Addr().(*net.TCPAddr).AddrPort()
}

func plan(addr netip.AddrPort, change func(p *Plan)) *Plan {
	p := &Plan{
		Addr: addr, Host: "here:1", Connections: 2, Streams: 1, Resource: "r", Prefix: "p", Method: "GET", Keys: 1,
		Duration: 200 * time.Millisecond, Timeout: 10 * time.Second,
	}
	if change != nil {
		change(p)
	}
	return p
}

func run(t *testing.T, p *Plan) *Tally {
	t.Helper()
	tally, err := p.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tally
}

// Every attempt is one that another server understands, and every answer is counted
// as what it is.
func TestAnswersAreCounted(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		for _, rate := range []float64{0, 2000} {
			t.Run(fmt.Sprintf("http2=%v,rate=%v", http2, rate), func(t *testing.T) {
				var asked [3]atomic.Int64
				addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
					if r.Method != http.MethodPost || r.URL.Path != "/attempt" || r.Host != "here:1" || r.Header.Get("X-Prefix") != "p" || r.Header.Get("X-Method") != "GET" {
						t.Errorf("%s %s of %s: %v", r.Method, r.URL, r.Host, r.Header)
					}
					var key int
					if _, err := fmt.Sscanf(r.Header.Get("X-Resource"), "r-%d", &key); err != nil || key > 2 {
						t.Errorf("resource %s", r.Header.Get("X-Resource"))
						return
					}
					asked[key].Add(1)
					switch key {
					case 1:
						w.WriteHeader(http.StatusTooManyRequests)
					case 2:
						http.Error(w, strings.Repeat("no quotas ", 100), http.StatusInternalServerError)
					}
				})
				tally := run(t, plan(addr, func(p *Plan) {
					p.HTTP2, p.Rate, p.Keys = http2, rate, 3
					if http2 {
						p.Streams = 10
					}
				}))
				if tally.Accepted != asked[0].Load() || tally.Rejected != asked[1].Load() || tally.Failed != asked[2].Load() || tally.Lost > 0 {
					t.Errorf("%d %d %d, %d lost: %v; asked %d %d %d", tally.Accepted, tally.Rejected, tally.Failed, tally.Lost, tally.Why,
						asked[0].Load(), asked[1].Load(), asked[2].Load())
				}
				if tally.Failed < 10 || tally.Times.n != tally.Answers() || rate > 0 && tally.Answers() != 400 {
					t.Errorf("%d answers, %d failed", tally.Answers(), tally.Failed)
				}
				if tally.Took < 200*time.Millisecond || tally.Later.Took <= 0 || tally.Later.Answers >= tally.Answers() || tally.CPU <= 0 {
					t.Errorf("took %v, later %+v, CPU %v", tally.Took, tally.Later, tally.CPU)
				}
			})
		}
	}
}

// A server that stalls cannot hide it: the attempts that were due meanwhile have
// waited too.
func TestStallsAreSeen(t *testing.T) {
	const stall = 300 * time.Millisecond
	var n atomic.Int64
	addr := serve(t, func(http.ResponseWriter, *http.Request) {
		if n.Add(1) == 10 {
			<-time.After(stall)
		}
	})
	tally := run(t, plan(addr, func(p *Plan) { p.Connections, p.Rate, p.Duration = 1, 1000, 2*stall }))
	if tally.Answers() != 600 || tally.Lost > 0 {
		t.Fatalf("%d answers, %d lost: %v", tally.Answers(), tally.Lost, tally.Why)
	}
	// A half of them were due while it stalled; they have waited half as long, on average.
	if got := tally.Times.Quantile(.75); got < stall/4 {
		t.Errorf("three quarters were answered within %v", got)
	}
}

// What waits too long for a connection is lost, and so is what is not answered; both
// are said.
func TestLateAttemptsAreLost(t *testing.T) {
	release := make(chan struct{})
	addr := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	for _, http2 := range []bool{false, true} {
		tally := run(t, plan(addr, func(p *Plan) { p.HTTP2, p.Rate, p.Timeout = http2, 100, 50*time.Millisecond }))
		if tally.Answers() != 0 || tally.Lost != 20 || !errors.Is(tally.Why, errLate) && !errors.Is(tally.Why, errUnasked) {
			t.Errorf("http2 %v: %d answers, %d lost: %v", http2, tally.Answers(), tally.Lost, tally.Why)
		}
	}
}

// A connection that the server closes is made again, with and without a word.
func TestConnectionsAreMadeAgain(t *testing.T) {
	var n, aborted atomic.Int64
	addr := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		switch n.Add(1) % 10 {
		case 3:
			w.Header().Set("Connection", "close") // GOAWAY in HTTP/2
		case 7:
			aborted.Add(1)
			panic(http.ErrAbortHandler) // a reset stream in HTTP/2
		}
	})
	for _, http2 := range []bool{false, true} {
		tally := run(t, plan(addr, func(p *Plan) { p.HTTP2, p.Rate, p.Duration = http2, 200, 500*time.Millisecond }))
		if tally.Accepted+tally.Lost != 100 || tally.Lost != aborted.Swap(0) || tally.Lost == 0 {
			t.Errorf("http2 %v: %+v", http2, tally)
		}
	}
}

// One that is closed while nothing is under way costs no attempt.
func TestIdleConnectionsThatAreClosed(t *testing.T) {
	var opened atomic.Int64
	addr := serve(t, func(http.ResponseWriter, *http.Request) {}, func(s *http.Server) {
		s.IdleTimeout = 20 * time.Millisecond
		s.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				opened.Add(1)
			}
		}
	})
	for _, http2 := range []bool{false, true} {
		opened.Store(0)
		tally := run(t, plan(addr, func(p *Plan) { p.HTTP2, p.Rate, p.Duration = http2, 2, 3*time.Second }))
		if tally.Accepted != 6 || tally.Lost > 0 || opened.Load() < 5 {
			t.Errorf("http2 %v: %d connections, %+v", http2, opened.Load(), tally.Why)
		}
	}
}

func TestRunEndsEarly(t *testing.T) {
	addr := serve(t, func(http.ResponseWriter, *http.Request) {})
	ctx, cancel := context.WithCancel(t.Context())
	told := 0
	p := plan(addr, func(p *Plan) {
		p.Duration, p.Rate = time.Hour, 100
		p.Progress = func(_ time.Duration, sofar *Tally) {
			if told++; told == 2 && sofar.Answers() > 100 {
				cancel()
			}
		}
	})
	tally, err := p.Run(ctx)
	if err != nil || told != 2 || tally.Took < 2*time.Second || tally.Took > time.Minute || tally.Lost > 0 || tally.Later.Answers == 0 {
		t.Errorf("%v, told %d, %+v", err, told, tally)
	}
}

func TestRunThatCannotBegin(t *testing.T) {
	here := serve(t, func(http.ResponseWriter, *http.Request) {})
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		ctx    context.Context
		change func(p *Plan)
		want   string
	}{
		"nobody": {t.Context(), func(p *Plan) { p.Addr = netip.MustParseAddrPort("127.0.0.1:1") }, "connection refused"},
		"silent": {t.Context(), func(p *Plan) {
			p.Addr, p.HTTP2, p.Timeout = silent.Addr().(*net.TCPAddr).AddrPort(), true, 50*time.Millisecond
		}, "2 of 2 connections are not made in time"},
		"cancelled": {gone, func(p *Plan) { p.HTTP2 = true }, "context canceled"},
		"line feed": {t.Context(), func(p *Plan) { p.Resource = "a\nX-Hits: 0" }, "no HTTP field can carry it"},
		"streams":   {t.Context(), func(p *Plan) { p.HTTP2, p.Streams = true, 1000 }, "permits 250 attempts at once on a connection, not 1000"},
	} {
		if _, err := plan(here, tt.change).Run(tt.ctx); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
