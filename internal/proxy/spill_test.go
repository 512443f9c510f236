package proxy

import (
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/keytable"
	"github.com/levee-project/levee/internal/quota"
	"github.com/levee-project/levee/internal/wire"
)

func rejected(after time.Duration) attempt.Outcome {
	return attempt.Outcome{Result: attempt.Rejected, Over: true, RetryAfter: after}
}

// What becomes of the two answers.
func TestSpill(t *testing.T) {
	second := time.Second
	for _, test := range []struct {
		name     string
		first    attempt.Outcome
		then     attempt.Outcome
		err      error
		result   attempt.Result
		retry    time.Duration
		spilled  int64
		hits     uint32
		resource string
		factor   int
		off      bool
	}{
		{name: "accepted at once", first: accepted, result: attempt.Accepted},
		{name: "accepted by the other", first: rejected(second), then: accepted, result: attempt.Accepted, spilled: 1},
		{name: "a shorter wait", first: rejected(3 * second), then: rejected(second), result: attempt.Rejected, retry: second, spilled: 1},
		{name: "a longer wait", first: rejected(second), then: rejected(3 * second), result: attempt.Rejected, retry: second, spilled: 1},
		{name: "no wait is known of the first", first: rejected(0), then: rejected(second), result: attempt.Rejected, retry: second, spilled: 1},
		{name: "no wait is known of the other", first: rejected(second), then: rejected(0), result: attempt.Rejected, retry: second, spilled: 1},
		{name: "the other is lost", first: rejected(second), err: wire.ErrLost, result: attempt.Rejected, retry: second, spilled: 1},
		{
			name: "the other fails", first: rejected(second), then: attempt.Outcome{Failure: "starting"},
			result: attempt.Rejected, retry: second, spilled: 1,
		},
		{name: "not for peeks", first: rejected(second), then: accepted, result: attempt.Rejected, retry: second, hits: 7},
		{name: "not alone", first: rejected(second), then: accepted, result: attempt.Rejected, retry: second, factor: 1},
		{name: "not without a quota", first: rejected(0), then: accepted, result: attempt.Rejected, resource: "free"},
		{name: "not unless it is on", first: rejected(second), then: accepted, result: attempt.Rejected, retry: second, off: true},
	} {
		b := newBench(t, &config.ClientProxy{})
		b.SetSpill(!test.off)
		factor, hits := "2", uint32(1)
		if test.factor == 1 {
			factor = "1"
		}
		if test.hits == 7 {
			hits = 0
		}
		b.entries(map[string]string{"factor/default": factor, "limit/key/r/quota": `{"rate": 1, "burst": 1}`})
		b.serveN(3)
		first := true
		for _, f := range b.limiters {
			f.answersBy(func(int64, *attempt.Attempt) (attempt.Outcome, error) {
				if first {
					first = false
					return test.first, nil
				}
				return test.then, test.err
			})
		}
		resource := "r"
		if test.resource != "" {
			resource = test.resource
		}
		o := b.got(b.start(question(resource, "", hits)))
		if o.Result != test.result || o.RetryAfter != test.retry || b.spilled.Load() != test.spilled {
			t.Errorf("%s: %+v, spilled %d", test.name, o, b.spilled.Load())
		}
		if n := b.ranked(resource)[2].asked.Load(); n != 0 && test.factor != 1 {
			t.Errorf("%s: a limiter outside the group was asked", test.name)
		}
	}
}

// gcraLimiters has the limiters decide as real ones do, each its share.
func (b *bench) gcraLimiters(group int) {
	for i, f := range b.limiters {
		table := keytable.New(keytable.Key{1, uint64(len(i))}, 0)
		f.answersBy(func(now int64, a *attempt.Attempt) (attempt.Outcome, error) {
			q, level := b.quotas.Load().Resolve(a)
			limit := q.Limit(quota.Share{Num: 1, Den: group})
			tat, ok := table.Take(now, table.Bucket(quota.AppendBucket(nil, level, a)), &limit, int64(a.Hits))
			if ok {
				return accepted, nil
			}
			wait, _ := limit.Wait(tat, now, int64(a.Hits))
			return rejected(wait), nil
		})
	}
}

// passed makes attempts for five minutes, as many hits as hits says for each, and
// returns how many hits passed.
func (b *bench) passed(each time.Duration, hits func(i int) uint32) (n int64) {
	for i := range int(5 * time.Minute / each) {
		b.now.Add(int64(each))
		h := hits(i)
		if b.got(b.start(question("r", "", h))).Result == attempt.Accepted {
			n += int64(h)
		}
	}
	return n
}

// A small quota on three limiters, asked unevenly: one hit, then two, then one
// again, at two thirds of the rate. Dealt by attempts, one limiter gets more than
// its share. With spill the others take what it cannot; and where more is asked
// than the quota, no more passes than without a group, plus the bursts.
func TestSpillMakesUpForUnevenness(t *testing.T) {
	const rate = 3
	run := func(spill bool, each time.Duration, hits func(int) uint32) int64 {
		b := newBench(t, &config.ClientProxy{Spill: spill})
		b.entries(map[string]string{"factor/default": "3", "limit/key_default": `{"rate": 3, "burst": 6}`})
		b.serveN(3)
		b.gcraLimiters(3)
		return b.passed(each, hits)
	}
	uneven := func(i int) uint32 { return []uint32{1, 3, 1}[i%3] }
	every := time.Second * 5 / 3 / 2 // 2 hits a second
	asked := int64(0)
	for i := range int(5 * time.Minute / every) {
		asked += int64(uneven(i))
	}
	without, with := run(false, every, uneven), run(true, every, uneven)
	t.Logf("of %d hits, %d pass without spill and %d with it", asked, without, with)
	if without > asked*95/100 {
		t.Errorf("%d of %d hits pass without spill: the load is not uneven enough to show anything", without, asked)
	}
	if with != asked {
		t.Errorf("%d of %d hits pass with spill, want all: the quota is larger", with, asked)
	}
	most := int64(rate*5*60 + 6 + 3)
	if over := run(true, 50*time.Millisecond, uneven); over > most || over < most*98/100 {
		t.Errorf("under load %d hits pass, want %d at most, and nearly that", over, most)
	}
}
