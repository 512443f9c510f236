package limiter

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/keytable"
	"github.com/levee-project/levee/internal/quota"
	"github.com/levee-project/levee/internal/tree"
)

const second = int64(time.Second)

// options are those of a limiter that decisions depend on.
func options(noQuota config.NoQuota, policies bool) *config.Limiter {
	cfg := &config.Limiter{NoQuota: noQuota}
	if policies {
		cfg.ResponseHeaders = config.HeadersRateLimit
	}
	return cfg
}

// newTestDecider returns a decider with these entries in force.
func newTestDecider(t testing.TB, entries map[string]string) *Decider {
	t.Helper()
	d := NewDecider(keytable.New(keytable.Key{1, 2}, 0), options(config.NoQuotaAccept, true))
	setEntries(t, d, entries)
	return d
}

func setEntries(t testing.TB, d *Decider, entries map[string]string) {
	t.Helper()
	snapshot, faults := quota.NewCompiler().Compile(&tree.Tree{Revision: 1, Entries: entries})
	if len(faults) > 0 {
		t.Fatal(faults[0])
	}
	d.SetQuotas(snapshot)
}

func question(resource, prefix, method string, hits uint32) *attempt.Attempt {
	return &attempt.Attempt{Resource: []byte(resource), Prefix: []byte(prefix), Method: []byte(method), Hits: hits}
}

func ask(d *Decider, now int64, a *attempt.Attempt) attempt.Outcome {
	o, answered := d.Attempt(now, a, nil)
	if !answered {
		panic("a limiter answers in the call")
	}
	return o
}

func TestNothingPassesBeforeTheFirstTree(t *testing.T) {
	d := NewDecider(keytable.New(keytable.Key{}, 0), options(config.NoQuotaAccept, false))
	if o := ask(d, 0, question("r", "", "", 1)); o.Result != attempt.Failed || o.Failure == "" {
		t.Errorf("%+v, want a failure with its reason", o)
	}
	outcomes := make([]attempt.Outcome, 1)
	d.Attempts(0, []attempt.Attempt{*question("r", "", "", 1)}, outcomes)
	if outcomes[0].Result != attempt.Failed {
		t.Errorf("%+v in a batch, want a failure", outcomes[0])
	}
}

func TestWithoutQuota(t *testing.T) {
	d := newTestDecider(t, nil)
	for choice, want := range map[config.NoQuota]attempt.Result{
		config.NoQuotaAccept: attempt.Accepted, config.NoQuotaReject: attempt.Rejected, config.NoQuotaFail: attempt.Failed,
	} {
		d.SetRules(options(choice, false))
		if o := ask(d, 0, question("r", "", "", 1)); o.Result != want || o.Level != attempt.None || o.RetryAfter != 0 {
			t.Errorf("%s: %+v", choice, o)
		}
	}
	if d.table.Len() != 0 {
		t.Errorf("%d buckets for attempts without a quota", d.table.Len())
	}
}

func TestOutcome(t *testing.T) {
	d := newTestDecider(t, map[string]string{
		"limit/key/r/quota":        `{"rate": 1, "burst": 4}`,
		"limit/key/off/quota":      `{"rate": 0, "burst": 4}`,
		"limit/key/shadowed/quota": `{"rate": 1, "burst": 0, "shadow": true}`,
	})
	steps := []struct {
		name string
		at   float64
		a    *attempt.Attempt
		want attempt.Outcome
	}{
		{"peek at an idle bucket", 0, question("r", "", "", 0), attempt.Outcome{
			Result: attempt.Accepted, Level: attempt.Resource,
			Policy: attempt.Policy{Limit: 5, Window: 5 * time.Second, Remaining: 5},
		}},
		{"four hits", 0, question("r", "", "", 4), attempt.Outcome{
			Result: attempt.Accepted, Level: attempt.Resource,
			Policy: attempt.Policy{Limit: 5, Window: 5 * time.Second, Remaining: 1, Reset: 4 * time.Second},
		}},
		{"two more do not pass yet", 0.5, question("r", "", "", 2), attempt.Outcome{
			Result: attempt.Rejected, Level: attempt.Resource, Over: true, RetryAfter: 500 * time.Millisecond,
			Policy: attempt.Policy{Limit: 5, Window: 5 * time.Second, Remaining: 1, Reset: 3500 * time.Millisecond},
		}},
		{"six never do", 0.5, question("r", "", "", 6), attempt.Outcome{
			Result: attempt.Rejected, Level: attempt.Resource, Over: true,
			Policy: attempt.Policy{Limit: 5, Window: 5 * time.Second, Remaining: 1, Reset: 3500 * time.Millisecond},
		}},
		{"rate 0", 1, question("off", "", "", 1), attempt.Outcome{Result: attempt.Rejected, Level: attempt.Resource, Over: true}},
		{"shadow, within", 1, question("shadowed", "", "", 1), attempt.Outcome{
			Result: attempt.Accepted, Level: attempt.Resource, Shadow: true,
			Policy: attempt.Policy{Limit: 1, Window: time.Second, Reset: time.Second},
		}},
		{"shadow, over", 1, question("shadowed", "", "", 1), attempt.Outcome{
			Result: attempt.Accepted, Level: attempt.Resource, Shadow: true, Over: true,
			Policy: attempt.Policy{Limit: 1, Window: time.Second, Reset: time.Second},
		}},
	}
	for _, step := range steps {
		if got := ask(d, int64(step.at*1e9), step.a); got != step.want {
			t.Errorf("%s:\n got %+v\nwant %+v", step.name, got, step.want)
		}
	}
	if got := d.tally.Count(attempt.Rejected, attempt.Resource, true); got != 1 {
		t.Errorf("%d rejected in shadow were counted, want 1", got)
	}
}

// Deleting a resource's own quota puts the default of the same level in force,
// on the same bucket.
func TestDebtStaysWhenTheDefaultTakesOver(t *testing.T) {
	const day = `{"rate": 1, "per": "1d", "burst": 9}`
	d := newTestDecider(t, map[string]string{"limit/key_default": day, "limit/key/r/quota": day})
	ask(d, 0, question("r", "", "", 10))
	setEntries(t, d, map[string]string{"limit/key_default": day})
	if o := ask(d, second, question("r", "", "", 1)); o.Result != attempt.Rejected {
		t.Errorf("%+v: the debt is gone", o)
	}
}

func TestLongKeysNeverMix(t *testing.T) {
	d := newTestDecider(t, map[string]string{"limit/key_default": `{"rate": 1, "per": "1d", "burst": 0}`})
	for _, size := range []int{1, 64, 180, 200, 1000, attempt.MaxKeyPart} {
		key := make([]byte, size)
		for last := range 256 {
			key[size-1] = byte(last)
			if o := ask(d, 0, &attempt.Attempt{Resource: key, Hits: 1}); o.Result != attempt.Accepted {
				t.Fatalf("key of %d bytes ending in %d: %+v", size, last, o)
			}
		}
	}
}

// A batch gives the answers that its attempts would get one after the other.
func TestBatchIsOneAfterTheOther(t *testing.T) {
	entries := map[string]string{
		"limit/key_default":        `{"rate": 1, "burst": 3}`,
		"limit/subkey_default/GET": `{"rate": 2, "burst": 1}`,
		"limit/key/r3/quota":       `{"rate": 0, "burst": 1}`,
	}
	together, single := newTestDecider(t, entries), newTestDecider(t, entries)
	rnd := rand.New(rand.NewPCG(5, 6))
	methods := []string{"", "GET", "POST"}
	for round := range 200 {
		as := make([]attempt.Attempt, 1+rnd.IntN(100))
		for i := range as {
			as[i] = *question(fmt.Sprint("r", rnd.IntN(8)), "", methods[rnd.IntN(3)], rnd.Uint32N(4))
		}
		now := int64(round) * second / 3
		got := make([]attempt.Outcome, len(as))
		together.Attempts(now, as, got)
		for i := range as {
			if want := ask(single, now, &as[i]); got[i] != want {
				t.Fatalf("round %d, attempt %d: %+v in the batch, %+v alone", round, i, got[i], want)
			}
		}
	}
}

func TestDecisionDoesNotAllocate(t *testing.T) {
	d := newTestDecider(t, map[string]string{
		"limit/key_default":              `{"rate": 1000, "burst": 10}`,
		"limit/key/r/sublimit/a%2Fb/GET": `{"rate": 1000, "burst": 10}`,
	})
	now := int64(0)
	long := question(string(make([]byte, 1000)), string(make([]byte, 1000)), "GET", 1)
	for name, a := range map[string]*attempt.Attempt{"short": question("r", "a/b", "GET", 1), "long": long} {
		if n := testing.AllocsPerRun(1000, func() { now += 1000; d.Attempt(now, a, nil) }); n != 0 {
			t.Errorf("%s key: %v allocations per decision", name, n)
		}
	}
	as, outcomes := make([]attempt.Attempt, 64), make([]attempt.Outcome, 64)
	for i := range as {
		as[i] = *question(fmt.Sprint("r", i), "a/b", "GET", 1)
	}
	if n := testing.AllocsPerRun(100, func() { now += 1000; d.Attempts(now, as, outcomes) }); n != 0 {
		t.Errorf("%v allocations per batch", n)
	}
}

// underLoad makes a decider count hot keys as it does under so many attempts a
// second: at a low rate each is counted, which costs more, where it does not matter.
func underLoad(d *Decider, perSecond int) {
	a, o := question("r", "", "", 1), attempt.Outcome{Result: attempt.Accepted}
	for range perSecond {
		d.tally.Add(a, &o)
	}
}

func BenchmarkDecisionHotKey(b *testing.B) {
	d := newTestDecider(b, map[string]string{"limit/key_default": `{"rate": 1000000, "burst": 10}`})
	underLoad(d, 1_500_000) // well between two sampling rates, so that counts of instructions repeat
	a, now := question("tenant-000123/object/photos-ab", "", "", 1), int64(0)
	b.ReportAllocs()
	for b.Loop() {
		now += 700
		d.Attempt(now, a, nil)
	}
}

func BenchmarkDecisionTenMillionKeys(b *testing.B) {
	d := tenMillion(b)
	now, i, key := second, uint64(0), make([]byte, 30)
	a := &attempt.Attempt{Resource: key, Hits: 1}
	b.ReportAllocs()
	for b.Loop() {
		now += 700
		i++
		binary.BigEndian.PutUint64(key[22:], scatter(i))
		d.Attempt(now, a, nil)
	}
}

// Per attempt, in batches of 32.
func BenchmarkDecisionTenMillionKeysInBatches(b *testing.B) {
	d := tenMillion(b)
	now, i := second, uint64(0)
	as, outcomes := make([]attempt.Attempt, 32), make([]attempt.Outcome, 32)
	for k := range as {
		as[k] = attempt.Attempt{Resource: make([]byte, 30), Hits: 1}
	}
	b.ReportAllocs()
	for n := 0; n < b.N; n += len(as) {
		now += 700
		for k := range as {
			i++
			binary.BigEndian.PutUint64(as[k].Resource[22:], scatter(i))
		}
		d.Attempts(now, as, outcomes)
	}
}

const manyKeys = 10_000_000

// scatter spreads the numbers 0, 1, 2... over the keys, the same way each time.
func scatter(i uint64) uint64 { return i * 0x9e3779b97f4a7c15 % manyKeys }

func tenMillion(b *testing.B) *Decider {
	b.Helper()
	d := newTestDecider(b, map[string]string{"limit/key_default": `{"rate": 1000000, "burst": 10}`})
	fill(d)
	b.ResetTimer()
	return d
}

func fill(d *Decider) {
	key := make([]byte, 30)
	a := &attempt.Attempt{Resource: key, Hits: 1}
	for i := range uint64(manyKeys) {
		binary.BigEndian.PutUint64(key[22:], i)
		d.Attempt(0, a, nil)
	}
}
