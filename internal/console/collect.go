package console

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/topology"
)

// collector asks everybody, and puts frames together. Its rounds come one at a
// time.
type collector struct {
	source  Source
	client  *adminapi.Client
	rounds  int
	members map[string]*known // limiters and observers, by ID
	proxies map[string]*known // by ID
	last    time.Time         // when the last round ended
	newest  *adminapi.Storage // as of the last round

	history *history
}

func newCollector(s Source, c *adminapi.Client) *collector {
	return &collector{source: s, client: c, history: new(history)}
}

// forget begins anew: what is known is too old to tell anything.
func (c *collector) forget() {
	c.members, c.proxies, c.newest = map[string]*known{}, map[string]*known{}, nil
}

// round asks everybody once and returns the frame, as JSON.
func (c *collector) round(ctx context.Context) []byte {
	if time.Since(c.last) > staleAfter {
		c.forget()
	}
	c.rounds++
	self := c.source.Status()
	view := c.view(&self)
	c.follow(view)
	c.askMembers(ctx, view, &self)
	now := time.Now()
	c.last = now
	c.meet(view, now)
	c.askProxies(ctx)
	f := c.frame(view, &self, now)
	c.history.add(f)
	text, err := json.Marshal(f)
	if err != nil {
		return []byte("{}") // cannot happen: all of it is plain
	}
	return text
}

// view is who is there. A daemon without a cluster is there alone.
func (c *collector) view(self *adminapi.Status) *topology.View {
	if c.source.View == nil {
		return topology.NewView(1, []topology.Member{{
			ID: self.ID, Role: topology.Role(self.Role), State: stateOf(self), Version: self.Version, Since: self.Started,
			Service: c.source.Service,
		}})
	}
	if v := c.source.View(); v != nil {
		return v
	}
	return topology.NewView(0, nil)
}

func stateOf(s *adminapi.Status) topology.State {
	if s.Ready {
		return topology.Serving
	}
	return topology.Starting
}

// follow remembers the members of a view, and no others.
func (c *collector) follow(view *topology.View) {
	next := make(map[string]*known, len(view.Members()))
	for _, m := range view.Members() {
		k := c.members[m.ID]
		if k == nil || k.admin != m.Admin {
			k = &known{admin: m.Admin}
		}
		next[m.ID] = k
	}
	c.members = next
}

// asks are questions under way, asksAtOnce at a time.
type asks struct {
	work sync.WaitGroup
	free chan struct{}
}

func newAsks() *asks { return &asks{free: make(chan struct{}, asksAtOnce)} }

// one asks one process, unless it cannot be asked, or has not answered for long.
func (a *asks) one(ctx context.Context, c *collector, k *known, top bool) {
	if !k.admin.IsValid() || k.rests(c.rounds) {
		return
	}
	a.free <- struct{}{}
	a.work.Go(func() {
		defer func() { <-a.free }()
		c.askOne(ctx, k, top)
	})
}

// askMembers asks the limiters and observers.
func (c *collector) askMembers(ctx context.Context, view *topology.View, self *adminapi.Status) {
	a := newAsks()
	defer a.work.Wait()
	for i := range view.Members() {
		switch m := &view.Members()[i]; {
		case m.ID == self.ID && string(m.Role) == self.Role:
			c.members[m.ID].answered(self, time.Now())
		case m.State == topology.Silent: // it would only be waited for
			c.members[m.ID].failed(errSilent)
		default:
			a.one(ctx, c, c.members[m.ID], m.Role == topology.Limiter)
		}
	}
}

// askProxies asks the client-proxies, which the observers have just told of.
func (c *collector) askProxies(ctx context.Context) {
	a := newAsks()
	defer a.work.Wait()
	for _, k := range c.proxies {
		a.one(ctx, c, k, false)
	}
}

var errSilent = errors.New("nothing is heard of it")

func (c *collector) askOne(ctx context.Context, k *known, top bool) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	s, err := c.client.Status(ctx, k.admin)
	if err != nil {
		k.failed(err)
		return
	}
	k.answered(s, time.Now())
	if top {
		k.top, _ = c.client.Top(ctx, k.admin) // it may have none
	}
}

// meet takes from the observers' reports which client-proxies there are. One that
// is seen no more is remembered for a while, unless it said that it would go.
func (c *collector) meet(view *topology.View, now time.Time) {
	for _, m := range view.Members() {
		k := c.members[m.ID]
		if m.Role != topology.Observer || !k.answers() {
			continue
		}
		for _, w := range k.status.Watchers {
			p := c.proxies[w.ID]
			if p == nil || p.admin != w.Admin {
				p = &known{admin: w.Admin}
				c.proxies[w.ID] = p
			}
			if p.watcher == nil || p.watcher.Since.Before(w.Since) {
				p.watcher = &w
			}
			p.seen = now
		}
	}
	maps.DeleteFunc(c.proxies, func(_ string, p *known) bool {
		return now.Sub(p.seen) > missedTime || p.seen.Before(now) && p.watcher != nil && isDraining(p.status)
	})
}

// sortedProxies are the IDs of the client-proxies.
func (c *collector) sortedProxies() []string { return slices.Sorted(maps.Keys(c.proxies)) }
