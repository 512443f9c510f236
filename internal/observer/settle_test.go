package observer

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// settled returns when settle does, in a world where the overlay is joined after
// a time and the view changes at others.
func settled(t *testing.T, joinedAfter time.Duration, changes ...time.Duration) time.Duration {
	t.Helper()
	var took time.Duration
	synctest.Test(t, func(t *testing.T) {
		joined, changed := make(chan struct{}), make(chan struct{}, 1)
		join := time.AfterFunc(joinedAfter, func() { close(joined) })
		defer join.Stop()
		for _, after := range changes {
			change := time.AfterFunc(after, func() { changed <- struct{}{} })
			defer change.Stop()
		}
		began := time.Now()
		if err := settle(t.Context(), joined, changed); err != nil {
			t.Error(err)
		}
		took = time.Since(began)
	})
	return took
}

func TestSettling(t *testing.T) {
	const ms = time.Millisecond
	var restless []time.Duration
	for after := 500 * ms; after < 10*time.Second; after += 900 * ms {
		restless = append(restless, after)
	}
	for name, tt := range map[string]struct {
		joined  time.Duration
		changes []time.Duration
		want    time.Duration
	}{
		"nothing happens":                     {0, nil, quietTime},
		"joined late":                         {2 * time.Second, nil, 2*time.Second + quietTime},
		"a change before it is joined":        {2 * time.Second, []time.Duration{500 * ms}, 2*time.Second + quietTime},
		"changes":                             {0, []time.Duration{400 * ms, 1300 * ms}, 1300*ms + quietTime},
		"a change just late enough":           {0, []time.Duration{1001 * ms}, quietTime},
		"it never stands still":               {0, restless, longestSettling},
		"nobody is joined":                    {time.Minute, nil, longestSettling},
		"joined, but too late to stand still": {4500 * ms, nil, longestSettling},
	} {
		if took := settled(t, tt.joined, tt.changes...); took != tt.want {
			t.Errorf("%s: settled after %v, want %v", name, took, tt.want)
		}
	}
}

func TestSettlingEndsWithItsContext(t *testing.T) {
	why := errors.New("SIGTERM")
	joined := make(chan struct{})
	ctx, end := context.WithCancelCause(t.Context())
	end(why)
	if err := settle(ctx, joined, nil); !errors.Is(err, why) {
		t.Errorf("before it is joined: %v, want %v", err, why)
	}
	close(joined)
	if err := settle(ctx, joined, nil); !errors.Is(err, why) {
		t.Errorf("after it is joined: %v, want %v", err, why)
	}
}
