package console

import (
	"net/netip"
	"time"

	"github.com/levee-project/levee/internal/adminapi"
)

const (
	// missesToFail is how many questions in a row a member leaves open to count as
	// one that does not answer. One can be lost on a busy machine.
	missesToFail = 2
	// missesToRest is after how many it is asked in every restRounds-th round only.
	missesToRest = 5
	restRounds   = 5
	// staleAfter is the age of a sample beyond which no rate is made of it.
	staleAfter = 5 * time.Second
	// missedTime is how long a client-proxy that no observer sees is shown.
	missedTime = 2 * time.Minute
)

// known is what the collector remembers of a process.
type known struct {
	admin  netip.AddrPort
	misses int
	err    error // of the last question

	status *adminapi.Status // the last answer
	at     time.Time        // when it came, by this process's clock
	rates  *rates
	top    *adminapi.Top
	behind bool // an older configuration than the newest of the round before

	// watcher is a client-proxy as an observer sees it, and seen the last time.
	watcher *adminapi.Watcher
	seen    time.Time
}

// failed takes it that a question got no answer.
func (k *known) failed(err error) {
	k.misses++
	k.err, k.rates, k.top = err, nil, nil
}

// answers says whether the process can be relied on to answer.
func (k *known) answers() bool { return k.misses < missesToFail && k.status != nil }

// rests says whether not to ask this time.
func (k *known) rests(round int) bool {
	return k.misses > missesToRest && round%restRounds != 0
}

// answered takes an answer, which came now.
func (k *known) answered(s *adminapi.Status, now time.Time) {
	k.rates = ratesBetween(k.status, s)
	k.status, k.at, k.misses, k.err = s, now, 0, nil
}

// ratesBetween returns answers a second between two reports of one run of a
// process, by its own clock. They are nil when that cannot be told.
func ratesBetween(a, b *adminapi.Status) *rates {
	if a == nil || a.Attempts == nil || b.Attempts == nil || !a.Started.Equal(b.Started) {
		return nil
	}
	took := b.Now.Sub(a.Now)
	if took <= 0 || took > staleAfter {
		return nil
	}
	per := func(before, after int64) float64 { return float64(max(0, after-before)) / took.Seconds() }
	return &rates{
		Accepted: per(a.Attempts.Accepted, b.Attempts.Accepted),
		Rejected: per(a.Attempts.Rejected, b.Attempts.Rejected),
		Failed:   per(a.Attempts.Failed, b.Attempts.Failed),
	}
}
