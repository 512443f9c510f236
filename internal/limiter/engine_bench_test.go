package limiter

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/front"
	"github.com/levee-project/levee/internal/wire"
)

// BenchmarkMetricsShare compares the engine's CPU for a request with that of the
// same engine without any metrics, in the same run: a little of one, a little of
// the other. The clients are another process.
func BenchmarkMetricsShare(b *testing.B) {
	for _, l := range []askers{{"http1", 1}, {"http1", 16}, {"http2", 32}} {
		b.Run(fmt.Sprint(l.protocol, "/", l.together), func(b *testing.B) {
			with, without := newTestDecider(b, sharedQuota), newTestDecider(b, sharedQuota)
			r := newRival(b, l, engineWithMetrics(b, with), engineWithout(b, without))
			const warm = 4 // rounds
			var cost [2]time.Duration
			var shares []float64
			for n := 0; n <= warm+1 || b.Loop(); n++ {
				var one [2]time.Duration
				for k := range one {
					i := (n + k) % 2
					one[i] = r.round(b, i)
				}
				if n >= warm {
					cost[0], cost[1] = cost[0]+one[0], cost[1]+one[1]
					shares = append(shares, float64(one[0])/float64(one[1])-1)
				}
			}
			asked := float64(len(shares) * roundRequests)
			b.ReportMetric(float64(cost[0])/asked, "ns-CPU/request")
			b.ReportMetric(float64(cost[1])/asked, "ns-CPU/request-without")
			b.ReportMetric(100*(float64(cost[0])/float64(cost[1])-1), "%-more")
			slices.Sort(shares)
			b.ReportMetric(100*shares[len(shares)/2], "%-more-median")
			b.ReportMetric(0, "ns/op")
		})
	}
}

var sharedQuota = map[string]string{"limit/key_default": `{"rate": 1000000, "burst": 1000}`}

// unmetered decides as a [Decider] does, and keeps no count.
type unmetered struct{ *Decider }

func (u unmetered) Attempt(now int64, a *attempt.Attempt, _ attempt.Later) (o attempt.Outcome, answered bool) {
	c := u.look(u.quotas.Load(), a)
	return u.decide(now, a, &c), true
}

func (u unmetered) Attempts(now int64, as []attempt.Attempt, outcomes []attempt.Outcome) {
	quotas := u.quotas.Load()
	var cases [batch]applicable
	for len(as) > 0 {
		n := min(len(as), batch)
		for i := range n {
			cases[i] = u.look(quotas, &as[i])
		}
		for i := range n {
			outcomes[i] = u.decide(now, &as[i], &cases[i])
		}
		as, outcomes = as[n:], outcomes[n:]
	}
}

// engineWithMetrics is the port as the daemon opens it. It returns its address.
func engineWithMetrics(b *testing.B, decider *Decider) string {
	log, err := daemon.NewLog(daemon.LogOptions{Format: "text"}, io.Discard)
	if err != nil {
		b.Fatal(err)
	}
	cfg := &config.Serving{
		ListenAddr: "127.0.0.1:0", HeaderTimeout: time.Minute, BodyTimeout: time.Minute, IdleTimeout: time.Minute,
		WriteTimeout: time.Minute, ResponseHeaders: config.HeadersRetryAfter,
	}
	ctx, stop := context.WithCancelCause(context.Background())
	addr, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- daemon.Run(ctx, daemon.Options{Log: log.Logger}, func(ctx context.Context, d *daemon.Daemon) error {
			f, err := front.Open(ctx, log, cfg)
			if err != nil {
				return err
			}
			f.Serve(d, cfg, decider, decider.tally)
			f.Admit()
			addr <- f.Addr().String()
			return nil
		})
	}()
	b.Cleanup(func() {
		stop(errors.New("the benchmark is over"))
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
	return <-addr
}

// engineWithout is the same without metrics.
func engineWithout(b *testing.B, decider *Decider) string {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	s := wire.NewServer(l, wire.Options{
		Decider: unmetered{decider}, Clock: func() int64 { return int64(time.Since(began)) },
		Health:  func() (bool, string) { return true, "" },
		Headers: func() wire.Headers { return wire.HeadersRetryAfter },
		Observe: func(int, time.Duration) {}, Verbose: func() bool { return false },
		Trace: func(*attempt.Attempt, *attempt.Outcome) {}, Bad: func(wire.Reason) {}, Log: slog.New(slog.DiscardHandler),
		HeaderTimeout: time.Minute, BodyTimeout: time.Minute, IdleTimeout: time.Minute, WriteTimeout: time.Minute,
	})
	ended := make(chan error, 1)
	go func() { ended <- s.Serve() }()
	b.Cleanup(func() {
		s.Close()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
	return l.Addr().String()
}

// askers are how the clients ask: so many requests at a time on each connection.
type askers struct {
	protocol string
	together int
}

const (
	askerConns = 16
	// roundRequests are those of one round, over all connections.
	roundRequests = askerConns * 32 * 40
	// askerVariable makes this test's binary the clients.
	askerVariable = "LEVEE_LIMITER_BENCH"
)

func TestMain(m *testing.M) {
	if what := os.Getenv(askerVariable); what != "" {
		if err := beClients(what); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// rival is the process of the clients of both engines.
type rival struct {
	in  io.Writer
	out *bufio.Reader
}

func newRival(b *testing.B, l askers, addrs ...string) *rival {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s", askerVariable, l.protocol, l.together, strings.Join(addrs, " ")))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
	})
	return &rival{in: in, out: bufio.NewReader(out)}
}

// round has an engine asked, and returns the CPU that it took.
func (r *rival) round(b *testing.B, engine int) time.Duration {
	before := ownCPU(b)
	if _, err := fmt.Fprintln(r.in, engine); err != nil {
		b.Fatal(err)
	}
	if _, err := r.out.ReadString('\n'); err != nil {
		b.Fatal(err)
	}
	return ownCPU(b) - before
}

func ownCPU(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// beClients asks the engine whose number comes in, and says when it has.
func beClients(what string) error {
	args := strings.Fields(what)
	var together int
	if _, err := fmt.Sscan(args[1], &together); err != nil {
		return err
	}
	engines := make([][]*asker, len(args[2:]))
	for i, addr := range args[2:] {
		for n := range askerConns {
			a, err := newAsker(args[0], addr, together, fmt.Sprint("tenant-", n%4))
			if err != nil {
				return err
			}
			engines[i] = append(engines[i], a)
		}
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var engine int
		if _, err := fmt.Sscan(in.Text(), &engine); err != nil {
			return err
		}
		var wg sync.WaitGroup
		errs := make([]error, askerConns)
		for n, a := range engines[engine] {
			wg.Go(func() { errs[n] = a.ask(roundRequests / askerConns) })
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		fmt.Println("asked")
	}
	return nil
}

// asker is one connection.
type asker struct {
	net.Conn
	r        *bufio.Reader
	together int
	resource string

	h2     bool
	framer *http2.Framer
	out    bytes.Buffer
	block  bytes.Buffer
	enc    *hpack.Encoder
	stream uint32
}

func newAsker(protocol, addr string, together int, resource string) (*asker, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	a := &asker{Conn: c, r: bufio.NewReader(c), together: together, resource: resource, h2: protocol == "http2", stream: 1}
	if a.h2 {
		a.enc = hpack.NewEncoder(&a.block)
		a.framer = http2.NewFramer(&a.out, a.r)
		a.out.WriteString(http2.ClientPreface)
		if err := a.framer.WriteSettings(); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// ask asks n times.
func (a *asker) ask(n int) error {
	for ; n > 0; n -= a.together {
		spell, read := a.spell1, a.read1
		if a.h2 {
			spell, read = a.spell2, a.read2
		}
		for range a.together {
			if err := spell(); err != nil {
				return err
			}
		}
		if _, err := a.Write(a.out.Bytes()); err != nil {
			return err
		}
		a.out.Reset()
		for range a.together {
			if err := read(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *asker) spell1() error {
	_, err := fmt.Fprintf(&a.out, "POST /attempt HTTP/1.1\r\nHost: levee:5454\r\nUser-Agent: Go-http-client/1.1\r\n"+
		"Content-Length: 0\r\nX-Resource: %s\r\nX-Method: GET\r\n\r\n", a.resource)
	return err
}

// read1 reads an answer that has no body.
func (a *asker) read1() error {
	for {
		line, err := a.r.ReadSlice('\n')
		if err != nil || len(line) == 2 {
			return err
		}
	}
}

func (a *asker) spell2() error {
	a.block.Reset()
	for _, f := range [][2]string{
		{":method", "POST"},
		{":scheme", "http"},
		{":path", "/attempt"},
		{":authority", "levee:5454"},
		{"user-agent", "h2load"},
		{"x-resource", a.resource},
		{"x-method", "GET"},
	} {
		if err := a.enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}); err != nil {
			return err
		}
	}
	defer func() { a.stream += 2 }()
	return a.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: a.stream, BlockFragment: a.block.Bytes(), EndHeaders: true, EndStream: true,
	})
}

func (a *asker) read2() error {
	for {
		f, err := a.framer.ReadFrame()
		if err != nil {
			return err
		}
		switch f := f.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				if err := a.framer.WriteSettingsAck(); err != nil {
					return err
				}
			}
		case *http2.HeadersFrame:
			if f.StreamEnded() {
				return nil
			}
		case *http2.DataFrame:
			if f.StreamEnded() {
				return nil
			}
		case *http2.GoAwayFrame:
			return fmt.Errorf("the engine goes away: %v", f.ErrCode)
		}
	}
}
