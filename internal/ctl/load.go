package ctl

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/levee-project/levee/internal/attempt"
)

// load is what a bench sends.
type load struct {
	addr        string
	target      target
	http2       bool
	connections int
	streams     int // attempts under way on one connection
	duration    time.Duration
	rate        float64 // attempts a second; 0 = each as soon as the last is answered
	poisson     bool
	keys        int
	zipf        float64 // skew; 0 = all keys alike
	timeout     time.Duration
}

// tally is what came of it.
type tally struct {
	results map[string]int64 // by attempt.Result
	lost    int64            // attempts without an answer
	why     error            // of the first of them
	times   histogram
}

// run sends the load until its time is over or ctx ends, and returns how long that
// was.
func (l *load) run(ctx context.Context) (*tally, time.Duration) {
	start := time.Now()
	ctx, cancel := context.WithDeadline(ctx, start.Add(l.duration))
	defer cancel()
	due := &schedule{load: l, next: start, rng: rand.New(rand.NewPCG(uint64(start.UnixNano()), 1))} //nolint:gosec // chance is no secret here
	all := &tally{results: map[string]int64{}}
	var mu sync.Mutex // guards all
	var workers sync.WaitGroup
	for c := range l.connections {
		transport := &http.Transport{Protocols: new(http.Protocols), MaxConnsPerHost: 1, DisableCompression: true}
		transport.Protocols.SetHTTP1(!l.http2)
		transport.Protocols.SetUnencryptedHTTP2(l.http2)
		defer transport.CloseIdleConnections()
		for s := range l.streams {
			workers.Go(func() {
				one := l.work(ctx, transport, due, uint64(c*l.streams+s))
				mu.Lock()
				defer mu.Unlock()
				all.add(one)
			})
		}
	}
	workers.Wait()
	return all, time.Since(start)
}

// work sends one attempt after the other. An attempt's time counts from when it
// was due, so that a server which stalls cannot hide that by not being asked.
func (l *load) work(ctx context.Context, transport *http.Transport, due *schedule, seed uint64) *tally {
	one := &tally{results: map[string]int64{}}
	rng := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // chance is no secret here
	var zipf *rand.Zipf
	if l.zipf > 0 {
		zipf = rand.NewZipf(rng, l.zipf, 1, uint64(l.keys-1))
	}
	req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodPost, "http://"+l.addr+"/attempt", http.NoBody)
	if err != nil {
		one.lose(err)
		return one
	}
	for {
		at, ok := due.wait(ctx)
		if !ok {
			return one
		}
		req.Header = l.target.header()
		switch {
		case zipf != nil:
			req.Header["X-Resource"][0] += "-" + strconv.FormatUint(zipf.Uint64(), 10)
		case l.keys > 1:
			req.Header["X-Resource"][0] += "-" + strconv.Itoa(rng.IntN(l.keys))
		}
		result, err := l.send(transport, req)
		if err != nil {
			one.lose(err)
			continue
		}
		one.results[result]++
		one.times.add(time.Since(at))
	}
}

// send sends one attempt and reads its answer.
func (l *load) send(transport *http.Transport, req *http.Request) (result string, err error) {
	ctx, cancel := context.WithTimeoutCause(req.Context(), l.timeout, errLate)
	defer cancel()
	resp, err := transport.RoundTrip(req.WithContext(ctx))
	if err != nil {
		if errors.Is(context.Cause(ctx), errLate) {
			return "", errLate
		}
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, maxReason)); err != nil {
		return "", err
	}
	return resultOf(resp.StatusCode).String(), nil
}

var errLate = errors.New("it took too long; see --timeout")

// resultOf is what a status says.
func resultOf(code int) attempt.Result {
	switch code {
	case http.StatusOK:
		return attempt.Accepted
	case http.StatusTooManyRequests:
		return attempt.Rejected
	}
	return attempt.Failed
}

func (t *tally) lose(err error) {
	t.lost++
	if t.why == nil {
		t.why = err
	}
}

func (t *tally) add(o *tally) {
	for result, n := range o.results {
		t.results[result] += n
	}
	t.lost += o.lost
	if t.why == nil {
		t.why = o.why
	}
	t.times.merge(&o.times)
}

// schedule says when attempts are due.
type schedule struct {
	*load
	mu   sync.Mutex // guards what follows
	next time.Time
	rng  *rand.Rand
}

// wait waits until an attempt is due, and returns when that was; false if the time
// is over first.
func (s *schedule) wait(ctx context.Context) (time.Time, bool) {
	if s.rate == 0 {
		return time.Now(), ctx.Err() == nil
	}
	at := s.take()
	if end, ok := ctx.Deadline(); ok && !at.Before(end) {
		return at, false
	}
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return at, true
	case <-ctx.Done():
		return at, false
	}
}

// take returns when the next attempt is due: evenly, or at random with the same
// rate, as requests of many independent clients come.
func (s *schedule) take() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, pause := s.next, 1.0
	if s.poisson {
		pause = s.rng.ExpFloat64()
	}
	s.next = at.Add(time.Duration(pause / s.rate * 1e9))
	return at
}
