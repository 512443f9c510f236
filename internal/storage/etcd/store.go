package etcd

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/levee-project/levee/internal/tree"
)

// stable is how long a session must have lasted for the next to start at once.
const stable = 5 * time.Second

// firstRetry is the pause after the first failure; it doubles up to RetryMax.
const firstRetry = 200 * time.Millisecond

// Store follows the tree below one prefix of an etcd cluster.
type Store struct {
	conf Config
	log  *slog.Logger
}

// New returns the store. It does nothing before Run.
func New(conf Config, log *slog.Logger) *Store {
	return &Store{conf: conf.withDefaults(), log: log}
}

// Run hands the tree to the sink as soon as it is known and at each change
// until ctx ends; then it returns nil, with all it started ended. While etcd is
// away it keeps trying, never more than RetryMax and Timeout apart. A tree
// carries the revision of etcd that its last change had.
func (s *Store) Run(ctx context.Context, sink tree.Sink) error {
	r := &reporter{endpoints: strings.Join(s.conf.Endpoints, ", "), sink: sink, log: s.log}
	pause := firstRetry
	for ctx.Err() == nil {
		began, trees := time.Now(), r.trees
		err := (&session{conf: s.conf, handOut: r.handOut}).run(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the session ended because it was told to
		}
		if r.trees == trees {
			r.away(err)
		} else {
			// It worked until now: not a failure until the next try fails.
			r.ended = err
			if time.Since(began) >= stable {
				pause = firstRetry
				continue
			}
		}
		sleep(ctx, pause/2+rand.N(pause/2)) //nolint:gosec // jitter is no secret
		pause = min(2*pause, s.conf.RetryMax)
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// reporter tells the sink and the log what changed, and only that. Only one
// goroutine uses it.
type reporter struct {
	endpoints string
	sink      tree.Sink
	log       *slog.Logger

	trees  int          // lists and changes that arrived
	last   *tree.Tree   // the last tree handed out, nil before the first
	status *tree.Status // the last status told, nil before the first
	since  time.Time    // when it went away
	ended  error        // why the last session ended, nil once that was told
}

// handOut takes a tree from a session; a new list that found nothing new goes
// no further.
func (r *reporter) handOut(t *tree.Tree) {
	r.trees++
	if r.last == nil || r.last.Revision != t.Revision || !maps.Equal(r.last.Entries, t.Entries) {
		if r.last != nil && t.Revision < r.last.Revision {
			r.log.Warn("etcd went back to an older revision, and its tree is in force",
				"endpoints", r.endpoints, "revision", t.Revision, "was", r.last.Revision)
		}
		r.last = t
		r.sink.Tree(t)
	}
	if r.status != nil && r.status.Connected {
		if r.ended != nil {
			r.log.Info("etcd was read anew", "endpoints", r.endpoints, "revision", t.Revision, "why", r.ended)
			r.ended = nil
		}
		return
	}
	attrs := []any{"endpoints", r.endpoints, "revision", t.Revision, "entries", len(t.Entries)}
	if r.status != nil {
		attrs = append(attrs, "away", time.Since(r.since).Round(time.Millisecond))
	}
	r.log.Info("etcd is read", attrs...)
	r.tell(tree.Status{Connected: true})
}

// away reports that etcd cannot be read. The reason may change while it lasts;
// that goes to the sink, but not to the log.
func (r *reporter) away(err error) {
	r.ended = nil
	err = fmt.Errorf("etcd at %s: %w", r.endpoints, err)
	switch old := r.status; {
	case old == nil || old.Connected:
		r.since = time.Now()
		r.log.Error("etcd is away, what is known stays in force", "endpoints", r.endpoints, "err", err)
	case old.Err.Error() == err.Error():
		return
	}
	r.tell(tree.Status{Err: err})
}

func (r *reporter) tell(s tree.Status) {
	r.status = &s
	r.sink.Status(s)
}
