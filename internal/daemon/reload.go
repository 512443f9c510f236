package daemon

import (
	"context"
	"time"
)

// reloadTimeout bounds one reload.
const reloadTimeout = 30 * time.Second

// reloads serves SIGHUP until ctx ends, one at a time. One that came during the
// start is served first.
func (l *life) reloads(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.hangups:
			l.reloadOnce(ctx)
		}
	}
}

// reloadOnce calls the daemon's reload. systemd hears that it is over also when
// it has failed, since the process serves on either way.
func (l *life) reloadOnce(ctx context.Context) {
	l.Log.Info("reloading", "reason", "SIGHUP")
	l.notify.reloading()
	defer l.notify.ready()
	ctx, cancel := context.WithTimeout(ctx, reloadTimeout)
	defer cancel()
	if err := l.reload(ctx); err != nil {
		l.Log.Error("reload failed, nothing has changed", "error", err)
		l.Health.SetNote("reload", "the last reload failed: "+err.Error())
		return
	}
	l.Health.SetNote("reload", "")
	l.Log.Info("reloaded")
}
