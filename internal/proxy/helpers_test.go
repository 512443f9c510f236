package proxy

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/quota"
	"github.com/levee-project/levee/internal/topology"
	"github.com/levee-project/levee/internal/tree"
	"github.com/levee-project/levee/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const timeout = 100 * time.Millisecond

// fakeLimiter is an upstream that does as it is told.
type fakeLimiter struct {
	id      string
	up      atomic.Bool
	refuses atomic.Bool
	changed func(up bool, why error)
	asked   atomic.Int64
	ran     atomic.Int32 // how many times Run was called, less how many times it ended

	mu     sync.Mutex
	answer func(now int64, a *attempt.Attempt) (attempt.Outcome, error) // nil: calls are held
	held   []wire.Call
}

func (f *fakeLimiter) Up() bool { return f.up.Load() }

func (f *fakeLimiter) Ask(now int64, a *attempt.Attempt, call wire.Call) bool {
	if !f.up.Load() || f.refuses.Load() {
		return false
	}
	f.asked.Add(1)
	f.mu.Lock()
	answer := f.answer
	if answer == nil {
		f.held = append(f.held, call)
	}
	f.mu.Unlock()
	if answer != nil {
		call.Done(answer(now, a))
	}
	return true
}

func (f *fakeLimiter) Run(ctx context.Context) {
	f.ran.Add(1)
	<-ctx.Done()
	f.ran.Add(-1)
}

// answers has the limiter answer at once.
func (f *fakeLimiter) answers(o attempt.Outcome, err error) {
	f.answersBy(func(int64, *attempt.Attempt) (attempt.Outcome, error) { return o, err })
}

func (f *fakeLimiter) answersBy(by func(int64, *attempt.Attempt) (attempt.Outcome, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = by
}

// holds has the limiter keep what it is asked until release.
func (f *fakeLimiter) holds() { f.answersBy(nil) }

// take returns the calls that are held, which it gives up.
func (f *fakeLimiter) take() []wire.Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	held := f.held
	f.held = nil
	return held
}

// release answers all that is held, and returns how much it was.
func (f *fakeLimiter) release(o attempt.Outcome, err error) int {
	held := f.take()
	for _, call := range held {
		call.Done(o, err)
	}
	return len(held)
}

// set changes whether the limiter is up, and says so.
func (f *fakeLimiter) set(up bool) {
	f.up.Store(up)
	f.changed(up, nil)
}

var accepted = attempt.Outcome{Result: attempt.Accepted}

// bench is a decider with limiters that are fakes, and a clock that stands still
// until it is moved.
type bench struct {
	*Decider
	t        testing.TB
	now      atomic.Int64
	fleet    *fleet
	limiters map[string]*fakeLimiter // by ID: the latest of each
	end      context.CancelFunc
}

// newBench returns a decider before it knows anything. Its limiters are up, and
// accept.
func newBench(t testing.TB, cfg *config.ClientProxy) *bench {
	b := &bench{t: t, limiters: map[string]*fakeLimiter{}}
	if cfg.AttemptTimeout == 0 {
		cfg.AttemptTimeout = timeout
	}
	b.now.Store(int64(time.Hour))
	b.Decider = NewDecider(cfg, b.now.Load)
	b.fleet = newFleet(b.connect, b.now.Load, 4*timeout, slog.New(slog.DiscardHandler))
	var ctx context.Context
	ctx, b.end = context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = b.fleet.run(ctx) })
	t.Cleanup(func() {
		b.end()
		wg.Wait()
	})
	return b
}

func (b *bench) connect(m topology.Member, changed func(bool, error)) Upstream {
	f := &fakeLimiter{id: m.ID, changed: changed}
	f.up.Store(true)
	f.answers(accepted, nil)
	b.limiters[m.ID] = f
	return f
}

// entries puts quotas and factors in force.
func (b *bench) entries(entries map[string]string) {
	b.t.Helper()
	snapshot, faults := quota.NewCompiler().Compile(&tree.Tree{Revision: 1, Entries: entries})
	if len(faults) > 0 {
		b.t.Fatal(faults[0])
	}
	b.SetQuotas(snapshot)
}

// factor puts a group size in force, with one quota for each resource.
func (b *bench) factor(d int) {
	b.t.Helper()
	b.entries(map[string]string{
		"limit/key_default":         `{"rate": 100, "burst": 10}`,
		"limit/subkey_default/GET":  `{"rate": 100, "burst": 10}`,
		"limit/subkey_default/POST": `{"rate": 100, "burst": 10}`,
		"limit/key/shadow/quota":    `{"rate": 100, "burst": 10, "shadow": true}`,
		"factor/default":            fmt.Sprint(d),
	})
}

// serve puts a topology in force in which these limiters serve.
func (b *bench) serve(members ...topology.Member) {
	b.setRoutes(b.fleet.take(topology.NewView(1, members)))
}

// serveN has limiters serve that are called l0, l1 and so on.
func (b *bench) serveN(n int) {
	members := make([]topology.Member, n)
	for i := range members {
		members[i] = limiterMember(fmt.Sprint("l", i), 1)
	}
	b.serve(members...)
}

func limiterMember(id string, incarnation int64) topology.Member {
	return topology.Member{
		ID: id, Role: topology.Limiter, State: topology.Serving, Incarnation: incarnation,
		Service: netip.MustParseAddrPort("127.0.0.1:1"),
	}
}

// ranked returns the limiters in the order of their rank for a resource.
func (b *bench) ranked(resource string) []*fakeLimiter {
	r := b.routes.Load()
	var list []*fakeLimiter
	for _, i := range r.view.AppendRank(nil, []byte(resource), len(r.upstreams)) {
		list = append(list, b.limiters[r.view.Serving()[i].ID])
	}
	return list
}

// answer is a Later that can be waited for.
type answer struct {
	outcomes chan attempt.Outcome
}

func (a *answer) Answer(o attempt.Outcome) { a.outcomes <- o }

// start begins an attempt.
func (b *bench) start(a *attempt.Attempt) *answer {
	later := &answer{make(chan attempt.Outcome, 2)}
	if o, answered := b.Attempt(b.clock(), a, later); answered {
		later.outcomes <- o
	}
	return later
}

// got returns the answer that there must be by now.
func (b *bench) got(a *answer) attempt.Outcome {
	b.t.Helper()
	select {
	case o := <-a.outcomes:
		if len(a.outcomes) > 0 {
			b.t.Fatal("answered twice")
		}
		return o
	default:
		b.t.Fatal("no answer")
		panic("unreachable")
	}
}

// none fails the test if there is an answer.
func (b *bench) none(a *answer) {
	b.t.Helper()
	select {
	case o := <-a.outcomes:
		b.t.Fatalf("answered: %+v", o)
	default:
	}
}

// ask makes an attempt of one hit that is answered at once.
func (b *bench) ask(resource, method string) attempt.Outcome {
	b.t.Helper()
	return b.got(b.start(question(resource, method, 1)))
}

func question(resource, method string, hits uint32) *attempt.Attempt {
	return &attempt.Attempt{Resource: []byte(resource), Method: []byte(method), Hits: hits}
}
