package observer

import (
	"context"

	"github.com/levee-project/levee/internal/console"
	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/status"
)

// openConsole serves the console, where http-addr says so. It is there from the
// start, so that one can see what a start waits for.
func (o *observer) openConsole(ctx context.Context, board *status.Board) error {
	if o.cfg.HTTPAddr == "" {
		return nil
	}
	listener, err := daemon.Bind(ctx, "http-addr", o.cfg.HTTPAddr)
	if err != nil {
		return err
	}
	c := console.New(console.Source{Status: board.Report, Configuration: o.configuration.Load, View: o.view.Load})
	o.Log.Info("serving", "what", "console", "addr", listener.Addr().String())
	o.Serve("console pages", listener, c.Handler())
	o.Go("console", c.Run) // it ends before the pages do, and with it their streams
	return nil
}
