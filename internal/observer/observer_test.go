package observer

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/program"
	"github.com/levee-project/levee/internal/status"
	"github.com/levee-project/levee/internal/topology"
	"github.com/levee-project/levee/internal/topologyrpc"
	"github.com/levee-project/levee/internal/topologyrpc/topologyv1"
)

// TestMain checks that whoever starts a goroutine also waits for it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of the tests for what must happen.
const patience = 30 * time.Second

// shared is a shared configuration, in a file.
type shared struct {
	t    *testing.T
	path string
}

func newShared(t *testing.T) *shared {
	s := &shared{t: t, path: filepath.Join(t.TempDir(), "storage.yaml")}
	s.write(1)
	return s
}

// write replaces the configuration: a factor, and observers.
func (s *shared) write(factor int, observers ...topology.Addresses) {
	s.t.Helper()
	text := fmt.Sprintf("factor: {default: %d}\n", factor)
	if len(observers) > 0 {
		text += "observer:\n"
	}
	for _, o := range observers {
		text += fmt.Sprintf("  %s: {gossip: %q, service: %q}\n", o.Name, o.Gossip, o.Service)
	}
	next := s.path + ".next"
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(next, s.path); err != nil {
		s.t.Fatal(err)
	}
}

// home returns addresses on a loopback address of their own: the whole of
// 127.0.0.0/8 is this host.
func home(name string) topology.Addresses {
	a := addresses(name, 0)
	host := netip.AddrFrom4([4]byte{127, byte(1 + rand.IntN(254)), byte(rand.IntN(256)), byte(1 + rand.IntN(254))})
	return topology.Addresses{
		Name: name, Gossip: netip.AddrPortFrom(host, a.Gossip.Port()), Service: netip.AddrPortFrom(host, a.Service.Port()),
	}
}

// running is an observer that runs.
type running struct {
	t         *testing.T
	*observer // once it starts
	stop      context.CancelFunc
	err       error         // what it ended with
	ended     chan struct{} // closed when it has ended
}

// start starts the observer called name. It is stopped when the test ends.
func (s *shared) start(name string, edit func(*config.Observer)) *running {
	s.t.Helper()
	cfg := &config.Observer{ObserverName: name}
	cfg.InstanceID = name
	cfg.Storage.Addrs = []string{"file://" + s.path} // options forbid it, so that nobody takes it for a cluster's
	cfg.Storage.Prefix = "/levee"
	cfg.GossipForget = time.Minute
	edit(cfg)
	ctx, stop := context.WithCancel(context.Background())
	r := &running{t: s.t, stop: stop, ended: make(chan struct{})}
	setting := make(chan struct{})
	go func() {
		defer close(r.ended)
		r.err = daemon.Run(ctx, daemon.Options{Log: slog.New(slog.DiscardHandler)},
			func(ctx context.Context, d *daemon.Daemon) error {
				r.observer = newObserver(d, cfg)
				close(setting)
				board := status.New("observer", cfg.InstanceID, d.Health)
				return r.setup(ctx, &program.Run[*config.Observer]{Config: cfg, Status: board})
			})
	}()
	<-setting
	s.t.Cleanup(func() {
		stop()
		<-r.ended
	})
	return r
}

// end waits until the observer has ended, and returns what it ended with.
func (r *running) end() error {
	r.t.Helper()
	select {
	case <-r.ended:
		return r.err
	case <-time.After(patience):
		r.t.Fatal("the observer does not end")
		return nil
	}
}

// says waits until /readyz says something.
func (r *running) says(want string) {
	r.t.Helper()
	var line string
	eventually(r.t, func() bool {
		_, line = r.Health.Ready()
		return strings.Contains(line, want)
	}, func() string { return fmt.Sprintf("/readyz says %q, want %q", line, want) })
}

// shows waits until a metric has a value. Labels are part of its name.
func (r *running) shows(name string, want float64) {
	r.t.Helper()
	got := map[string]float64{}
	eventually(r.t, func() bool {
		got = samples(r.t, r.Registry)
		value, there := got[name]
		return there && value == want
	}, func() string { return fmt.Sprintf("%s is %v, want %v", name, got[name], want) })
}

// samples are the gauges of a registry, by name{value of label,...}.
func samples(t *testing.T, r *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			name := f.GetName()
			if len(labels) > 0 {
				name += "{" + strings.Join(labels, ",") + "}"
			}
			got[name] = m.GetGauge().GetValue()
		}
	}
	return got
}

func eventually(t *testing.T, met func() bool, problem func() string) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for !met() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal(problem())
		}
	}
}

// watched is what a client sees of observers.
type watched struct {
	*topologyrpc.Watcher
	t     *testing.T
	views chan *topology.View
}

func watch(t *testing.T, observers ...topology.Addresses) *watched {
	w := &watched{t: t, views: make(chan *topology.View, 1000)}
	w.Watcher = topologyrpc.NewWatcher(topologyrpc.WatcherOptions{
		Log: slog.New(slog.DiscardHandler), Timeout: patience, Apply: func(v *topology.View) { w.views <- v },
	})
	w.SetObservers(observers)
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { _ = w.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		work.Wait()
	})
	return w
}

// sees waits for a view of these members, as "id state".
func (w *watched) sees(want ...string) {
	w.t.Helper()
	var got []string
	late := time.After(patience)
	for !slices.Equal(got, want) {
		select {
		case v := <-w.views:
			got = nil
			for _, m := range v.Members() {
				got = append(got, fmt.Sprintf("%s %s", m.ID, m.State))
			}
		case <-late:
			w.t.Fatalf("the last view is %q, want %q", got, want)
		}
	}
}

func TestLifeOfTwoObservers(t *testing.T) {
	s, a, b := newShared(t), home("a"), home("b")
	first := s.start("a", func(*config.Observer) {})
	first.says("waiting for the entry /levee/observer/a")
	s.write(3, a)
	first.says("waiting until the view of the cluster is stable")
	first.says("ready")
	w := watch(t, a)
	w.sees("a serving")
	first.shows("levee_topology_watchers", 1)
	first.shows("levee_group_short", 3)
	s.write(2, a)
	first.shows("levee_group_short", 2)

	// The second finds the first by the shared configuration, and is found.
	s.write(2, a, b)
	second := s.start("b", func(*config.Observer) {})
	w.sees("a serving", "b starting")
	w.sees("a serving", "b serving")
	second.says("ready")
	both := watch(t, b)
	both.sees("a serving", "b serving")
	both.SetObservers([]topology.Addresses{b, a})
	second.shows("levee_members{observer,serving}", 2)
	if err := forget(t, b, "a"); err == nil || !strings.Contains(err.Error(), "only a silent member can be forgotten") {
		t.Errorf("forget one that is alive: %v", err)
	}

	// Who watches it goes to the first as soon as it drains.
	if err := second.drain(t.Context()); err != nil {
		t.Errorf("the drain ends with %v", err)
	}
	first.shows("levee_topology_watchers", 2)
	second.shows("levee_topology_watchers", 0)
	both.sees("a serving", "b draining")
	second.stop()
	if err := second.end(); err != nil {
		t.Errorf("the second ends with %v", err)
	}
	w.sees("a serving") // it left, so nobody misses it
	both.sees("a serving")
	first.stop()
	if err := first.end(); err != nil {
		t.Errorf("the first ends with %v", err)
	}
}

// forget asks an observer to forget a member.
func forget(t *testing.T, observer topology.Addresses, id string) error {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+observer.Service.String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, err = topologyv1.NewTopologyClient(conn).Forget(t.Context(), &topologyv1.ForgetRequest{Id: id})
	return err
}

func TestAChangedViewIsNews(t *testing.T) {
	o := newObserver(&daemon.Daemon{
		Log: slog.New(slog.DiscardHandler), Registry: daemon.NewRegistry(), Health: new(daemon.Health),
	}, &config.Observer{})
	o.server = topologyrpc.NewServer(topologyrpc.ServerOptions{Log: o.Log})
	for revision := range int64(3) {
		o.show(topology.NewView(revision, nil))
		if len(o.changed) != 1 {
			t.Error("nobody is told that the view has changed")
		}
	}
}

func TestAddressesThatCannotBeUsed(t *testing.T) {
	s := newShared(t)
	elsewhere := home("a")
	elsewhere.Service = netip.MustParseAddrPort("192.0.2.1:5454")
	s.write(1, elsewhere)
	if err := s.start("a", func(*config.Observer) {}).end(); err == nil ||
		!strings.Contains(err.Error(), "/levee/observer/a: service: cannot listen on") {
		t.Errorf("the start ends with %v, want an error that names the entry", err)
	}
	elsewhere = home("a")
	elsewhere.Gossip = netip.MustParseAddrPort("192.0.2.1:7373")
	s.write(1, elsewhere)
	if err := s.start("a", func(*config.Observer) {}).end(); err == nil ||
		!strings.Contains(err.Error(), "/levee/observer/a: ") || !strings.Contains(err.Error(), "192.0.2.1") {
		t.Errorf("the start ends with %v, want an error that names the entry", err)
	}
}

func TestAKeyThatCannotBeReadIsAMisconfiguration(t *testing.T) {
	s, a := newShared(t), home("a")
	s.write(1, a)
	cfg := &config.Observer{}
	cfg.Storage.Addrs, cfg.Storage.Prefix = []string{"http://127.0.0.1:2379"}, "/levee"
	cfg.GossipKeyFile = filepath.Join(t.TempDir(), "missing")
	for _, err := range []error{
		check(cfg),
		s.start("a", func(c *config.Observer) { c.GossipKeyFile = cfg.GossipKeyFile }).end(),
	} {
		if got := exitCode(err); got != 78 {
			t.Errorf("%v ends a process with %d, want 78", err, got)
		}
	}
	cfg.GossipKeyFile = ""
	if err := check(cfg); err != nil {
		t.Error(err)
	}
}

// exitCode finds what daemon.Main would end with.
func exitCode(err error) int {
	for err != nil {
		switch e := err.(type) { //nolint:errorlint // walks the chain itself
		case interface{ ExitCode() int }:
			return e.ExitCode()
		case interface{ Unwrap() []error }:
			err = e.Unwrap()[0]
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		default:
			return 1
		}
	}
	return 0
}
