package limiter

import (
	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/console"
	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/status"
)

// openConsole adds the console to the admin port. A limiter in a cluster has none:
// observers show it.
func (l *limiter) openConsole(d *daemon.Daemon, board *status.Board) {
	c := console.New(console.Source{
		Status: board.Report, Configuration: l.configuration.Load, Bucket: l.bucket, Service: l.front.Addr().AddrPort(),
		Top: func() adminapi.Top { return l.decider.tally.Top(l.front.Clock()) },
	})
	c.Register(d.Handle)
	d.Go("console", c.Run)
}
