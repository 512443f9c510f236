package daemon_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/levee-project/levee/internal/daemon"
)

// A whole daemon that serves HTTP.
func Example() {
	daemon.Main("levee-example", func(ctx context.Context, _ []string) error {
		log, err := daemon.NewLog(daemon.LogOptions{Name: "levee-example", Format: "auto"}, os.Stderr)
		if err != nil {
			return err
		}
		o := daemon.Options{Log: log.Logger, MetricsAddr: "127.0.0.1:9454"}
		return daemon.Run(ctx, o, func(ctx context.Context, d *daemon.Daemon) error {
			ln, _, err := daemon.Listen(ctx, "listen-addr", "127.0.0.1:5454")
			if err != nil {
				return err
			}
			srv := &http.Server{ReadHeaderTimeout: 5 * time.Second}
			d.Go("serving", func(context.Context) error {
				if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
					return err
				}
				return nil
			})
			d.OnStop("drain", 10*time.Second, srv.Shutdown)
			d.OnReload(func(context.Context) error { return log.Set("text", true) })
			return nil
		})
	})
}
