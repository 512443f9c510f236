package limiter

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/daemon"
)

// track runs a daemon that keeps a track file, and returns what was in it: at the
// start, when ready, at the beginning of the drain, at its end, and after it.
func track(t *testing.T, path string, drain func(f *trackFile)) (seen []string) {
	t.Helper()
	look := func() {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		seen = append(seen, string(text))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := daemon.Run(ctx, daemon.Options{Log: slog.New(slog.DiscardHandler)}, func(_ context.Context, d *daemon.Daemon) error {
		f, err := trackReadiness(d, path)
		if err != nil {
			return err
		}
		look()
		d.OnStop("drain", 10*time.Second, func(context.Context) error {
			look()
			drain(f)
			look()
			return nil
		})
		d.Go("ready", func(ctx context.Context) error {
			defer cancel()
			late := time.After(10 * time.Second)
			for text := []byte(nil); string(text) != "0\n"; text, _ = os.ReadFile(path) {
				select {
				case <-ctx.Done():
					return nil
				case <-late:
					t.Errorf("ready, and the file says %q", text)
					return nil
				case <-time.After(time.Millisecond):
				}
			}
			look()
			return nil
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	look()
	return seen
}

func TestTrackFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "track")
	if err := os.WriteFile(path, []byte("0\n"), 0o600); err != nil { // of a run that was killed
		t.Fatal(err)
	}
	const ready, unready = "0\n", "-254\n"
	began := time.Time{}
	got := track(t, path, func(f *trackFile) {
		told := make(chan struct{})
		began = time.Now()
		f.leave(func(do func()) {
			do()
			close(told)
		})
		select {
		case <-told:
		case <-time.After(10 * time.Second):
			t.Error("the addresses stay")
		}
		if took := time.Since(began); took < farewell {
			t.Errorf("the addresses left after %v, before clients could hear of it", took)
		}
	})
	if want := []string{unready, ready, ready, unready, unready}; !slices.Equal(got, want) {
		t.Errorf("the file said %q, want %q", got, want)
	}
	if names, err := os.ReadDir(filepath.Dir(path)); err != nil || len(names) != 1 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}

// TestTrackFileAfterAShortDrain: the stop does not wait for the farewell, and yet
// leaves the file as it should be.
func TestTrackFileAfterAShortDrain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "track")
	got := track(t, path, func(f *trackFile) { f.leave(func(do func()) { do() }) })
	if last := got[len(got)-1]; last != "-254\n" {
		t.Errorf("the file says %q after the stop", last)
	}
}

func TestTrackFileThatCannotBeWritten(t *testing.T) {
	err := daemon.Run(t.Context(), daemon.Options{Log: slog.New(slog.DiscardHandler)}, func(_ context.Context, d *daemon.Daemon) error {
		_, err := trackReadiness(d, filepath.Join(t.TempDir(), "missing", "track"))
		return err
	})
	if err == nil {
		t.Error("started all the same")
	}
	if f, err := trackReadiness(nil, ""); f != nil || err != nil {
		t.Errorf("without a file: %v, %v", f, err)
	}
	(*trackFile)(nil).leave(nil)
}
