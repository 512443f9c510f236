package proxy

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/wire"
)

func TestMetrics(t *testing.T) {
	b := newBench(t, &config.ClientProxy{})
	b.factor(1)
	m := &metrics{decider: b.Decider}
	m.collected.Store(17)
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(m)
	const before = `
# HELP levee_proxy_keys Buckets whose turn is remembered.
# TYPE levee_proxy_keys gauge
levee_proxy_keys 0
# HELP levee_proxy_keys_collected_total Buckets that were forgotten because they were not used.
# TYPE levee_proxy_keys_collected_total counter
levee_proxy_keys_collected_total 17
# HELP levee_proxy_retries_total Attempts that were handed to another limiter, by what became of the last one.
# TYPE levee_proxy_retries_total counter
levee_proxy_retries_total{reason="lost"} 0
levee_proxy_retries_total{reason="refused"} 0
levee_proxy_retries_total{reason="timeout"} 0
# HELP levee_proxy_spilled_total Attempts that one limiter rejected and a second one was asked about.
# TYPE levee_proxy_spilled_total counter
levee_proxy_spilled_total 0
# HELP levee_proxy_waiting Attempts that wait for any limiter to be there.
# TYPE levee_proxy_waiting gauge
levee_proxy_waiting 0
`
	if err := testutil.GatherAndCompare(r, strings.NewReader(before)); err != nil {
		t.Error(err)
	}

	b.serve(limiterMember("a", 1), limiterMember("b", 1))
	ranked := b.ranked("r")
	ranked[0].answers(attempt.Outcome{}, wire.ErrTimeout)
	b.ask("r", "")
	b.ask("r", "GET")
	ranked[0].set(false)
	// What a limiter was asked is counted over its restart, and gone when it is.
	first, second := ranked[0].id, ranked[1].id
	b.serve(limiterMember(first, 1), limiterMember(second, 2))
	after := strings.NewReplacer("FIRST", first, "SECOND", second).Replace(`
# HELP levee_proxy_limiter_attempts_total Attempts that a limiter was asked.
# TYPE levee_proxy_limiter_attempts_total counter
levee_proxy_limiter_attempts_total{limiter="FIRST"} 2
levee_proxy_limiter_attempts_total{limiter="SECOND"} 2
# HELP levee_proxy_limiter_errors_total Attempts that a limiter did not answer.
# TYPE levee_proxy_limiter_errors_total counter
levee_proxy_limiter_errors_total{limiter="FIRST",reason="lost"} 0
levee_proxy_limiter_errors_total{limiter="FIRST",reason="refused"} 0
levee_proxy_limiter_errors_total{limiter="FIRST",reason="timeout"} 2
levee_proxy_limiter_errors_total{limiter="SECOND",reason="lost"} 0
levee_proxy_limiter_errors_total{limiter="SECOND",reason="refused"} 0
levee_proxy_limiter_errors_total{limiter="SECOND",reason="timeout"} 0
# HELP levee_proxy_limiter_up 1 while a limiter can be asked.
# TYPE levee_proxy_limiter_up gauge
levee_proxy_limiter_up{limiter="FIRST"} 0
levee_proxy_limiter_up{limiter="SECOND"} 1
# HELP levee_proxy_keys Buckets whose turn is remembered.
# TYPE levee_proxy_keys gauge
levee_proxy_keys 0
`)
	if err := testutil.GatherAndCompare(r, strings.NewReader(after), "levee_proxy_limiter_up", "levee_proxy_keys",
		"levee_proxy_limiter_attempts_total", "levee_proxy_limiter_errors_total"); err != nil {
		t.Error(err)
	}
	b.serve(limiterMember(second, 2))
	if n, err := testutil.GatherAndCount(r, "levee_proxy_limiter_up"); n != 1 || err != nil {
		t.Errorf("%d limiters are shown, want 1 (%v)", n, err)
	}
	if problems, err := testutil.GatherAndLint(r); len(problems) > 0 || err != nil {
		t.Error(problems, err)
	}

	// Only where there is a choice does it matter whose turn it is.
	b.factor(2)
	b.serve(limiterMember("a", 1), limiterMember("b", 1))
	b.ask("r", "")
	b.ask("r", "GET")
	if n := b.deals.len(); n != 2 {
		t.Errorf("the turns of %d buckets are remembered, want 2", n)
	}
}
