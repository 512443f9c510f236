package daemon

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// newTestLife returns a life in a bubble of fake time, and its context.
func newTestLife(t *testing.T, o Options) (context.Context, *life, *syncBuffer) {
	t.Helper()
	log, logged := testLog()
	o.Log = log
	ctx, stop := context.WithCancelCause(t.Context())
	t.Cleanup(func() { stop(nil) })
	return ctx, newLife(ctx, o, stop, nil), logged
}

// TestStopIsTheStartBackwards: each component runs until all that came after it
// has ended.
func TestStopIsTheStartBackwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, l, _ := newTestLife(t, Options{})
		var ended []string
		note := func(name string) { ended = append(ended, name) }
		component := func(name string) {
			l.Go(name, func(ctx context.Context) error {
				<-ctx.Done()
				<-time.After(time.Second) // ends slowly
				note(name)
				return ctx.Err()
			})
		}
		component("storage")
		l.OnStop("state", time.Second, func(context.Context) error { note("state"); return nil })
		component("serving")
		component("gossip")
		l.stop(stopSignal{})
		<-ctx.Done()
		l.end(errors.New("asked"), l.registered())
		if want := []string{"gossip", "serving", "state", "storage"}; !slices.Equal(ended, want) {
			t.Errorf("ended in the order %v, want %v", ended, want)
		}
		if err := l.err(); err != nil {
			t.Error(err)
		}
	})
}

// TestOverdueStepsAreNamedAndLeftBehind: the stop has a bound, whatever the
// steps do.
func TestOverdueStepsAreNamedAndLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, l, logged := newTestLife(t, Options{StopTimeout: 3 * time.Second})
		release := make(chan struct{})
		first := false
		l.OnStop("first", time.Second, func(context.Context) error { first = true; return nil })
		l.Go("hung component", func(context.Context) error { <-release; return nil })
		l.OnStop("hung clean-up", 2*time.Second, func(context.Context) error { <-release; return nil })
		l.OnStop("at its deadline", 4*time.Second, func(ctx context.Context) error { <-ctx.Done(); return nil })
		if got, want := l.bound(), (1+3+2+4)*time.Second+4*overdueGrace; got != want {
			t.Errorf("bound %v, want %v", got, want)
		}
		began := time.Now()
		l.unwind(0)
		if got, want := time.Since(began), (3+2+4)*time.Second+2*overdueGrace; got != want {
			t.Errorf("took %v, want %v", got, want)
		}
		if !first {
			t.Error("the stop did not go on")
		}
		want := "stopping hung clean-up: did not end in time\nstopping hung component: did not end in time"
		if err := l.err(); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
		wantContains(t, logged.String(),
			`level=ERROR msg="component did not stop in time, going on without it" component="hung clean-up" bound=2s`,
			`component="hung component" bound=3s`)
		if n := strings.Count(logged.String(), "level=ERROR"); n != 2 {
			t.Errorf("%d errors logged:\n%s", n, logged)
		}
		close(release)
	})
}

func TestComponentErrors(t *testing.T) {
	boom := errors.New("boom")
	untilCancelled := func(err error) func(context.Context) error {
		return func(ctx context.Context) error { <-ctx.Done(); return err }
	}
	tests := []struct {
		name    string
		run     func(context.Context) error
		stopped bool   // by the component
		want    string // "" = no error
	}{
		{"ends by itself", func(context.Context) error { return nil }, false, ""},
		{"fails", func(context.Context) error { return boom }, true, "storage: boom"},
		{"cancelled without being", func(context.Context) error { return context.Canceled }, true, "storage: context canceled"},
		{"ends when told", untilCancelled(nil), false, ""},
		{"cancelled", untilCancelled(context.Canceled), false, ""},
		{"fails to end well", untilCancelled(boom), false, "stopping storage: boom"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, l, _ := newTestLife(t, Options{})
				l.Go("storage", tt.run)
				synctest.Wait()
				if stopped := ctx.Err() != nil; stopped != tt.stopped {
					t.Errorf("stop asked for: %v, want %v", stopped, tt.stopped)
				}
				if ok, text := l.Health.Alive(); ok == tt.stopped {
					t.Errorf("Alive() = %v, %q", ok, text)
				}
				l.unwind(0)
				got := ""
				if err := l.err(); err != nil {
					got = err.Error()
				}
				if got != tt.want {
					t.Errorf("error %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// TestReloadIsCutShort by its own bound and by the stop.
func TestReloadHasABound(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	synctest.Test(t, func(t *testing.T) {
		ctx, l, _ := newTestLife(t, Options{})
		l.OnReload(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		l.Health.SetReady()
		began := time.Now()
		l.reloadOnce(ctx)
		if got := time.Since(began); got != reloadTimeout {
			t.Errorf("took %v", got)
		}
		if _, text := l.Health.Ready(); text != "ready (the last reload failed: context deadline exceeded)" {
			t.Errorf("Ready() says %q", text)
		}
		l.stop(stopSignal{})
		began = time.Now()
		l.reloadOnce(ctx)
		if got := time.Since(began); got != 0 {
			t.Errorf("took %v after the stop", got)
		}
	})
}
