package gossip

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/levee-project/levee/internal/topology"
)

// Run joins the observers, and all those again that are lost, and calls Changed,
// until ctx ends. It returns nil.
func (n *Node) Run(ctx context.Context) error {
	defer context.AfterFunc(ctx, n.hush)()
	var both sync.WaitGroup
	both.Go(func() { n.showViews(ctx) })
	both.Go(func() { n.keepJoining(ctx) })
	both.Wait()
	return nil
}

// showViews hands out views. It looks for news on its own once a second, for
// silent members are forgotten without any.
func (n *Node) showViews(ctx context.Context) {
	var last *topology.View
	var mistakes []string
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		if v := n.View(); v != last {
			n.changed(v)
			last = v
		}
		mistakes = n.reportDuplicates(mistakes)
		select {
		case <-n.news:
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// reportDuplicates tells of instance-ids that several processes use.
func (n *Node) reportDuplicates(before []string) []string {
	n.mu.Lock()
	ids := n.tracker.Duplicates(time.Now())
	n.mu.Unlock()
	n.metrics.duplicates.Set(float64(len(ids)))
	for _, id := range ids {
		if !slices.Contains(before, id) {
			n.log.Error("several processes have the same instance-id, of which only the one that was started last counts; give each its own",
				"id", id)
		}
	}
	return ids
}

// wake sends to a channel that holds one.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
