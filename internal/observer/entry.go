package observer

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"

	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/topology"
)

// example is what the value of an entry looks like.
const example = `{"gossip": "10.0.0.1:7373", "service": "10.0.0.1:5454"}`

// entry follows what the shared configuration says of this observer, which
// decides where it listens, and of the others, which it joins. Its methods may be
// called from any goroutine.
type entry struct {
	name   string
	key    string // in the store, in full
	health *daemon.Health
	log    *slog.Logger

	taken chan struct{} // holds one when there is something new

	mu    sync.Mutex         // guards the rest
	now   topology.Addresses // as it stands; without a name while there is none
	used  topology.Addresses // as this process listens; without a name before that
	seeds []netip.AddrPort   // the others, in the overlay
	sower func([]netip.AddrPort)
	told  string // what the log was told last
}

func newEntry(prefix, name string, h *daemon.Health, log *slog.Logger) *entry {
	return &entry{
		name: name, key: prefix + "/" + topology.ObserverKey(name), health: h, log: log,
		taken: make(chan struct{}, 1),
	}
}

// take takes the observers in force.
func (e *entry) take(list []topology.Addresses) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now, e.seeds = topology.Addresses{}, nil
	for _, o := range list {
		if o.Name == e.name {
			e.now = o
		} else {
			e.seeds = append(e.seeds, o.Gossip)
		}
	}
	if e.sower != nil {
		e.sower(e.seeds)
	}
	e.tell()
	select {
	case e.taken <- struct{}{}:
	default:
	}
}

// tell says on /readyz how the entry stands, and in the log when that changes.
func (e *entry) tell() {
	what := ""
	switch {
	case e.used.Name == "" && e.now.Name == "":
		what = "this observer has no entry in the shared configuration and waits for one"
	case e.used.Name == "":
	case e.now.Name == "":
		what = "this observer's entry is gone from the shared configuration; it goes on at the addresses it had"
	case e.now != e.used:
		what = "this observer's entry in the shared configuration has changed and needs a restart"
	}
	if what == e.told {
		return
	}
	e.told = what
	switch {
	case what == "":
		e.log.Info("this observer's entry is in the shared configuration", "key", e.key)
		e.health.SetNote("entry", "")
	case e.used.Name == "":
		e.log.Warn(what, "key", e.key, "example", example)
	default:
		e.log.Warn(what, "key", e.key)
		e.health.SetNote("entry", e.key+": "+what)
	}
}

// wait returns the addresses to listen on when they are known. The error is why
// ctx ended.
func (e *entry) wait(ctx context.Context) (topology.Addresses, error) {
	for {
		if own, ok := e.use(); ok {
			return own, nil
		}
		e.health.SetStarting(fmt.Sprintf("waiting for the entry %s, such as %s", e.key, example))
		select {
		case <-e.taken:
		case <-ctx.Done():
			return topology.Addresses{}, context.Cause(ctx)
		}
	}
}

// use settles where this process listens.
func (e *entry) use() (own topology.Addresses, known bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.used = e.now
	return e.used, e.used.Name != ""
}

// sow hands the addresses of the others in the overlay to seed, now and whenever
// they change.
func (e *entry) sow(seed func([]netip.AddrPort)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sower = seed
	seed(e.seeds)
}
