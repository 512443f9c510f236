package proxy

import (
	"testing"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
)

// noLater drops answers.
type noLater struct{}

func (noLater) Answer(attempt.Outcome) {}

// costBench is a decider with three limiters in groups of two.
func costBench(t testing.TB) *bench {
	b := newBench(t, &config.ClientProxy{})
	b.factor(2)
	b.serveN(3)
	return b
}

// With a limiter that answers at once, in the call.
func BenchmarkAttempt(b *testing.B) {
	p := costBench(b)
	now := p.now.Load()
	a := question("tenant-000123/object/photos-ab", "GET", 1)
	b.ReportAllocs()
	for b.Loop() {
		p.Attempt(now, a, noLater{})
	}
}

func BenchmarkAttemptParallel(b *testing.B) {
	p := costBench(b)
	now := p.now.Load()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		a := question("tenant-000123/object/photos-ab", "GET", 1)
		for pb.Next() {
			p.Attempt(now, a, noLater{})
		}
	})
}

func BenchmarkAttemptWithAStandIn(b *testing.B) {
	p := costBench(b)
	now := p.now.Load()
	a := question("tenant-000123/object/photos-ab", "GET", 1)
	p.ranked(string(a.Resource))[0].up.Store(false)
	b.ReportAllocs()
	for b.Loop() {
		p.Attempt(now, a, noLater{})
	}
}
