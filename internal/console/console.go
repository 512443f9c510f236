package console

import (
	"context"
	"net/netip"
	"time"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/inforce"
	"github.com/levee-project/levee/internal/topology"
)

// Bounds of a console.
const (
	// askPeriod is the time between two rounds of questions.
	askPeriod = time.Second
	// askTime is how long a member may take to answer.
	askTime = 800 * time.Millisecond
	// asksAtOnce is how many members are asked at the same time.
	asksAtOnce = 16
	// maxViewers is how many event streams there may be.
	maxViewers = 16
	// maxPictures is how many pictures of groups are drawn at the same time.
	maxPictures = 8
)

// Source is what a console learns from the daemon that serves it. Its functions
// may be called from any goroutine.
type Source struct {
	// Status is the daemon's own.
	Status func() adminapi.Status
	// Configuration is what is in force; nil before the first.
	Configuration func() *inforce.Configuration
	// View is who is in the cluster; nil in one that has no view yet. A daemon
	// without a cluster has no such function, and shows itself alone.
	View func() *topology.View
	// Service is where a limiter that is alone serves.
	Service netip.AddrPort
	// Bucket is what a limiter that is alone holds of a bucket.
	Bucket func(*attempt.Attempt) adminapi.Bucket
	// Top is the hottest keys of a limiter that is alone; it may be absent.
	Top func() adminapi.Top
}

// Console serves the page.
type Console struct {
	source    Source
	client    *adminapi.Client
	collector *collector
	viewers   *viewers
	pictures  chan struct{} // holds one for each picture that is being drawn
}

// New returns a console. Its pages need [Console.Run] to be alive.
func New(s Source) *Console {
	c := &Console{source: s, client: adminapi.NewClient(), viewers: newViewers(), pictures: make(chan struct{}, maxPictures)}
	c.collector = newCollector(s, c.client)
	return c
}

// Run asks the members while somebody watches, until ctx ends. It then ends all
// event streams.
func (c *Console) Run(ctx context.Context) error {
	defer c.client.Close()
	defer c.viewers.close()
	for c.viewers.await(ctx) {
		c.watch(ctx)
	}
	return nil
}

// watch goes from round to round until nobody watches.
func (c *Console) watch(ctx context.Context) {
	tick := time.NewTicker(askPeriod)
	defer tick.Stop()
	for c.viewers.any() {
		c.viewers.show(c.collector.round(ctx))
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
