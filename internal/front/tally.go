package front

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/hotkeys"
)

// Tally is what a daemon counts of its attempts: how many there were by answer,
// and which buckets have the most.
type Tally struct {
	Counts
	hot *hotkeys.Top
}

// NewTally returns a tally that begins at the clock's zero.
func NewTally() *Tally {
	return &Tally{hot: hotkeys.New(0, rand.Uint64())} //nolint:gosec // it picks samples
}

// Add counts an attempt and its answer.
func (t *Tally) Add(a *attempt.Attempt, o *attempt.Outcome) {
	if n, drawn := t.hot.Draw(t.add(a.Lane, kindOf(o), 1), a.Hits); drawn {
		t.sample(n, a, o)
	}
}

// AddAll counts attempts of one lane, and their answers. Those of a kind that
// follow each other cost the counts as much as one.
func (t *Tally) AddAll(as []attempt.Attempt, outcomes []attempt.Outcome) {
	for first := 0; first < len(as); {
		kind, end := kindOf(&outcomes[first]), first+1
		for end < len(as) && kindOf(&outcomes[end]) == kind {
			end++
		}
		serial := t.add(as[0].Lane, kind, end-first)
		for i := end - 1; i >= first; i-- {
			if n, drawn := t.hot.Draw(serial, as[i].Hits); drawn {
				t.sample(n, &as[i], &outcomes[i])
			}
			serial -= step
		}
		first = end
	}
}

// sample tells the hot keys of an attempt that was drawn. Few are, so this is a call
// of its own.
func (t *Tally) sample(n uint32, a *attempt.Attempt, o *attempt.Outcome) {
	t.hot.Add(n, a, o.Level, o.Over || o.Result == attempt.Rejected)
}

// Tick tells the hot keys of the time. It is to be called once a second.
func (t *Tally) Tick(now int64) { t.hot.Tick(now) }

// run has the hot keys decay until ctx ends.
func (t *Tally) run(ctx context.Context, clock func() int64) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			t.Tick(clock())
		case <-ctx.Done():
			return nil
		}
	}
}

// topKeys bounds each list of the page /top.
const topKeys = 200

// Top is the page /top.
func (t *Tally) Top(now int64) adminapi.Top {
	r := t.hot.Report(now, topKeys)
	return adminapi.Top{
		HalfLife: hotkeys.HalfLife.Seconds(), Seconds: r.Seconds, Lost: r.Lost,
		Attempts: keys(&r.Attempts), AttemptsTotal: r.Attempts.Total, AttemptsUnlisted: r.Attempts.Unlisted,
		Rejections: keys(&r.Rejections), RejectionsTotal: r.Rejections.Total, RejectionsUnlisted: r.Rejections.Unlisted,
	}
}

func keys(l *hotkeys.List) []adminapi.Key {
	list := make([]adminapi.Key, len(l.Entries)) // [] in JSON
	for i, e := range l.Entries {
		list[i] = adminapi.Key{
			Resource: e.Resource, Prefix: e.Prefix, Method: e.Method, Level: e.Level.String(), Count: e.Count, Error: e.Error,
		}
		if e.Digest != 0 {
			list[i].Digest = fmt.Sprintf("%016x", e.Digest)
		}
	}
	return list
}
