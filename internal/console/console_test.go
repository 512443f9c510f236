package console

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/inforce"
	"github.com/levee-project/levee/internal/quota"
	"github.com/levee-project/levee/internal/topology"
	"github.com/levee-project/levee/internal/tree"
)

// TestMain checks that whoever starts a goroutine also waits for it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait for what must happen.
const patience = 30 * time.Second

// process is an admin port whose status can be changed.
type process struct {
	addr  netip.AddrPort
	asked atomic.Int64
	stop  func()

	mu     sync.Mutex // guards the rest
	status adminapi.Status
}

func startProcess(t *testing.T, role, id string) *process {
	p := &process{status: adminapi.Status{
		Role: role, ID: id, Version: "1", Ready: true, State: "ready", Started: time.Now(),
		Storage: &adminapi.Storage{Revision: 5, Digest: "a", Connected: true}, Attempts: &adminapi.Attempts{},
	}}
	mux := http.NewServeMux()
	mux.Handle("GET /status", adminapi.Page(func() adminapi.Status {
		p.asked.Add(1)
		p.mu.Lock()
		defer p.mu.Unlock()
		s := p.status
		s.Now = time.Now()
		return s
	}))
	mux.Handle("GET /bucket", adminapi.BucketPage(func(*attempt.Attempt) adminapi.Bucket {
		return adminapi.Bucket{Level: "resource", Debt: 1.5, AtOnce: 9, Remaining: 7}
	}))
	s := httptest.NewServer(mux)
	p.stop = sync.OnceFunc(s.Close)
	t.Cleanup(p.stop)
	p.addr = netip.MustParseAddrPort(s.Listener.Addr().String())
	return p
}

func (p *process) set(change func(*adminapi.Status)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.status)
}

func (p *process) member() topology.Member {
	return topology.Member{
		ID: p.status.ID, Role: topology.Role(p.status.Role), State: topology.Serving, Admin: p.addr, Version: "1", Since: time.Now(),
		Service: netip.MustParseAddrPort("10.0.0.1:5454"),
	}
}

// world is what an observer knows.
type world struct {
	view *topology.View
	self adminapi.Status
	conf *inforce.Configuration
}

func (w *world) source() Source {
	return Source{
		Status:        func() adminapi.Status { return w.self },
		Configuration: func() *inforce.Configuration { return w.conf },
		View:          func() *topology.View { return w.view },
	}
}

func newWorld(t *testing.T, members ...topology.Member) *world {
	t.Helper()
	snapshot, faults := quota.NewCompiler().Compile(&tree.Tree{Revision: 5, Entries: map[string]string{
		"limit/key/r/quota": `{"rate": 10, "burst": 8}`, "limit/key/bad/quota": "7", "factor/default": "2",
	}})
	return &world{
		view: topology.NewView(1, members),
		self: adminapi.Status{Role: "observer", ID: "obs", Ready: true, State: "ready", Storage: &adminapi.Storage{Revision: 5, Digest: "a", Connected: true}},
		conf: &inforce.Configuration{Revision: 5, Quotas: snapshot, Faults: faults},
	}
}

// own is the observer that shows all.
var own = topology.Member{ID: "obs", Role: topology.Observer, State: topology.Serving}

func (c *collector) next(t *testing.T) *frame {
	t.Helper()
	f := new(frame)
	if err := json.Unmarshal(c.round(t.Context()), f); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *frame) member(t *testing.T, id string) member {
	t.Helper()
	for _, m := range f.Members {
		if m.ID == id {
			return m
		}
	}
	t.Fatalf("%s is not among %+v", id, f.Members)
	return member{}
}

func newTestCollector(t *testing.T, w *world) *collector {
	client := adminapi.NewClient()
	t.Cleanup(client.Close)
	return newCollector(w.source(), client)
}

func TestCollectorShowsEverybody(t *testing.T) {
	a, b, p := startProcess(t, "limiter", "a"), startProcess(t, "limiter", "b"), startProcess(t, "client-proxy", "p")
	away := topology.Member{ID: "away", Role: topology.Limiter, State: topology.Serving}
	w := newWorld(t, a.member(), b.member(), own, away)
	w.self.Watchers = []adminapi.Watcher{{ID: "p", Admin: p.addr, Version: "7", Since: time.Now()}}
	c := newTestCollector(t, w)
	f := c.next(t)
	var got []string
	for _, m := range f.Members {
		got = append(got, fmt.Sprintf("%s %s %s %s", m.Role, m.ID, m.State, m.Health))
	}
	want := "limiter a serving good, limiter away serving good, limiter b serving good, client-proxy p serving good, observer obs serving good"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("the members are %s, want %s", s, want)
	}
	if m := f.member(t, "away"); !strings.Contains(m.Words, "cannot be reached") || m.Revision != nil {
		t.Errorf("without an admin port: %+v", m)
	}
	if f.Store.InForce != 4 || f.Store.Known != 4 || fmt.Sprint(f.Store.Unknown) != "[away]" {
		t.Errorf("in force: %+v", f.Store)
	}
	if f.Rates != nil {
		t.Errorf("rates of one report: %+v", f.Rates)
	}
	a.set(func(s *adminapi.Status) { s.Attempts = &adminapi.Attempts{Accepted: 1000, Rejected: 100, Failed: 10} })
	p.set(func(s *adminapi.Status) { s.Attempts = &adminapi.Attempts{Accepted: 1000, Failed: 20} })
	f = c.next(t)
	if r := f.Rates; r == nil || r.Accepted <= 0 || r.Accepted < 9.9*r.Rejected || r.Accepted > 10.1*r.Rejected || r.Failed <= 0 {
		t.Errorf("the rates are %+v", f.Rates)
	}
	if m := f.member(t, "b"); m.Rates == nil || m.Rates.sum() != 0 {
		t.Errorf("the idle limiter has %+v", m.Rates)
	}
	a.set(func(s *adminapi.Status) { s.Attempts, s.Started = &adminapi.Attempts{Accepted: 5}, time.Now() })
	if m := c.next(t).member(t, "a"); m.Rates != nil {
		t.Errorf("over a restart there is a rate: %+v", m.Rates)
	}
}

func TestWhoIsInTrouble(t *testing.T) {
	a, b, p := startProcess(t, "limiter", "a"), startProcess(t, "limiter", "b"), startProcess(t, "client-proxy", "p")
	q := startProcess(t, "client-proxy", "q")
	w := newWorld(t, a.member(), b.member(), own)
	watchers := []adminapi.Watcher{{ID: "p", Admin: p.addr}, {ID: "q", Admin: q.addr}}
	w.self.Watchers = watchers
	c := newTestCollector(t, w)
	c.next(t)
	a.stop()
	if m := c.next(t).member(t, "a"); m.Health != healthy {
		t.Errorf("one lost answer makes it %+v", m)
	}
	f := c.next(t)
	if m := f.member(t, "a"); m.Health != faulty || !strings.Contains(m.Words, "does not answer") {
		t.Errorf("two lost answers make it %+v", m)
	}
	if len(f.Problems) == 0 || !strings.Contains(f.Problems[0].Text, "a (limiter): no answer") {
		t.Errorf("the problems are %+v", f.Problems)
	}
	silent := b.member()
	silent.State = topology.Silent
	w.view = topology.NewView(2, []topology.Member{silent, own})
	before := b.asked.Load()
	if m := c.next(t).member(t, "b"); m.Health != faulty || m.State != "silent" {
		t.Errorf("silent: %+v", m)
	}
	if b.asked.Load() != before {
		t.Error("a silent one was asked")
	}

	// A proxy that stops says so; one that is killed does not.
	q.set(func(s *adminapi.Status) { s.Ready, s.State = false, "draining: SIGTERM" })
	if m := c.next(t).member(t, "q"); m.State != "draining" {
		t.Errorf("draining: %+v", m)
	}
	p.stop()
	q.stop()
	w.self.Watchers = nil
	c.next(t)
	f = c.next(t)
	if m := f.member(t, "p"); m.Health != faulty || m.State != "gone" {
		t.Errorf("killed: %+v", m)
	}
	for _, m := range f.Members {
		if m.ID == "q" {
			t.Errorf("the one that has left is shown: %+v", m)
		}
	}
}

func TestWhoLags(t *testing.T) {
	a, b := startProcess(t, "limiter", "a"), startProcess(t, "limiter", "b")
	w := newWorld(t, a.member(), b.member(), own)
	w.self.Storage = nil
	c := newTestCollector(t, w)
	storage := func(p *process, revision int64, digest string, connected bool) {
		p.set(func(s *adminapi.Status) {
			s.Storage = &adminapi.Storage{Revision: revision, Digest: digest, Connected: connected}
		})
	}
	check := func(what string, inForce int, lagging string) {
		t.Helper()
		if s := c.next(t).Store; s.InForce != inForce || fmt.Sprint(s.Lagging) != lagging {
			t.Errorf("%s: %+v, want %d in force, lagging %s", what, s, inForce, lagging)
		}
	}
	check("the same", 2, "[]")
	storage(b, 900, "a", true)
	check("another revision of the same entries", 2, "[]")
	storage(b, 901, "b", true)
	check("a change that one has first", 1, "[]")
	check("a second later", 1, "[a]")
	storage(b, 902, "c", true)
	storage(a, 901, "b", true)
	check("a change a second, each a little later", 1, "[]")
	storage(a, 902, "c", true)
	check("both have it", 2, "[]")
	storage(b, 950, "d", false)
	check("higher, but not connected: as before a restore", 1, "[]")
	storage(a, 903, "", true)
	storage(b, 903, "e", true)
	check("an older version says no digest", 2, "[]")
}

func TestNobodyIsAskedWhileNobodyWatches(t *testing.T) {
	a := startProcess(t, "limiter", "a")
	c := New(newWorld(t, a.member(), own).source())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	s := httptest.NewServer(c.Handler())
	defer s.Close()
	if res := fetch(t, s.URL+"/", nil); res.code != http.StatusOK {
		t.Errorf("the page answers %d", res.code)
	}
	if n := a.asked.Load(); n != 0 {
		t.Errorf("%d questions without a viewer", n)
	}
	event := stream(t, s.URL, 1)
	if !strings.Contains(event, `"id":"a"`) || a.asked.Load() == 0 {
		t.Errorf("a viewer sees %s", event)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if c.viewers.add() != nil {
		t.Error("a viewer is taken after the end")
	}
}

// stream reads frames, and returns the last.
func stream(t *testing.T, url string, n int) (last string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/console/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if kind := res.Header.Get("Content-Type"); kind != eventStream {
		t.Errorf("Content-Type: %s", kind)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	framed := false
	for lines.Scan() {
		switch line := lines.Text(); {
		case line == "event: frame":
			framed = true
		case framed && strings.HasPrefix(line, "data: "):
			framed = false
			last = line
			if n--; n == 0 {
				return last
			}
		}
	}
	t.Fatalf("the stream has ended: %v", lines.Err())
	return ""
}
