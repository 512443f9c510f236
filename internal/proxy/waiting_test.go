package proxy

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/wire"
)

// waitingBench is a bench in a bubble of time, with one limiter that is down. The
// decider runs until stop is called.
func waitingBench(t *testing.T, cfg *config.ClientProxy) (b *bench, stop func()) {
	b = newBench(t, cfg)
	began := time.Now()
	b.clock = func() int64 { return int64(time.Since(began)) + int64(time.Hour) }
	b.factor(1)
	b.serveN(1)
	b.limiters["l0"].set(false)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = b.Run(ctx)
	}()
	return b, func() {
		cancel()
		<-ended
	}
}

// pass lets time pass, and everything happen that is due then.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestAttemptsWaitForALimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, stop := waitingBench(t, &config.ClientProxy{})
		defer stop()
		later := b.start(question("r", "", 1))
		pass(timeout * 3 / 2)
		b.none(later)
		if n := b.waiting.len(); n != 1 {
			t.Errorf("%d attempts wait, want 1", n)
		}
		b.limiters["l0"].set(true)
		pass(timeout / 10)
		if o := b.got(later); o.Result != attempt.Accepted {
			t.Errorf("%+v", o)
		}
	})
}

// A single limiter whose connection breaks may be asked again when it is back.
func TestAttemptOfALostConnectionWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, stop := waitingBench(t, &config.ClientProxy{})
		defer stop()
		l0 := b.limiters["l0"]
		l0.set(true)
		l0.holds()
		later := b.start(question("r", "", 1))
		l0.up.Store(false)
		l0.release(attempt.Outcome{}, wire.ErrLost)
		l0.answers(accepted, nil)
		pass(timeout)
		b.none(later)
		l0.up.Store(true)
		pass(timeout / 10)
		if o := b.got(later); o.Result != attempt.Accepted || l0.asked.Load() != 2 {
			t.Errorf("%+v", o)
		}

		l0.set(false)
		later = b.start(question("r", "", 1))
		pass(timeout)
		b.none(later)
		// It comes as another one: the topology was quicker than the connection.
		b.serve(limiterMember("l0", 2))
		pass(timeout / 10)
		if o := b.got(later); o.Result != attempt.Accepted || b.limiters["l0"].asked.Load() != 1 {
			t.Errorf("under a new topology: %+v", o)
		}
	})
}

// One that has not answered in time may have decided: it is not asked again, but
// another one that comes is.
func TestSilentLimiterIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, stop := waitingBench(t, &config.ClientProxy{})
		defer stop()
		l0 := b.limiters["l0"]
		l0.set(true)
		l0.holds()
		later := b.start(question("r", "", 1))
		pass(timeout)
		l0.release(attempt.Outcome{}, wire.ErrTimeout)
		pass(timeout / 2)
		b.none(later)
		if n := l0.asked.Load(); n != 1 {
			t.Errorf("it was asked %d times", n)
		}
		b.serveN(2)
		pass(timeout / 10)
		if o := b.got(later); o.Result != attempt.Accepted || b.limiters["l1"].asked.Load() != 1 {
			t.Errorf("%+v", o)
		}
	})
}

func TestWaitingEndsAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, stop := waitingBench(t, &config.ClientProxy{})
		defer stop()
		later := b.start(question("r", "", 1))
		pass(2*timeout - 1)
		b.none(later)
		pass(timeout / 10)
		if o := b.got(later); o.Result != attempt.Failed || o.Failure != "no limiter can be reached" {
			t.Errorf("%+v", o)
		}
		again := b.start(question("r", "", 1)) // the wait starts anew
		pass(timeout)
		b.none(again)
		pass(timeout * 11 / 10)
		b.got(again)
	})
}

func TestWaitingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, stop := waitingBench(t, &config.ClientProxy{})
		all := make([]*answer, maxWaiting)
		for i := range all {
			all[i] = b.start(question("r", "", 1))
			b.none(all[i])
		}
		if o := b.ask("r", ""); o.Result != attempt.Failed {
			t.Errorf("one too many: %+v", o)
		}
		stop()
		for _, later := range all {
			if o := b.got(later); o.Result != attempt.Failed {
				t.Fatalf("at the end: %+v", o)
			}
		}
		if o := b.ask("r", ""); o.Result != attempt.Failed {
			t.Errorf("after the end: %+v", o)
		}
	})
}
