package ctl

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/levee-project/levee/internal/topology"
	"github.com/levee-project/levee/internal/topologyrpc"
	"github.com/levee-project/levee/internal/tree"
)

// view returns the topology as an observer of the tree shows it now.
func (t *tool) view(ctx context.Context, read *tree.Tree) (*topology.View, error) {
	conf, err := t.conf()
	if err != nil {
		return nil, err
	}
	list, _ := new(topology.Observers).Take(read)
	if len(list) == 0 {
		return nil, errNoObservers
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var view *topology.View
	var lost error
	w := topologyrpc.NewWatcher(topologyrpc.WatcherOptions{
		Log: slog.New(slog.DiscardHandler),
		Apply: func(v *topology.View) {
			view = v
			cancel()
		},
		Timeout: conf.Timeout,
		Lost: func(_ time.Duration, err error) {
			lost = fmt.Errorf("no observer answers within %v: %w", conf.Timeout, err)
			cancel()
		},
	})
	w.SetObservers(list)
	if err := w.Run(ctx); err != nil {
		return nil, err
	}
	switch {
	case view != nil:
		return view, nil
	case lost != nil:
		return nil, lost
	}
	return nil, context.Cause(ctx) // it was interrupted
}
