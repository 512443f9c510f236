package front

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/levee-project/levee/internal/attempt"
)

const (
	// trailLength is how many attempts wait to be logged. With their bytes that
	// is 2.4 MB, which is taken when verbose is switched on for the first time.
	trailLength = 2048
	// maxTraced is how much of each of an attempt's parts is logged, in bytes.
	maxTraced = 256
)

// trail is the log of attempts. An attempt is copied into a ring, and a goroutine
// of the trail's own writes it from there, as fast as the log takes it. What does
// not fit into the ring is dropped and counted: an answer never waits for the log.
type trail struct {
	write   func(slog.Record) // may block
	dropped prometheus.Counter
	put     chan struct{} // has one token when there may be something to write

	mu    sync.Mutex // guards the rest
	ring  []traced   // nil until the first attempt
	first int        // the oldest of those that wait
	n     int        // how many wait
	full  bool       // until half of the ring is free: gaps are few and long
	lost  int        // attempts that were dropped after the newest that waits
}

// traced is an attempt and its answer, copied.
type traced struct {
	at         time.Time
	result     attempt.Result
	level      attempt.Level
	shadow     bool
	hits       uint32
	retryAfter time.Duration
	failure    string
	lost       int // attempts that were dropped before it

	text  [partCount * maxTraced]byte
	sizes [partCount]int // of the parts as the client sent them
}

// The parts of an attempt.
const (
	partResource = iota
	partPrefix
	partMethod
	partReqID
	partCount
)

func newTrail(write func(slog.Record), dropped prometheus.Counter) *trail {
	return &trail{write: write, dropped: dropped, put: make(chan struct{}, 1)}
}

// trace takes an attempt that was answered. It never waits for the log.
func (t *trail) trace(a *attempt.Attempt, o *attempt.Outcome) {
	now := time.Now()
	t.mu.Lock()
	if t.ring == nil {
		t.ring = make([]traced, trailLength)
	}
	if t.full = t.n == len(t.ring) || t.full && t.n > len(t.ring)/2; t.full {
		t.lost++
		t.mu.Unlock()
		t.dropped.Inc()
		return
	}
	s := &t.ring[(t.first+t.n)%len(t.ring)]
	s.at, s.lost, t.lost = now, t.lost, 0
	s.copy(a, o)
	t.n++
	t.mu.Unlock()
	select {
	case t.put <- struct{}{}:
	default:
	}
}

func (s *traced) copy(a *attempt.Attempt, o *attempt.Outcome) {
	s.result, s.level, s.shadow, s.hits = o.Result, o.Level, o.Shadow, a.Hits
	s.retryAfter, s.failure = o.RetryAfter, o.Failure
	for i, part := range [partCount][]byte{a.Resource, a.Prefix, a.Method, a.ReqID} {
		s.sizes[i] = len(part)
		copy(s.text[i*maxTraced:(i+1)*maxTraced], part)
	}
}

// take moves the oldest attempt to s. When none waits, but some were dropped, it
// returns their number.
func (t *trail) take(s *traced) (lost int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n == 0 {
		lost, t.lost = t.lost, 0
		return lost, false
	}
	*s = t.ring[t.first]
	t.first = (t.first + 1) % len(t.ring)
	t.n--
	return s.lost, true
}

// run writes what is put into the trail until ctx ends, and then the rest.
func (t *trail) run(ctx context.Context) error {
	s := new(traced)
	for {
		t.drain(s)
		select {
		case <-t.put:
		case <-ctx.Done():
			t.drain(s)
			return nil
		}
	}
}

// drain writes everything that waits.
func (t *trail) drain(s *traced) {
	for {
		lost, ok := t.take(s)
		if lost > 0 {
			r := slog.NewRecord(time.Now(), slog.LevelWarn, "attempts are missing here, the log is too slow for them", 0)
			r.AddAttrs(slog.Int("attempts", lost))
			t.write(r)
		}
		if !ok {
			return
		}
		t.write(s.record())
	}
}

// record is what the log says of an attempt. Parts that are absent are left out.
func (s *traced) record() slog.Record {
	r := slog.NewRecord(s.at, slog.LevelDebug, "attempt", 0)
	r.AddAttrs(slog.String("result", s.result.String()), slog.String("quota", s.level.String()))
	if s.level != attempt.None {
		r.AddAttrs(slog.String("bucket", s.bucket()))
	}
	for i, key := range [partCount]string{"resource", "prefix", "method", "req_id"} {
		if s.sizes[i] > 0 {
			r.AddAttrs(slog.String(key, s.part(i)))
		}
	}
	r.AddAttrs(slog.Uint64("hits", uint64(s.hits)))
	if s.shadow {
		r.AddAttrs(slog.Bool("shadow", true))
	}
	if s.retryAfter > 0 {
		r.AddAttrs(slog.String("retry_after", s.retryAfter.String()))
	}
	if s.failure != "" {
		r.AddAttrs(slog.String("failure", s.failure))
	}
	return r
}

// part returns a part; one that was too long ends in an ellipsis.
func (s *traced) part(i int) string {
	text := s.text[i*maxTraced:][:min(s.sizes[i], maxTraced)]
	if s.sizes[i] > maxTraced {
		text = append(slices.Clip(text), "…"...)
	}
	return string(text)
}

// bucket spells the tuple that the attempt drew from as quotas are written down:
// the resource, and then the prefix and the method with a slash before each.
func (s *traced) bucket() string {
	b := s.part(partResource)
	if s.level == attempt.Full && s.sizes[partPrefix] > 0 {
		b += "/" + s.part(partPrefix)
	}
	if s.level != attempt.Resource && s.sizes[partMethod] > 0 {
		b += "/" + s.part(partMethod)
	}
	return b
}
