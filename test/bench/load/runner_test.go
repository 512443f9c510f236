package load

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// limiter is a real server that accepts all but every refuse-th question, and
// keeps book of what it was asked.
type limiter struct {
	addr    netip.AddrPort
	refuse  uint64
	asked   atomic.Uint64
	faults  atomic.Uint64
	mu      sync.Mutex
	ids     map[string]int // guarded by mu
	sources map[string]int // guarded by mu: connections from an address
}

func newLimiter(t *testing.T, refuse uint64) *limiter {
	t.Helper()
	l := &limiter{refuse: refuse, ids: map[string]int{}, sources: map[string]int{}}
	listener := listen(t)
	l.addr = addrOf(t, listener)
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{Handler: l, Protocols: protocols, ReadHeaderTimeout: 300 * time.Millisecond}
	server.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateNew {
			host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
			l.mu.Lock()
			defer l.mu.Unlock()
			l.sources[host]++
		}
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return l
}

func (l *limiter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := r.Header
	if r.Method != http.MethodPost || r.URL.Path != "/attempt" || r.Host != l.addr.String() || r.ContentLength > 0 ||
		!strings.HasPrefix(h.Get("X-Resource"), "tenant-") || h.Get("X-Prefix") != "checkout-api" || h.Get("X-Method") != "GET" {
		l.faults.Add(1)
	}
	l.mu.Lock()
	l.ids[h.Get("X-Req-Id")]++
	l.mu.Unlock()
	if n := l.asked.Add(1); l.refuse > 0 && n%l.refuse == 0 {
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, "too many\n")
	}
}

// questions is how many different ones there were.
func (l *limiter) questions() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.ids)
}

// connected is how many connections there were.
func (l *limiter) connected() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, from := range l.sources {
		n += from
	}
	return n
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func addrOf(t *testing.T, l net.Listener) netip.AddrPort {
	t.Helper()
	addr, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

func run(t *testing.T, p Plan) *Tally {
	t.Helper()
	got, err := p.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Every question reaches the server once, whole and right, and every answer is
// counted under its status.
func TestClosedLoop(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]Plan{
		"HTTP/1.1":             {Protocol: HTTP1, Connections: 4, InFlight: 1},
		"HTTP/1.1, pipelined":  {Protocol: HTTP1, Connections: 3, InFlight: 16},
		"h2c, 1 stream":        {Protocol: H2C, Connections: 4, InFlight: 1},
		"h2c, 32 streams":      {Protocol: H2C, Connections: 2, InFlight: 32},
		"h2c, as many as it's": {Protocol: H2C, Connections: 1, InFlight: MaxInFlight},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLimiter(t, 10)
			p.Addr, p.Keys, p.Warm, p.For = l.addr, 1000, 50*time.Millisecond, 200*time.Millisecond
			p.Begin = func() error { return nil }
			got := run(t, p)
			if total := int(l.asked.Load()); got.Total != total || got.Requests < 1 || got.Requests >= total {
				t.Errorf("%d answers, %d of them counted, to %d questions", got.Total, got.Requests, total)
			}
			if l.faults.Load() != 0 {
				t.Errorf("%d of %d questions are wrong", l.faults.Load(), l.asked.Load())
			}
			if n := l.questions(); n != got.Total {
				t.Errorf("%d ids in %d questions", n, got.Total)
			}
			if n := got.Answers[200] + got.Answers[429]; n != got.Requests || got.Answers[200] != got.Accepted() || n != got.Latency.Count() {
				t.Errorf("%d counted, answers are %v, %d latencies", got.Requests, got.Answers, got.Latency.Count())
			}
			if refused := float64(got.Answers[429]) / float64(got.Requests); refused < 0.05 || refused > 0.15 {
				t.Errorf("%.3f of the answers are refusals, not a tenth: %v", refused, got.Answers)
			}
			if got.Took < p.For || got.CPU <= 0 || got.Latency.Quantile(0.5) <= 0 || got.PerSecond() <= 0 {
				t.Errorf("%v, of it %v CPU, %v median, %v/s", got.Took, got.CPU, got.Latency.Quantile(0.5), got.PerSecond())
			}
		})
	}
}

// An open loop asks what is due, and not more.
func TestOpenLoop(t *testing.T) {
	t.Parallel()
	for _, protocol := range []Protocol{HTTP1, H2C} {
		l := newLimiter(t, 0)
		turns := 0
		got := run(t, Plan{
			Addr: l.addr, Protocol: protocol, Connections: 8, InFlight: 1, Keys: 10, Rate: 500, For: 400 * time.Millisecond,
			Beside: func(time.Duration) { turns++ },
		})
		// All that were due are asked in the end, but an answer may come after the
		// counted part.
		if got.Total > 210 || got.Requests > got.Total || got.Requests < 1 {
			t.Errorf("%v: %d and %d answers, 200 were due", protocol, got.Requests, got.Total)
		}
		if turns == 0 {
			t.Errorf("%v: nothing beside", protocol)
		}
	}
}

// A server that stalls shows it in an open loop: what was due meanwhile has
// waited.
func TestOpenLoopHidesNothing(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	const stall = 200 * time.Millisecond
	var first sync.Once
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		first.Do(func() { <-time.After(stall) })
	})}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	got := run(t, Plan{Addr: addrOf(t, listener), Protocol: HTTP1, Connections: 1, InFlight: 1, Keys: 1, Rate: 100, For: 2 * stall})
	_ = server.Close()
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	if p90 := got.Latency.Quantile(0.9); p90 < stall/2 {
		t.Errorf("every tenth waits longer than %v, and the server stalled %v", p90, stall)
	}
}

// answering is a server that says the same to whoever writes to it, and then
// may close.
func answering(t *testing.T, says string, closes bool) netip.AddrPort {
	t.Helper()
	l := listen(t)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				var in [4096]byte
				if _, err := c.Read(in[:]); err != nil {
					return
				}
				_, _ = io.WriteString(c, says)
				for !closes {
					if _, err := c.Read(in[:]); err != nil {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		all.Wait()
	})
	return addrOf(t, l)
}

// A run that something is wrong with ends with an error that says what.
func TestFaults(t *testing.T) {
	t.Parallel()
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	for _, c := range []struct {
		name     string
		protocol Protocol
		says     string
		closes   bool
		want     string
	}{
		{"closes", HTTP1, ok, true, "closed"},
		{"says too much", HTTP1, ok + ok + ok, false, "belongs to no question"},
		{"says nonsense", HTTP1, "SSH-2.0\r\n\r\n", false, "no answer of HTTP/1.1"},
		{"goes away", H2C, "\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0b", false, "ENHANCE_YOUR_CALM"},
		{"answers what was not asked", H2C, "\x00\x00\x01\x01\x05\x00\x00\x00\x09\x88", false, "belongs to no question"},
		{"takes few streams", H2C, "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x01", false, "1 streams"},
		{"speaks HTTP/1.1", H2C, ok, false, "octets"},
		{"splits a head", H2C, "\x00\x00\x01\x01\x01\x00\x00\x00\x01\x88", false, "form not read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := Plan{Addr: answering(t, c.says, c.closes), Protocol: c.protocol, Connections: 1, InFlight: 2, Keys: 1, For: 10 * time.Second}
			if _, err := p.Run(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want what mentions %q", err, c.want)
			}
		})
	}
}

// A stream that is reset is an answer, of no status.
func TestReset(t *testing.T) {
	t.Parallel()
	h, got := newHTTP2("host", 1), new(heard)
	_, first := h.ask(nil, 1, 1)
	used, err := h.hear([]byte("\x00\x00\x04\x03\x00\x00\x00\x00\x01\x00\x00\x00\x07"), got)
	if err != nil || used != 13 || len(got.answers) != 1 || got.answers[0] != (answer{first, 0}) {
		t.Errorf("%d octets, %v, %v", used, got.answers, err)
	}
}

// A ping is answered with what it carries, and an answer with a body counts when
// the body ends.
func TestPingAndBody(t *testing.T) {
	t.Parallel()
	h, got := newHTTP2("host", 1), new(heard)
	_, first := h.ask(nil, 1, 1)
	in := "\x00\x00\x08\x06\x00\x00\x00\x00\x00abcdefgh" + "\x00\x00\x01\x01\x04\x00\x00\x00\x01\x8d"
	used, err := h.hear([]byte(in+"\x00\x00\x02\x00\x01"), got)
	if err != nil || used != len(in) || string(got.reply) != "\x00\x00\x08\x06\x01\x00\x00\x00\x00abcdefgh" || len(got.answers) != 0 {
		t.Errorf("%d octets, reply %q, answers %v, %v", used, got.reply, got.answers, err)
	}
	if _, err = h.hear([]byte("\x00\x00\x02\x00\x01\x00\x00\x00\x01no"), got); err != nil || len(got.answers) != 1 || got.answers[0] != (answer{first, 404}) {
		t.Errorf("answers %v, %v", got.answers, err)
	}
}

func TestPlansThatCannotBe(t *testing.T) {
	t.Parallel()
	good := Plan{Protocol: HTTP1, Connections: 1, InFlight: 1, Keys: 1}
	if err := good.check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Plan){
		"connections": func(p *Plan) { p.Connections = 0 },
		"in flight":   func(p *Plan) { p.InFlight = MaxInFlight + 1 },
		"keys":        func(p *Plan) { p.Keys = maxKeys + 1 },
		"open loop":   func(p *Plan) { p.Rate, p.InFlight = 1, 2 },
		"protocol":    func(p *Plan) { p.Protocol = "h3" },
	} {
		p := good
		change(&p)
		if _, err := p.Run(t.Context()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestStopped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	addr := answering(t, "", false)
	_, err := Plan{Addr: addr, Protocol: HTTP1, Connections: 1, InFlight: 1, Keys: 1, For: time.Minute}.Run(ctx)
	if err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("got %v", err)
	}
}

// Connections are dealt to several servers in turn.
func TestSeveralServers(t *testing.T) {
	t.Parallel()
	a, b := newLimiter(t, 0), newLimiter(t, 0)
	got := run(t, Plan{Addrs: []netip.AddrPort{a.addr, b.addr}, Protocol: H2C, Connections: 5, InFlight: 2, Keys: 10, For: 100 * time.Millisecond})
	if n, m := a.connected(), b.connected(); n != 3 || m != 2 {
		t.Errorf("%d and %d of 5 connections", n, m)
	}
	if n, m := a.questions(), b.questions(); n == 0 || m == 0 || n+m != got.Total || a.faults.Load()+b.faults.Load() > 0 {
		t.Errorf("%d and %d of %d questions", n, m, got.Total)
	}
	nobody := listen(t)
	_ = nobody.Close()
	_, err := Plan{Addrs: []netip.AddrPort{a.addr, addrOf(t, nobody)}, Protocol: H2C, Connections: 2, InFlight: 1, Keys: 1}.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "connect to "+addrOf(t, nobody).String()) {
		t.Errorf("got %v", err)
	}
}
