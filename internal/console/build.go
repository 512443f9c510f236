package console

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/topology"
)

// frame puts together what is known after a round.
func (c *collector) frame(view *topology.View, self *adminapi.Status, now time.Time) *frame {
	f := &frame{Time: now, Members: []member{}, Problems: []problem{}}
	c.compare()
	for i := range view.Members() {
		m := &view.Members()[i]
		f.Members = append(f.Members, c.memberOf(m, self))
	}
	for _, id := range c.sortedProxies() {
		f.Members = append(f.Members, proxyOf(id, c.proxies[id], now))
	}
	order := map[string]int{"limiter": 0, "client-proxy": 1, "observer": 2}
	slices.SortStableFunc(f.Members, func(a, b member) int { return cmp.Compare(order[a.Role], order[b.Role]) })
	f.Rates = total(f.Members)
	if c.source.View != nil {
		f.Limiters = &limiters{Serving: view.Live(), Silent: view.Known() - view.Live()}
		if conf := c.source.Configuration(); conf != nil {
			f.Limiters.Wanted = conf.Quotas.MaxFactor()
		}
	}
	f.Store = c.store()
	c.hot(f)
	f.Problems = problems(f)
	return f
}

// memberOf is a member of the view.
func (c *collector) memberOf(m *topology.Member, self *adminapi.Status) member {
	k := c.members[m.ID]
	out := member{
		ID: m.ID, Role: string(m.Role), State: string(m.State), Health: healthy, Version: m.Version,
		Service: addr(m.Service), Admin: addr(m.Admin), Since: m.Since,
		Here: m.ID == self.ID && string(m.Role) == self.Role,
	}
	out.fill(k)
	switch {
	case m.State == topology.Silent:
		out.Health, out.Words = faulty, "nothing is heard of it, and it did not leave"
		out.Rates, out.Keys, out.Revision = nil, nil, nil
	case k.misses >= missesToFail:
		out.Health, out.State, out.Words = faulty, "no answer", "its admin port does not answer"
	case !k.admin.IsValid() && k.status == nil:
		out.Words = "its admin port cannot be reached from here"
	case m.State != topology.Serving:
		out.Health = unusual
	case k.status != nil:
		out.judge(k.status)
	}
	return out
}

// proxyOf is a client-proxy, which observers know of and the overlay does not.
func proxyOf(id string, k *known, now time.Time) member {
	out := member{ID: id, Role: "client-proxy", State: "serving", Health: healthy, Admin: addr(k.admin)}
	if w := k.watcher; w != nil {
		out.Version, out.Since, out.Service = w.Version, w.Since, ""
	}
	out.fill(k)
	lost := k.seen.Before(now)
	switch {
	case lost && !k.answers():
		out.Health, out.State, out.Words = faulty, "gone", "no observer hears of it, and it did not say that it stops"
		out.Rates, out.Keys, out.Revision = nil, nil, nil
	case lost:
		out.Health, out.State, out.Words = unusual, "alone", "it answers, and is connected to no observer"
	case k.misses >= missesToFail:
		out.Health, out.State, out.Words = faulty, "no answer", "its admin port does not answer"
	case k.status == nil && !k.admin.IsValid():
		out.Words = "its admin port cannot be reached from here"
	case isDraining(k.status):
		out.Health, out.State = unusual, "draining"
	case k.status != nil:
		out.judge(k.status)
		if down := linksDown(k.status); down != "" && out.Health == healthy {
			out.Health, out.Words = unusual, "it cannot ask "+down
		}
	}
	return out
}

// fill takes what the process says of itself.
func (m *member) fill(k *known) {
	m.Rates, m.Lags = k.rates, k.behind
	if s := k.status; s != nil {
		m.Keys = s.Keys
		m.Version = cmp.Or(s.Version, m.Version)
		if s.Storage != nil {
			m.Revision = &s.Storage.Revision
		}
	}
}

// judge takes what a member that serves says of its own state.
func (m *member) judge(s *adminapi.Status) {
	switch {
	case !s.Ready:
		m.Health, m.Words = unusual, s.State
		m.State = "not ready"
	case m.Lags:
		m.Health, m.Words = unusual, "its configuration is older than that of others"
	case s.Storage != nil && !s.Storage.Connected:
		m.Health, m.Words = unusual, "it is not connected to the store, and goes on with what it has"
	}
}

func isDraining(s *adminapi.Status) bool {
	return s != nil && !s.Ready && strings.HasPrefix(s.State, string(topology.Draining))
}

// linksDown names the limiters that a client-proxy cannot ask.
func linksDown(s *adminapi.Status) string {
	var down []string
	for _, l := range s.Limiters {
		if !l.Up {
			down = append(down, l.ID)
		}
	}
	return names(down)
}

// maxNames is how many members a sentence names.
const maxNames = 5

// names is "a, b and c".
func names(ids []string) string {
	if extra := len(ids) - maxNames; extra > 0 {
		return strings.Join(ids[:maxNames], ", ") + fmt.Sprintf(" and %d more", extra)
	}
	if len(ids) < 2 {
		return strings.Join(ids, "")
	}
	last := len(ids) - 1
	return strings.Join(ids[:last], ", ") + " and " + ids[last]
}

func addr(a netip.AddrPort) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

// total adds up what limiters decide, and what fails at client-proxies: these only
// hand on the other answers.
func total(members []member) *rates {
	var sum *rates
	for i := range members {
		m := &members[i]
		if m.Rates == nil {
			continue
		}
		if sum == nil {
			sum = new(rates)
		}
		sum.Failed += m.Rates.Failed
		if m.Role == string(topology.Limiter) {
			sum.Accepted += m.Rates.Accepted
			sum.Rejected += m.Rates.Rejected
		}
	}
	return sum
}
