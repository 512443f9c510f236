package graphite

import (
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// Each interval is one push, and the end is another.
func TestRounds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b book
		s := newSite(func(c net.Conn) { b.read(c) })
		stop := s.run(t)
		for i := range 10 {
			s.value.Set(float64(i))
			pass(interval)
		}
		s.value.Set(99)
		stop()
		synctest.Wait()
		if got, want := strings.Join(b.told(), " "), "0 1 2 3 4 5 6 7 8 9 99"; got != want {
			t.Errorf("the collector was told %s, want %s", got, want)
		}
		if sent := testutil.ToFloat64(s.metrics.sent); sent != float64(b.lines()) {
			t.Errorf("%v lines counted as sent, %d came", sent, b.lines())
		}
		if len(s.dialled()) != 1 {
			t.Errorf("%d connections, want one", len(s.dialled()))
		}
	})
}

// Pushes keep their place in the interval, far from its ends.
func TestPhase(t *testing.T) {
	t.Parallel()
	now := time.Unix(1700000000, 123)
	for range 1000 {
		b := New(Options{Interval: interval, Registry: prometheus.NewRegistry()})
		wait := untilNext(now, interval, b.phase)
		if wait <= 0 || wait > interval {
			t.Fatalf("the next push is after %v", wait)
		}
		into := time.Duration(now.Add(wait).UnixNano() % int64(interval))
		if into != b.phase || into < interval/4 || into >= 3*interval/4 {
			t.Fatalf("pushed %v into the interval", into)
		}
		if again := untilNext(now.Add(wait), interval, b.phase); again != interval {
			t.Fatalf("and then after %v", again)
		}
	}
}

// A collector that is away for long: a bounded number of polls waits, the others
// are counted, connections are tried ever less, and at its return what waits
// comes in order.
func TestAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(nil)
		stop := s.run(t)
		const rounds = 240 // an hour
		for i := range rounds {
			s.value.Set(float64(i))
			pass(interval)
		}
		synctest.Wait()
		polls, perPoll := s.waiting()
		if polls != maxPolls {
			t.Errorf("%d polls wait, want %d", polls, maxPolls)
		}
		if dropped := s.dropped(dropFull); dropped != float64((rounds-maxPolls-1)*perPoll) { // one is under way
			t.Errorf("%v lines were dropped, want those of %d polls of %d", dropped, rounds-maxPolls-1, perPoll)
		}
		hour, dials := rounds*interval.Seconds(), s.dialled()
		if n := len(dials); float64(n) < hour/longestPause.Seconds() || float64(n) > 2*hour/longestPause.Seconds()+10 {
			t.Errorf("%d connections tried in an hour", n)
		}
		for i := 1; i < len(dials); i++ {
			if d := dials[i].Sub(dials[i-1]); d > longestPause || i > 1 && d < firstPause/2 {
				t.Errorf("connection %d was tried %v after the one before", i, d)
			}
		}
		if s.dropped(dropStop) != 0 || testutil.ToFloat64(s.metrics.connected) != 0 {
			t.Error("something was dropped for the stop, or a connection is there")
		}

		var b book
		s.collector(func(c net.Conn) { b.read(c) })
		pass(longestPause)
		told := b.told()
		// The first one is what was under way all the time. Another push may be due
		// before the collector is found again, and takes the place of the oldest.
		if len(told) <= maxPolls || told[0] != "0" || told[1] != "220" && told[1] != "221" || told[maxPolls] != "239" {
			t.Errorf("the collector was told %v", told)
		}
		if testutil.ToFloat64(s.metrics.connected) != 1 {
			t.Error("the connection is not shown")
		}
		stop()
	})
}

// A collector that hangs up in the middle of a push gets it whole over the next
// connection.
func TestHungUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b book
		var before atomic.Bool
		s := newSite(func(c net.Conn) {
			if !before.Swap(true) {
				b.read(io.LimitReader(c, 150))
				_ = c.Close()
				return
			}
			b.read(c)
		})
		s.value.Set(7)
		stop := s.run(t)
		pass(interval)
		if told := b.told(); len(told) != 1 || told[0] != "7" || len(s.dialled()) != 2 {
			t.Errorf("told %v over %d connections", told, len(s.dialled()))
		}
		if sent := testutil.ToFloat64(s.metrics.sent); sent == 0 || s.dropped(dropFull)+s.dropped(dropStop) != 0 {
			t.Errorf("%v sent, or something dropped", sent)
		}
		stop()
	})
}

// One that takes a connection and hangs up at once is not run against.
func TestHangsUpAlways(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(func(c net.Conn) { _ = c.Close() })
		stop := s.run(t)
		pass(time.Hour)
		if n := len(s.dialled()); n > 2*3600/int(longestPause.Seconds())+10 {
			t.Errorf("%d connections in an hour", n)
		}
		stop()
	})
}

// A connection whose other end takes nothing any more counts as broken.
func TestHalfOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b book
		dead := make(chan struct{})
		var before atomic.Bool
		s := newSite(func(c net.Conn) {
			if !before.Swap(true) {
				<-dead
				return
			}
			b.read(c)
		})
		s.value.Set(3)
		stop := s.run(t)
		pass(2*interval + writeTime)
		if told := b.told(); len(told) < 1 || told[0] != "3" {
			t.Errorf("told %v", told)
		}
		if n := testutil.ToFloat64(s.metrics.failures); n != 1 {
			t.Errorf("%v failures counted, want 1", n)
		}
		close(dead)
		stop()
	})
}

// A collector that reads slowly, and goes on, keeps its connection; what it
// cannot take in time is dropped, the oldest first, and counted.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b book
		s := newSite(func(c net.Conn) {
			in, out := io.Pipe()
			go b.read(in)
			octets := make([]byte, chunk)
			for { // a chunk in nine seconds
				n, err := c.Read(octets)
				if err != nil {
					_ = out.Close()
					return
				}
				_, _ = out.Write(octets[:n])
				time.Sleep(9 * time.Second) //nolint:forbidigo // in a synctest bubble
			}
		})
		many := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "many", Help: "x"}, []string{"x"})
		for i := range 100 {
			many.WithLabelValues(strings.Repeat("x", i) + strings.Repeat("y", 1000)).Set(1)
		}
		s.o.Registry.MustRegister(many)
		stop := s.run(t)
		pass(30 * time.Minute)
		if polls, _ := s.waiting(); polls < maxPolls-1 || s.dropped(dropFull) == 0 || b.lines() == 0 {
			t.Errorf("%d polls wait, %v lines dropped, %d came", polls, s.dropped(dropFull), b.lines())
		}
		if n := testutil.ToFloat64(s.metrics.failures); n != 0 {
			t.Errorf("%v connections broke", n)
		}
		stop()
		pass(10 * time.Second) // the reader sees the end
	})
}

// The stop is bounded whatever the collector does, and short when there is none.
func TestStop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		serve func(net.Conn)
		most  time.Duration
	}{
		"no collector":    {nil, 0},
		"takes nothing":   {func(c net.Conn) { _, _ = c.Write(nil) }, flushTime},
		"always hangs up": {func(c net.Conn) { _ = c.Close() }, flushTime},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSite(c.serve)
				stop := s.run(t)
				pass(10 * interval)
				began := time.Now()
				stop()
				if took := time.Since(began); took > c.most {
					t.Errorf("the stop took %v", took)
				}
				if polls, _ := s.waiting(); s.dropped(dropStop) == 0 || polls != 0 {
					t.Errorf("%v lines dropped for the stop, %d polls left", s.dropped(dropStop), polls)
				}
			})
		})
	}
}

// At the stop the newest values go first, and a connection that broke unnoticed
// is replaced.
func TestLastValues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(nil)
		stop := s.run(t)
		for i := range 5 {
			s.value.Set(float64(i))
			pass(interval)
		}
		var b book
		s.collector(func(c net.Conn) { b.read(c) })
		s.value.Set(99)
		stop() // within the pause before the next connection
		synctest.Wait()
		told := b.told()
		if len(told) != 6 {
			t.Fatalf("told %v", told)
		}
		// One poll was under way; of the others the newest comes first.
		if told[0] != "0" || told[1] != "99" || told[5] != "1" {
			t.Errorf("told %v", told)
		}
	})
}

// A registry as large as one gets is pushed whole, and does not pile up.
func TestHugeRegistry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b book
		s := newSite(nil)
		many := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "many", Help: "x"}, []string{"x"})
		const series = 10_000
		for i := range series {
			many.WithLabelValues(strings.Repeat("x", 300+i%50) + time.Duration(i).String()).Set(float64(i))
		}
		s.o.Registry.MustRegister(many)
		stop := s.run(t)
		pass(4 * interval)
		if polls, _ := s.waiting(); polls != 1 || s.dropped(dropFull) == 0 {
			t.Errorf("%d polls wait; %v lines dropped", polls, s.dropped(dropFull))
		}
		s.collector(func(c net.Conn) { b.read(c) })
		stop()
		synctest.Wait()
		if b.lines() < series {
			t.Errorf("%d lines came, want %d and more", b.lines(), series)
		}
	})
}
