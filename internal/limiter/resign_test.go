package limiter

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/daemon"
)

// TestResign: a limiter that is asked to resign gives its addresses up, quietly, goes
// on, and is ready again a little later.
func TestResign(t *testing.T) {
	path := filepath.Join(t.TempDir(), "track")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var quietly time.Duration
	err := daemon.Run(ctx, daemon.Options{Log: slog.New(slog.DiscardHandler)}, func(_ context.Context, d *daemon.Daemon) error {
		f, err := trackReadiness(d, path)
		if err != nil {
			return err
		}
		f.resignWhenAsked(d, func(_ context.Context, farewell time.Duration, do func()) {
			quietly = farewell
			do()
		})
		d.Go("test", func(ctx context.Context) error {
			defer cancel()
			awaitFile(ctx, t, path, "0\n")
			if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
				t.Error(err)
			}
			awaitFile(ctx, t, path, "-254\n")
			awaitFile(ctx, t, path, "0\n")
			return nil
		})
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if quietly != farewell {
		t.Errorf("clients had %v to hear of it", quietly)
	}
}

// TestResignNothing: the signal ends no limiter that has no address.
func TestResignNothing(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err := daemon.Run(ctx, daemon.Options{Log: slog.New(slog.DiscardHandler)}, func(_ context.Context, d *daemon.Daemon) error {
		(*trackFile)(nil).resignWhenAsked(d, func(context.Context, time.Duration, func()) { t.Error("it resigns") })
		d.Go("test", func(context.Context) error {
			defer cancel()
			return syscall.Kill(os.Getpid(), syscall.SIGUSR1)
		})
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func awaitFile(ctx context.Context, t *testing.T, path, want string) {
	t.Helper()
	for {
		text, err := os.ReadFile(path)
		if err == nil && string(text) == want {
			return
		}
		select {
		case <-ctx.Done():
			t.Errorf("the file says %q, error %v, want %q", text, err, want)
			return
		case <-time.After(time.Millisecond):
		}
	}
}
