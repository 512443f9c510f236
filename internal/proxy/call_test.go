package proxy

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/topology"
	"github.com/levee-project/levee/internal/wire"
)

func TestNothingIsAnsweredBeforeItIsKnownHow(t *testing.T) {
	b := newBench(t, &config.ClientProxy{OnFailure: config.FailureAccept})
	if o := b.ask("r", ""); o.Result != attempt.Failed || o.Failure != notLoaded {
		t.Errorf("without quotas: %+v", o)
	}
	b.factor(1)
	if o := b.ask("r", ""); o.Result != attempt.Failed || o.Failure != noLimiter {
		t.Errorf("without limiters: %+v", o)
	}
	b.serveN(1)
	if o := b.ask("r", ""); o.Result != attempt.Accepted {
		t.Errorf("%+v", o)
	}
	if n := b.tally.Count(attempt.Failed, attempt.None, false); n != 2 {
		t.Errorf("%d failed are counted, want 2", n)
	}
}

// What the limiter says is handed on; what it cannot know of the whole is set
// right.
func TestOutcome(t *testing.T) {
	b := newBench(t, &config.ClientProxy{})
	b.factor(3)
	b.serveN(5)
	share := attempt.Policy{Limit: 4, Window: time.Second, Remaining: 2, Reset: time.Minute}
	whole := attempt.Policy{Limit: 12, Window: time.Second, Remaining: 6, Reset: time.Minute}
	for _, test := range []struct {
		name             string
		resource, method string
		says, want       attempt.Outcome
	}{
		{"accepted", "r", "", attempt.Outcome{Result: attempt.Accepted}, attempt.Outcome{
			Result: attempt.Accepted, Level: attempt.Resource, Policy: unknownPolicy,
		}},
		{"another level", "r", "GET", attempt.Outcome{Result: attempt.Accepted, Level: attempt.Resource}, attempt.Outcome{
			Result: attempt.Accepted, Level: attempt.Method,
		}},
		{
			"rejected", "r", "",
			attempt.Outcome{Result: attempt.Rejected, Level: attempt.Resource, Over: true, RetryAfter: time.Second, Policy: share},
			attempt.Outcome{Result: attempt.Rejected, Level: attempt.Resource, Over: true, RetryAfter: time.Second, Policy: whole},
		},
		{"shadow", "shadow", "", attempt.Outcome{Result: attempt.Accepted, Level: attempt.Resource, Policy: share}, attempt.Outcome{
			Result: attempt.Accepted, Level: attempt.Resource, Shadow: true, Policy: whole,
		}},
		{
			"a limiter that does not know of the shadow yet", "shadow", "",
			attempt.Outcome{Result: attempt.Rejected, Over: true},
			attempt.Outcome{Result: attempt.Rejected, Level: attempt.Resource, Over: true, Policy: unknownPolicy},
		},
	} {
		for _, f := range b.limiters {
			f.answers(test.says, nil)
		}
		if got := b.ask(test.resource, test.method); got != test.want {
			t.Errorf("%s:\n got %+v\nwant %+v", test.name, got, test.want)
		}
	}
	for _, count := range []struct {
		r      attempt.Result
		l      attempt.Level
		shadow bool
		want   int64
	}{
		{attempt.Accepted, attempt.Resource, false, 1},
		{attempt.Accepted, attempt.Method, false, 1},
		{attempt.Rejected, attempt.Resource, false, 2},
		{attempt.Accepted, attempt.Resource, true, 1},
	} {
		if got := b.tally.Count(count.r, count.l, count.shadow); got != count.want {
			t.Errorf("%v, %v, shadow %v: counted %d, want %d", count.r, count.l, count.shadow, got, count.want)
		}
	}
}

// The attempt is asked as it came, by whoever is asked, though its bytes belong
// to somebody else by then.
func TestAttemptIsCopied(t *testing.T) {
	b := newBench(t, &config.ClientProxy{})
	b.factor(1)
	b.serveN(4)
	var got []string
	for _, f := range b.limiters {
		f.answersBy(func(_ int64, a *attempt.Attempt) (attempt.Outcome, error) {
			got = append(got, fmt.Sprintf("%s|%s|%s|%s|%d", a.Resource, a.Prefix, a.Method, a.ReqID, a.Hits))
			return attempt.Outcome{}, wire.ErrLost
		})
	}
	third, last := b.ranked("resource")[2], b.ranked("resource")[3]
	third.holds()
	last.answersBy(func(_ int64, a *attempt.Attempt) (attempt.Outcome, error) {
		got = append(got, fmt.Sprintf("%s|%s|%s|%s|%d", a.Resource, a.Prefix, a.Method, a.ReqID, a.Hits))
		return accepted, nil
	})
	a := &attempt.Attempt{
		Resource: []byte("resource"), Prefix: []byte("a/b"), Method: []byte("GET"), ReqID: []byte("id-7"), Hits: 3,
	}
	later := b.start(a)
	for _, part := range [][]byte{a.Resource, a.Prefix, a.Method, a.ReqID} {
		clear(part)
	}
	third.release(attempt.Outcome{}, wire.ErrLost)
	b.got(later)
	if want := slices.Repeat([]string{"resource|a/b|GET|id-7|3"}, 3); !slices.Equal(got, want) {
		t.Errorf("asked %q, want %q", got, want)
	}
}

// Whoever does not answer is followed by the stand-ins in the order of their
// rank, and those by the rest of the group. Nobody is asked twice.
func TestRetryOrder(t *testing.T) {
	for _, err := range []error{wire.ErrLost, wire.ErrTimeout} {
		b := newBench(t, &config.ClientProxy{})
		b.factor(2)
		b.serveN(5)
		var order []string
		for _, f := range b.limiters {
			f.answersBy(func(int64, *attempt.Attempt) (attempt.Outcome, error) {
				order = append(order, f.id)
				return attempt.Outcome{}, err
			})
		}
		ranked := b.ranked("r")
		last := ranked[0]
		if b.deals.turn(attempt.Resource, question("r", "", 0))%2 == 0 {
			last = ranked[1]
		}
		dealt := ranked[0].id
		if last == ranked[0] {
			dealt = ranked[1].id
		}
		last.answers(accepted, nil)
		if o := b.ask("r", ""); o.Result != attempt.Accepted {
			t.Fatalf("%v: %+v", err, o)
		}
		if want := []string{dealt, ranked[2].id, ranked[3].id, ranked[4].id}; !slices.Equal(order, want) {
			t.Errorf("%v: asked %v and then %s, want %v", err, order, last.id, want)
		}
		why := map[error]reason{wire.ErrLost: reasonLost, wire.ErrTimeout: reasonTimeout}[err]
		if n := b.retries[why].Load(); n != 4 {
			t.Errorf("%v: %d retries are counted, want 4", err, n)
		}
	}
}

// A limiter that cannot decide is followed by one other, and by no third.
func TestLimiterThatCannotDecide(t *testing.T) {
	for _, onFailure := range []config.OnFailure{config.FailureFail, config.FailureAccept} {
		b := newBench(t, &config.ClientProxy{OnFailure: onFailure})
		b.factor(1)
		b.serveN(4)
		ranked := b.ranked("r")
		for i, f := range ranked[:3] {
			f.answers(attempt.Outcome{Result: attempt.Failed, Failure: fmt.Sprint("starting ", i)}, nil)
		}
		o := b.ask("r", "")
		want := map[config.OnFailure]attempt.Result{
			config.FailureFail: attempt.Failed, config.FailureAccept: attempt.Accepted,
		}[onFailure]
		if o.Result != want || onFailure == config.FailureFail && !strings.HasSuffix(o.Failure, ": starting 1") {
			t.Errorf("%s: %+v", onFailure, o)
		}
		if b.retries[reasonRefused].Load() != 1 || ranked[2].asked.Load() != 0 {
			t.Error("a third limiter was asked")
		}
		for _, f := range ranked[1:] {
			f.set(false)
		}
		if o := b.ask("r", ""); o.Result != want || b.waiting.len() != 0 {
			t.Errorf("%s, alone: %+v", onFailure, o)
		}
		ranked[1].set(true)
		b.now.Add(int64(easing))
		ranked[1].answers(accepted, nil)
		if o := b.ask("r", ""); o != (attempt.Outcome{Result: attempt.Accepted, Level: attempt.Resource, Policy: unknownPolicy}) {
			t.Errorf("%s: the second one accepts: %+v", onFailure, o)
		}
	}
}

// A limiter that fails because no quota applies was told to.
func TestFailingWithoutQuotaIsAnAnswer(t *testing.T) {
	b := newBench(t, &config.ClientProxy{OnFailure: config.FailureAccept})
	b.entries(nil)
	b.serveN(2)
	for _, f := range b.limiters {
		f.answers(attempt.Outcome{Result: attempt.Failed, Failure: "no quota applies to this resource"}, nil)
	}
	if o := b.ask("r", ""); o.Result != attempt.Failed || o.Failure != "no quota applies to this resource" {
		t.Errorf("%+v", o)
	}
	if n := b.limiters["l0"].asked.Load() + b.limiters["l1"].asked.Load(); n != 1 {
		t.Errorf("%d limiters were asked, want 1", n)
	}
}

// After twice attempt-timeout nobody is asked any more.
func TestDeadline(t *testing.T) {
	b := newBench(t, &config.ClientProxy{})
	b.factor(1)
	b.serveN(4)
	for _, f := range b.limiters {
		f.holds()
	}
	ranked := b.ranked("r")
	later := b.start(question("r", "", 1))
	for i, after := range []time.Duration{timeout, timeout - 1, 1} {
		b.none(later)
		b.now.Add(int64(after))
		if n := ranked[i].release(attempt.Outcome{}, wire.ErrTimeout); n != 1 {
			t.Fatalf("limiter %d has %d attempts", i, n)
		}
	}
	o := b.got(later)
	if o.Result != attempt.Failed || o.Level != attempt.Resource {
		t.Errorf("%+v", o)
	}
	for _, part := range []string{ranked[2].id, "127.0.0.1:1", wire.ErrTimeout.Error()} {
		if !strings.Contains(o.Failure, part) {
			t.Errorf("%q does not say %q", o.Failure, part)
		}
	}
	if n := len(ranked[3].take()); n != 0 {
		t.Error("the fourth limiter was asked after the deadline")
	}
}

func TestOnFailure(t *testing.T) {
	for choice, want := range map[config.OnFailure]attempt.Outcome{
		config.FailureFail:   {Result: attempt.Failed, Level: attempt.Resource, Policy: unknownPolicy},
		config.FailureAccept: {Result: attempt.Accepted, Level: attempt.Resource, Policy: unknownPolicy},
		config.FailureReject: {Result: attempt.Rejected, Level: attempt.Resource, Policy: unknownPolicy},
	} {
		b := newBench(t, &config.ClientProxy{OnFailure: choice})
		b.waiting.ended = true // nobody waits
		b.factor(2)
		b.serveN(2)
		for _, f := range b.limiters {
			f.answers(attempt.Outcome{}, wire.ErrLost)
		}
		o := b.ask("r", "")
		if (o.Failure != "") != (choice == config.FailureFail) {
			t.Errorf("%s: %q", choice, o.Failure)
		}
		if o.Failure = ""; o != want {
			t.Errorf("%s: %+v", choice, o)
		}
		for _, f := range b.limiters {
			f.up.Store(false)
		}
		if o = b.ask("r", ""); o.Result != want.Result {
			t.Errorf("%s, all away: %+v", choice, o)
		}
		if choice == config.FailureFail && o.Failure != "no limiter can be reached" {
			t.Errorf("all away: %q", o.Failure)
		}
	}
}

// A shadow quota never rejects, whatever fails.
func TestShadowIsNotRejectedOnFailure(t *testing.T) {
	b := newBench(t, &config.ClientProxy{OnFailure: config.FailureReject})
	b.waiting.ended = true
	b.factor(1)
	b.serveN(1)
	b.limiters["l0"].set(false)
	if o := b.ask("shadow", ""); o.Result != attempt.Accepted || !o.Shadow {
		t.Errorf("%+v", o)
	}
}

// counted is a Later that says how often it was called.
type counted struct {
	n    atomic.Int32
	done *sync.WaitGroup
}

func (c *counted) Answer(attempt.Outcome) {
	c.n.Add(1)
	c.done.Done()
}

// unsteady is a limiter that answers from goroutines of its own, fails now and
// then, and is up and down.
type unsteady struct {
	*fakeLimiter
	calls chan wire.Call
}

func (u *unsteady) Ask(_ int64, _ *attempt.Attempt, call wire.Call) bool {
	if !u.Up() {
		return false
	}
	u.calls <- call
	return true
}

func (u *unsteady) Run(ctx context.Context) {
	for {
		select {
		case call := <-u.calls:
			switch rand.IntN(10) {
			case 0:
				call.Done(attempt.Outcome{}, wire.ErrLost)
			case 1:
				call.Done(attempt.Outcome{}, wire.ErrTimeout)
			case 2:
				call.Done(attempt.Outcome{Result: attempt.Failed, Failure: "starting"}, nil)
			case 3, 4:
				call.Done(attempt.Outcome{Result: attempt.Rejected, RetryAfter: time.Second}, nil)
			case 5:
				up := !u.Up()
				u.up.Store(up)
				u.changed(up, nil)
				fallthrough
			default:
				call.Done(accepted, nil)
			}
		case <-ctx.Done():
			return
		}
	}
}

// Whatever becomes of limiters and topologies, each attempt gets one answer.
func TestEachAttemptIsAnsweredOnce(t *testing.T) {
	const workers, each = 8, 3000
	b := newBench(t, &config.ClientProxy{Spill: true})
	b.factor(2)
	began := time.Now()
	b.clock = func() int64 { return int64(time.Since(began)) }
	b.fleet.connect = func(m topology.Member, changed func(bool, error)) Upstream {
		u := &unsteady{&fakeLimiter{id: m.ID, changed: changed}, make(chan wire.Call, workers*each*4)}
		u.up.Store(true)
		return u
	}
	b.fleet.grace = time.Minute // those that are gone answer what they have
	b.serveN(3)
	ctx, end := context.WithCancel(context.Background())
	var running, asking sync.WaitGroup
	running.Go(func() { _ = b.Run(ctx) })
	running.Go(func() {
		for i := int64(2); ctx.Err() == nil; i++ {
			members := []topology.Member{limiterMember("a", i), limiterMember("l1", 1), limiterMember(fmt.Sprint("n", i%3), 1)}
			b.serve(members[:1+i%3]...)
			select {
			case <-ctx.Done():
			case <-time.After(time.Millisecond):
			}
		}
	})
	var answered sync.WaitGroup
	laters := make([]counted, workers*each)
	for w := range workers {
		asking.Go(func() {
			for i := range each {
				later := &laters[w*each+i]
				later.done = &answered
				answered.Add(1)
				a := question(fmt.Sprint("r", i%50), "", uint32(i%3))
				if o, at := b.Attempt(b.clock(), a, later); at {
					later.Answer(o)
				}
			}
		})
	}
	asking.Wait()
	answered.Wait()
	end()
	running.Wait()
	for i := range laters {
		if n := laters[i].n.Load(); n != 1 {
			t.Fatalf("attempt %d was answered %d times", i, n)
		}
	}
	total := int64(0)
	for _, r := range []attempt.Result{attempt.Accepted, attempt.Rejected, attempt.Failed} {
		total += b.tally.Count(r, attempt.Resource, false)
	}
	if total != workers*each {
		t.Errorf("%d answers are counted, want %d", total, workers*each)
	}
	for why := range reasonCount {
		if b.retries[why].Load() == 0 {
			t.Errorf("nothing was retried because of %v", why)
		}
	}
}
