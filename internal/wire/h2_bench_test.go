package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2/hpack"

	"github.com/levee-project/levee/internal/attempt"
)

// trivial is a Decider that costs next to nothing.
type trivial struct{}

func (trivial) Attempt(int64, *attempt.Attempt, attempt.Later) (attempt.Outcome, bool) {
	return attempt.Outcome{Result: attempt.Accepted, Level: attempt.Resource}, true
}

func (t trivial) Attempts(now int64, as []attempt.Attempt, outcomes []attempt.Outcome) {
	for i := range as {
		outcomes[i], _ = t.Attempt(now, &as[i], nil)
	}
}

// alone is the same without batches.
type alone struct{ attempt.Decider }

// volley is many requests in one piece, on streams that are renumbered each time.
type volley struct {
	bytes []byte
	at    []int // where the numbers are
	next  uint32
}

// newVolley spells requests as a client with a dynamic table does. The first
// volley of a connection teaches the server what the others refer to.
func newVolley(n int, resource func(i int) string) (first, others *volley) {
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	random := rand.New(rand.NewPCG(1, 2))
	build := func() *volley {
		v := &volley{next: 1}
		for range n {
			block.Reset()
			for _, f := range []hpack.HeaderField{
				{Name: ":method", Value: "POST"},
				{Name: ":scheme", Value: "http"},
				{Name: ":path", Value: "/attempt", Sensitive: true}, // libnghttp2 keeps it out of the table
				{Name: ":authority", Value: "127.0.0.1:5454"},
				{Name: "user-agent", Value: "h2load nghttp2/1.52.0"},
				{Name: "x-prefix", Value: "albums"},
				{Name: "x-method", Value: "GET"},
				{Name: "x-resource", Value: resource(random.IntN(1e6)), Sensitive: resource(0) != resource(1)},
			} {
				_ = enc.WriteField(f)
			}
			f := frame{length: block.Len(), kind: frameHeaders, flags: flagEndHeaders | flagEndStream}
			v.bytes = append(f.append(v.bytes), block.Bytes()...)
			v.at = append(v.at, len(v.bytes)-block.Len()-4)
		}
		return v
	}
	return build(), build()
}

// number gives the requests the next streams of a connection.
func (v *volley) number() []byte {
	for _, at := range v.at {
		binary.BigEndian.PutUint32(v.bytes[at:], v.next)
		v.next += 2
	}
	return v.bytes
}

func same(int) string { return "tenant-000123" }

func changing(i int) string { return fmt.Sprintf("tenant-%06d", i) }

// BenchmarkHTTP2Loop is what a request costs between the read and the write.
func BenchmarkHTTP2Loop(b *testing.B) {
	for _, bench := range []struct {
		name     string
		decider  attempt.Decider
		resource func(int) string
		headers  Headers
	}{
		{"same", trivial{}, same, HeadersRetryAfter},
		{"changing", trivial{}, changing, HeadersRetryAfter},
		{"ratelimit", trivial{}, same, HeadersRateLimit},
		{"no batches", alone{trivial{}}, same, HeadersRetryAfter},
	} {
		b.Run(bench.name, func(b *testing.B) {
			const n = 32
			o := plainOptions()
			o.Decider = bench.decider
			o.Headers = func() Headers { return bench.headers }
			h := inMemoryHTTP2(o)
			c := h.c
			first, others := newVolley(n, bench.resource)
			once := func(v *volley) {
				h.take()
				h.read(b, v.number())
				h.settle()
				h.observe()
				if len(c.out) < n*frameHeader || len(h.streams.open) > 0 {
					b.Fatalf("%d bytes of answers, %d streams open", len(c.out), len(h.streams.open))
				}
				c.out = c.out[:0]
				h.giveBack()
			}
			once(first)
			others.next = first.next
			b.ReportAllocs()
			for b.Loop() {
				if once(others); others.next > maxStream-2*n {
					h.last, others.next = 0, 1
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/request")
		})
	}
}

// plainOptions are those of a server whose time stands still.
func plainOptions() Options {
	return Options{
		Decider: trivial{}, Clock: func() int64 { return 0 },
		Health:  func() (bool, string) { return true, healthLine },
		Headers: func() Headers { return HeadersRetryAfter },
		Observe: func(int, time.Duration) {}, Verbose: func() bool { return false },
		Bad:           func(Reason) {},
		HeaderTimeout: time.Second, BodyTimeout: time.Second, IdleTimeout: time.Second, WriteTimeout: time.Second,
	}
}

// relay is a Decider that answers from a goroutine of its own, one after another.
type relay struct{ asked chan attempt.Later }

func newRelay(tb testing.TB) *relay {
	d := &relay{asked: make(chan attempt.Later, 1000)}
	var wg sync.WaitGroup
	wg.Go(func() {
		for later := range d.asked {
			later.Answer(attempt.Outcome{Result: attempt.Accepted, Level: attempt.Resource})
		}
	})
	tb.Cleanup(func() {
		close(d.asked)
		wg.Wait()
	})
	return d
}

func (d *relay) Attempt(_ int64, _ *attempt.Attempt, later attempt.Later) (attempt.Outcome, bool) {
	d.asked <- later
	return attempt.Outcome{}, false
}

// BenchmarkHTTP2 is a request over loopback, many of which come together.
func BenchmarkHTTP2(b *testing.B) {
	for _, n := range []int{1, 32, 200} {
		b.Run(fmt.Sprint("at once/", n), func(b *testing.B) { benchLoopback(b, n, trivial{}) })
	}
	for _, n := range []int{1, 32, 200} {
		b.Run(fmt.Sprint("late/", n), func(b *testing.B) { benchLoopback(b, n, newRelay(b)) })
	}
}

func benchLoopback(b *testing.B, n int, decider attempt.Decider) {
	s := serve(b, func(o *Options) { o.Decider = decider })
	c := s.dial(b)
	_ = c.SetDeadline(time.Time{})
	_, _ = c.Write(frame{kind: frameSettings}.append([]byte(preface)))
	_, _ = c.Write(frame{kind: frameSettings, flags: flagAck}.append(nil))
	greeting := make([]byte, len(appendSettings(nil))+frameHeader)
	if _, err := io.ReadFull(c, greeting); err != nil {
		b.Fatal(err)
	}
	first, others := newVolley(n, same)
	answers := make([]byte, n*len(s.prepared.Load().frames.accepted))
	once := func(v *volley) {
		if _, err := c.Write(v.number()); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(c, answers); err != nil {
			b.Fatal(err)
		}
	}
	once(first)
	others.next = first.next
	b.ReportAllocs()
	for b.Loop() {
		once(others)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/request")
}
