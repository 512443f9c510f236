package limiter

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/levee-project/levee/internal/daemon"
)

// away is how long a limiter that was asked to resign says that it is not ready: its
// virtual addresses are elsewhere by then, and stay there.
const away = 3 * time.Second

// resignWhenAsked has SIGUSR1 give the virtual addresses up, as a stop does, while
// the limiter goes on: keepalived is about to stop. The signal is harmless also
// where there are none.
func (f *trackFile) resignWhenAsked(d *daemon.Daemon, dismiss func(ctx context.Context, farewell time.Duration, do func())) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	d.Go("resignation", func(ctx context.Context) error {
		defer signal.Stop(asked)
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-asked:
			}
			if ready, _ := d.Health.Ready(); f == nil || !ready {
				d.Log.Info("no virtual addresses to give up", "reason", "SIGUSR1")
				continue
			}
			d.Log.Info("giving the virtual addresses up", "reason", "SIGUSR1")
			dismiss(ctx, farewell, func() { f.tell(false) })
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(away):
			}
			if ready, _ := d.Health.Ready(); ready {
				f.tell(true)
			}
		}
	})
}
