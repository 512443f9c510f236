package wire

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
)

// rally is a Call of an asker that asks again once it is answered.
type rally struct {
	told chan struct{}
	err  error
}

func (r *rally) Done(_ attempt.Outcome, err error) {
	r.err = err
	r.told <- struct{}{}
}

// BenchmarkClient is a question over loopback to a limiter in the same process, and
// its answer. Each asker waits for its answer before it asks again.
func BenchmarkClient(b *testing.B) {
	for _, n := range []int{1, 8, 64, 200} {
		b.Run(fmt.Sprint("askers/", n), func(b *testing.B) { benchClient(b, n) })
	}
}

func benchClient(b *testing.B, askers int) {
	began := time.Now()
	clock := func() int64 { return int64(time.Since(began)) }
	var reads atomic.Int64
	s := serve(b, func(o *Options) {
		o.Decider, o.Clock = trivial{}, clock
		o.Observe = func(int, time.Duration) { reads.Add(1) }
	})
	c := connect(b, s.addr, func(o *ClientOptions) { o.Clock = clock })
	a := &attempt.Attempt{Resource: []byte("tenant-000123"), Prefix: []byte("albums"), Method: []byte("GET"), Hits: 1}
	var wg sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for i := range askers {
		share := b.N / askers
		if i < b.N%askers {
			share++
		}
		wg.Go(func() {
			r := &rally{told: make(chan struct{}, 1)}
			for range share {
				if !c.Ask(c.o.Clock(), a, r) {
					b.Error("not taken")
					return
				}
				if <-r.told; r.err != nil {
					b.Error(r.err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/float64(reads.Load()), "questions/read")
}

type nobody struct{}

func (nobody) Done(attempt.Outcome, error) {}

// BenchmarkClientLoop is what a question and its answer cost beside the reads and
// writes.
func BenchmarkClientLoop(b *testing.B) {
	for _, bench := range []struct {
		name    string
		outcome attempt.Outcome
		headers Headers
	}{
		{"accepted", attempt.Outcome{Result: attempt.Accepted}, HeadersRetryAfter},
		{"rejected", attempt.Outcome{Result: attempt.Rejected, RetryAfter: time.Second}, HeadersRetryAfter},
		{"ratelimit", attempt.Outcome{Result: attempt.Accepted, Level: attempt.Resource, Policy: attempt.Policy{Limit: 10, Window: time.Second}}, HeadersRateLimit},
	} {
		b.Run(bench.name, func(b *testing.B) {
			const n = 32
			k, _ := offlineClient(b)
			p := prepare(time.Now())
			var one, answers []byte
			one = p.appendOutcomeFrame(nil, 0, &bench.outcome, bench.headers)
			for range n {
				answers = append(answers, one...)
			}
			a := &attempt.Attempt{Resource: []byte("tenant-000123"), Prefix: []byte("albums"), Method: []byte("GET"), Hits: 1}
			b.ReportAllocs()
			for b.Loop() {
				if k.flights.next > maxStream-2*n {
					k.flights.start(1)
				}
				k.pending = k.pending[:0]
				for i := range n {
					binary.BigEndian.PutUint32(answers[i*len(one)+5:], k.flights.next)
					if taken, _ := k.ask(0, a, nobody{}); !taken {
						b.Fatal("not taken")
					}
				}
				k.receive(b, answers)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/question")
		})
	}
}
