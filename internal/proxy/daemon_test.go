package proxy

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/keytable"
	"github.com/levee-project/levee/internal/program"
	"github.com/levee-project/levee/internal/quota"
	"github.com/levee-project/levee/internal/status"
	"github.com/levee-project/levee/internal/topology"
	"github.com/levee-project/levee/internal/topologyrpc"
	"github.com/levee-project/levee/internal/tree"
	"github.com/levee-project/levee/internal/wire"
)

// enough is more than anything in these tests takes.
const enough = 20 * time.Second

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(enough); !holds(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("not in %s: %s", enough, what)
		}
	}
}

// realLimiter decides shares of quotas over real connections.
type realLimiter struct {
	member topology.Member
	server *wire.Server
	quotas *quota.Snapshot
	table  *keytable.Table
	asked  atomic.Int64
	mute   atomic.Bool // it takes attempts and says nothing
	ended  chan struct{}
}

// Attempt implements [attempt.Decider]. The limiter is one of a group of two.
func (l *realLimiter) Attempt(now int64, a *attempt.Attempt, _ attempt.Later) (o attempt.Outcome, answered bool) {
	if l.mute.Load() {
		return o, false
	}
	l.asked.Add(1)
	q, level := l.quotas.Resolve(a)
	if q == nil {
		return accepted, true
	}
	limit := q.Limit(quota.Share{Num: 1, Den: 2})
	tat, ok := l.table.Take(now, l.table.Bucket(quota.AppendBucket(nil, level, a)), &limit, int64(a.Hits))
	o = attempt.Outcome{Result: attempt.Accepted, Level: level, Policy: attempt.Policy{
		Limit: limit.Fit, Window: time.Duration(limit.Tolerance + limit.Interval), Remaining: limit.Remaining(tat, now),
	}}
	if !ok {
		o.Result, o.Over = attempt.Rejected, true
		o.RetryAfter, _ = limit.Wait(tat, now, int64(a.Hits))
	}
	return o, true
}

// clock is that of the limiters.
func clock() func() int64 {
	began := time.Now()
	return func() int64 { return int64(time.Since(began)) }
}

// startLimiter starts a limiter at addr.
func startLimiter(t *testing.T, id, addr string, entries map[string]string) *realLimiter {
	t.Helper()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	l := &realLimiter{table: keytable.New(keytable.Key{1, 2}, 0), ended: make(chan struct{})}
	l.quotas, _ = quota.NewCompiler().Compile(&tree.Tree{Revision: 1, Entries: entries})
	l.member = limiterMember(id, time.Now().UnixNano())
	l.member.Service = netip.MustParseAddrPort(ln.Addr().String())
	l.server = wire.NewServer(ln.(*net.TCPListener), wire.Options{
		Decider: l, Clock: clock(),
		Health:        func() (bool, string) { return true, "ready" },
		Headers:       func() wire.Headers { return wire.HeadersRateLimit },
		Observe:       func(int, time.Duration) {},
		Verbose:       func() bool { return false },
		Bad:           func(wire.Reason) {},
		Log:           slog.New(slog.DiscardHandler),
		HeaderTimeout: enough, BodyTimeout: enough, IdleTimeout: enough, WriteTimeout: enough,
	})
	go func() {
		defer close(l.ended)
		if err := l.server.Serve(); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(l.kill)
	return l
}

// kill ends a limiter without a word.
func (l *realLimiter) kill() {
	l.server.Close()
	<-l.ended
}

// realObserver tells the topology over real connections.
type realObserver struct {
	server *topologyrpc.Server
	addr   string
	end    context.CancelFunc
	ended  chan struct{}
	rev    int64
}

func startObserver(t *testing.T, addr string) *realObserver {
	t.Helper()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	o := &realObserver{addr: ln.Addr().String(), ended: make(chan struct{})}
	o.server = topologyrpc.NewServer(topologyrpc.ServerOptions{
		ID: "o1", Log: slog.New(slog.DiscardHandler), Forget: func(string) error { return nil },
	})
	var ctx context.Context
	ctx, o.end = context.WithCancel(context.Background())
	go func() {
		defer close(o.ended)
		if err := o.server.Serve(ctx, ln); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(o.stop)
	return o
}

func (o *realObserver) stop() {
	o.end()
	<-o.ended
}

// publish tells that these limiters serve.
func (o *realObserver) publish(limiters ...*realLimiter) {
	var members []topology.Member
	for _, l := range limiters {
		members = append(members, l.member)
	}
	o.rev++
	o.server.Publish(topology.NewView(o.rev, members))
	o.server.SetServing(true)
}

// process is a client-proxy under test, all of it but the reading of options.
type process struct {
	addr   string
	daemon *daemon.Daemon
	stop   context.CancelFunc
	ended  chan error
}

// freeAddr returns an address that nobody listens on. It stays free: connections
// come from 127.0.0.1, and no two addresses of one test process are the same.
func freeAddr(t *testing.T) string {
	t.Helper()
	n := addrs.Add(1)
	ln, err := net.Listen("tcp", fmt.Sprintf("127.%d.%d.%d:0", 1+os.Getpid()%250, n/250, 1+n%250))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	return ln.Addr().String()
}

// startProxy starts a client-proxy that finds an observer at an address. It has
// bound its own when startProxy returns.
func startProxy(t *testing.T, observer string, change func(*config.ClientProxy)) *process {
	t.Helper()
	store := filepath.Join(t.TempDir(), "storage.yaml")
	text := fmt.Sprintf("limit: {key_default: {rate: 1, per: 1h, burst: 39}, key: {free: {quota: {rate: 1e6, burst: 1e6}}}}\n"+
		"factor: {default: 2}\nobserver: {o1: {gossip: '127.0.0.1:1', service: '%s'}}\n", observer)
	if err := os.WriteFile(store, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cfg := &config.ClientProxy{
		AttemptTimeout: 500 * time.Millisecond, ObserverTimeout: enough,
		OnFailure: config.FailureFail, OnObserverLoss: config.ObserverLossExit,
	}
	cfg.Storage.Addrs = []string{"file://" + store}
	cfg.Serving = config.Serving{
		ListenAddr: freeAddr(t), ResponseHeaders: config.HeadersRateLimit,
		HeaderTimeout: enough, BodyTimeout: enough, IdleTimeout: enough, WriteTimeout: enough,
		DrainTimeout: 5 * time.Second, GCPeriod: time.Hour,
	}
	if change != nil {
		change(cfg)
	}
	log, err := daemon.NewLog(daemon.LogOptions{Name: "levee-client-proxy", Format: "text"}, testLog{t})
	if err != nil {
		t.Fatal(err)
	}
	run := &program.Run[*config.ClientProxy]{Config: cfg, Log: log}
	ctx, stop := context.WithCancel(context.Background())
	p := &process{addr: cfg.ListenAddr, stop: stop, ended: make(chan error, 1)}
	began := make(chan *daemon.Daemon, 1)
	go func() {
		p.ended <- daemon.Run(ctx, daemon.Options{Log: log.Logger}, func(ctx context.Context, d *daemon.Daemon) error {
			began <- d
			run.Status = status.New("client-proxy", cfg.InstanceID, d.Health)
			return (&proxy{cfg: cfg}).setup(ctx, d, run)
		})
		close(p.ended)
	}()
	p.daemon = <-began
	t.Cleanup(func() {
		p.stop()
		for range p.ended { // what it ended with is the test's business
		}
	})
	return p
}

// testLog is where a daemon's log goes.
type testLog struct{ t *testing.T }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Logf("%s", strings.TrimSpace(string(p)))
	return len(p), nil
}

func (p *process) health() string {
	_, text := p.daemon.Health.Ready()
	return text
}

// attempt makes an attempt over HTTP/1.1 and returns the answer's status and text.
func (p *process) attempt(client *http.Client, resource string) (int, string, http.Header) {
	req, err := http.NewRequest(http.MethodPost, "http://"+p.addr+"/attempt", http.NoBody)
	if err != nil {
		return 0, err.Error(), nil
	}
	req.Header.Set("X-Resource", resource)
	res, err := client.Do(req)
	if err != nil {
		return 0, err.Error(), nil
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error(), nil
	}
	return res.StatusCode, string(text), res.Header
}

var addrs atomic.Int64

func newClient(t *testing.T) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 10}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: enough}
}

var clusterEntries = map[string]string{
	"limit/key_default":    `{"rate": 1, "per": "1h", "burst": 39}`,
	"limit/key/free/quota": `{"rate": 1e6, "burst": 1e6}`,
}

// The whole daemon between real clients, limiters and an observer: it waits for
// what it needs and says so, deals a quota exactly, and loses no attempt while a
// limiter is killed, comes back, and the whole stops.
func TestDaemon(t *testing.T) {
	observerAt := freeAddr(t)
	p := startProxy(t, observerAt, nil)
	client := newClient(t)
	eventually(t, "the proxy waits for an observer", func() bool {
		return strings.HasPrefix(p.health(), "starting: waiting for an observer")
	})
	if status, text, _ := p.attempt(client, "r"); status != http.StatusInternalServerError || !strings.Contains(text, noLimiter) {
		t.Errorf("before the topology: %d %q", status, text)
	}

	a, b, c := startLimiter(t, "a", freeAddr(t), clusterEntries), startLimiter(t, "b", freeAddr(t), clusterEntries),
		startLimiter(t, "c", freeAddr(t), clusterEntries)
	observer := startObserver(t, observerAt)
	observer.publish(a, b, c)
	eventually(t, "the proxy is ready", func() bool { return p.health() == "ready" })

	// 40 of a bucket pass at once, 20 by each limiter of the group.
	for resource := range 20 {
		passed := 0
		for range 50 {
			status, text, header := p.attempt(client, fmt.Sprint("r", resource))
			switch {
			case status == http.StatusOK:
				passed++
				if q := header.Get("RateLimit-Policy"); !strings.HasPrefix(q, `"resource";q=40;`) {
					t.Fatalf("RateLimit-Policy: %q", q)
				}
			case status != http.StatusTooManyRequests || header.Get("Retry-After") == "":
				t.Fatalf("%d %q", status, text)
			}
		}
		if passed != 40 {
			t.Errorf("%d attempts of resource %d passed, want 40", passed, resource)
		}
	}

	var load sync.WaitGroup
	over := make(chan struct{})
	asked := func() int64 { return a.asked.Load() + b.asked.Load() + c.asked.Load() }
	for range 4 {
		load.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-over:
					return
				default:
				}
				if status, text, _ := p.attempt(client, "free"); status != http.StatusOK {
					t.Errorf("attempt %d under load: %d %q", n, status, text)
					return
				}
			}
		})
	}
	more := func(n int64) {
		t.Helper()
		from := asked()
		eventually(t, "attempts go on", func() bool { return asked() > from+n })
	}
	more(200)
	addr := a.member.Service.String()
	a.kill()
	more(200)
	b.mute.Store(true)
	more(200)
	b.mute.Store(false)
	a = startLimiter(t, "a", addr, clusterEntries)
	observer.publish(a, b, c)
	more(200)
	observer.publish()
	eventually(t, "the proxy notes that no limiter serves", func() bool { return strings.Contains(p.health(), "no limiter serves") })
	more(200)
	observer.publish(a, b)
	eventually(t, "the note is gone", func() bool { return p.health() == "ready" })
	close(over)
	load.Wait()
	p.stop()
	if err := <-p.ended; err != nil {
		t.Error(err)
	}
}

func TestObserverLossExits(t *testing.T) {
	exits := func(t *testing.T, p *process, addr string) {
		t.Helper()
		select {
		case err := <-p.ended:
			if err == nil || !strings.Contains(err.Error(), "no observer could be reached for") || !strings.Contains(err.Error(), addr) {
				t.Errorf("the proxy ended with %v", err)
			}
		case <-time.After(enough):
			t.Fatal("the proxy goes on")
		}
	}
	short := func(cfg *config.ClientProxy) { cfg.ObserverTimeout = 300 * time.Millisecond }
	t.Run("at the start", func(t *testing.T) {
		addr := freeAddr(t)
		exits(t, startProxy(t, addr, short), addr)
	})
	t.Run("later", func(t *testing.T) {
		l, o := startLimiter(t, "a", freeAddr(t), clusterEntries), startObserver(t, freeAddr(t))
		o.publish(l)
		p := startProxy(t, o.addr, short)
		eventually(t, "the proxy is ready", func() bool { return p.health() == "ready" })
		o.stop()
		exits(t, p, o.addr)
	})
}

func TestObserverLossServes(t *testing.T) {
	serve := func(cfg *config.ClientProxy) {
		cfg.ObserverTimeout, cfg.OnObserverLoss = 300*time.Millisecond, config.ObserverLossServe
	}
	addr := freeAddr(t)
	p := startProxy(t, addr, serve)
	eventually(t, "the start says what is wrong", func() bool {
		return strings.HasPrefix(p.health(), "starting: no observer could be reached for")
	})
	l, o := startLimiter(t, "a", freeAddr(t), clusterEntries), startObserver(t, addr)
	o.publish(l)
	eventually(t, "the proxy is ready", func() bool { return p.health() == "ready" })
	o.stop()
	eventually(t, "the proxy is not ready", func() bool {
		return strings.HasPrefix(p.health(), "not ready: no observer could be reached for")
	})
	if status, text, _ := p.attempt(newClient(t), "free"); status != http.StatusOK {
		t.Errorf("without an observer: %d %q", status, text)
	}
	startObserver(t, addr).publish(l)
	eventually(t, "the proxy is ready again", func() bool { return p.health() == "ready" })
}

// A limiter that others hold for alive, and that cannot be reached, does not keep
// the proxy from starting; one that is the only one does.
func TestStartsWithoutTheLastLimiter(t *testing.T) {
	dead, o := &realLimiter{member: limiterMember("dead", 1)}, startObserver(t, freeAddr(t))
	dead.member.Service = netip.MustParseAddrPort(freeAddr(t))
	o.publish(dead)
	p := startProxy(t, o.addr, nil)
	eventually(t, "the proxy says whom it waits for", func() bool {
		return p.health() == "starting: waiting for one of 1 limiters to be reached"
	})
	o.publish(dead, startLimiter(t, "a", freeAddr(t), clusterEntries))
	eventually(t, "the proxy is ready", func() bool { return p.health() == "ready" })
	if status, text, _ := p.attempt(newClient(t), "free"); status != http.StatusOK {
		t.Errorf("%d %q", status, text)
	}
}
