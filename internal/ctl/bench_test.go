package ctl

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestHistogram(t *testing.T) {
	var h, more histogram
	for i := range 1000 {
		d := time.Duration(i+1) * time.Millisecond
		if i%2 == 0 {
			h.add(d)
		} else {
			more.add(d)
		}
	}
	h.merge(&more)
	for q, want := range map[float64]time.Duration{.5: 501 * time.Millisecond, .99: 991 * time.Millisecond, 1: time.Second} {
		if got := h.quantile(q); got < want || got > want+want/fine {
			t.Errorf("quantile %v is %v, want about %v", q, got, want)
		}
	}
	if got := new(histogram).quantile(.5); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
	var b strings.Builder
	h.chart(&b)
	if lines := strings.Count(b.String(), "\n"); lines != 11 || !strings.HasSuffix(b.String(), strings.Repeat("#", chartWidth)+"\n") {
		t.Errorf("%d lines:\n%s", lines, b.String())
	}
	b.Reset()
	new(histogram).chart(&b)
	if b.String() != "" {
		t.Errorf("of nothing: %q", b.String())
	}
}

// Each duration is below the upper bound of its bucket, and not by much.
func TestHistogramBuckets(t *testing.T) {
	for i := range 62 {
		for _, d := range []time.Duration{1 << i, 1<<i + 1<<i/3, 1<<(i+1) - 1, 0} {
			up := upper(bucketOf(d))
			if up <= d || up > d+d/fine+1 {
				t.Errorf("%d is in a bucket up to %d", d, up)
			}
		}
	}
	if bucketOf(math.MaxInt64) >= len(histogram{}.counts) {
		t.Error("the longest duration has no bucket")
	}
}

// Attempts are due at the rate that was asked for, whoever takes them, and none
// after the end.
func TestSchedule(t *testing.T) {
	for _, poisson := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			ctx, cancel := context.WithDeadline(t.Context(), start.Add(10*time.Second))
			defer cancel()
			s := &schedule{load: &load{rate: 1000, poisson: poisson}, next: start, rng: rand.New(rand.NewPCG(1, 2))}
			n := 0
			for last := start; ; n++ {
				at, ok := s.wait(ctx)
				if !ok {
					break
				}
				if at.Before(last) || !time.Now().Equal(at) {
					t.Fatalf("due at %v after %v, now %v", at, last, time.Now())
				}
				last = at
			}
			if wrong := math.Abs(float64(n) - 10_000); wrong > 400 || !poisson && wrong > 1 {
				t.Errorf("poisson %v: %d in 10 s", poisson, n)
			}
		})
	}
}

func TestMustBeHere(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:1": "", "[::1]:1": "", "127.9.9.9:1": "",
		"192.0.2.1:1": "not this host", "[2001:db8::1]:1": "not this host", "nowhere": "missing port",
	} {
		err := mustBeHere(t.Context(), addr, time.Second)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", addr, err)
		}
	}
}
