package inforce

import (
	"log/slog"
	"maps"
	"slices"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/quota"
	"github.com/levee-project/levee/internal/status"
	"github.com/levee-project/levee/internal/storage"
	"github.com/levee-project/levee/internal/topology"
	"github.com/levee-project/levee/internal/tree"
)

// Configuration is the shared configuration in force at one revision. It is
// immutable.
type Configuration struct {
	Revision int64
	// Quotas has the quotas and the factors.
	Quotas *quota.Snapshot
	// Observers are sorted by name.
	Observers []topology.Addresses
	// Faults are the entries that have no effect.
	Faults []tree.Fault
}

// follower takes the shared tree: what the store hands out is compiled, whole,
// and then handed on. Its sink functions are called one at a time.
type follower struct {
	log     *slog.Logger
	health  *daemon.Health
	metrics *metrics
	board   *status.Board
	cache   *storage.Cache // nil without storage-cache
	apply   func(*Configuration)

	state     adminapi.Storage // without faults
	quotas    *quota.Compiler
	observers topology.Observers
	faults    map[string]string // by key: what the log has been told
	broken    bool              // the store holds something that is no tree at all
	first     bool              // no tree has come yet
	loaded    chan struct{}     // closed when the first tree is in force
}

func newFollower(
	log *slog.Logger, h *daemon.Health, m *metrics, cache *storage.Cache, apply func(*Configuration),
) *follower {
	return &follower{
		log: log, health: h, metrics: m, cache: cache, apply: apply,
		quotas: quota.NewCompiler(),
		faults: map[string]string{},
		first:  true,
		loaded: make(chan struct{}),
	}
}

func (f *follower) sink() tree.Sink { return tree.Sink{Tree: f.tree, Status: f.status} }

// tree puts a new tree in force.
func (f *follower) tree(t *tree.Tree) {
	snapshot, faults := f.quotas.Compile(t)
	observers, more := f.observers.Take(t)
	faults = append(faults, more...)
	f.apply(&Configuration{Revision: t.Revision, Quotas: snapshot, Observers: observers, Faults: faults})
	f.broken = false
	f.tell(faults)
	f.metrics.revision.Set(float64(t.Revision))
	f.state.Revision, f.state.Digest = t.Revision, t.Digest()
	f.post()
	f.log.Info("configuration in force", "revision", t.Revision, "quotas", snapshot.Quotas(), "invalid", len(faults))
	if f.cache != nil {
		entries := f.quotas.InForce()
		f.observers.InForce(entries)
		f.cache.Save(&tree.Tree{Revision: t.Revision, Entries: entries})
	}
	if f.first {
		f.first = false
		close(f.loaded)
	}
}

// tell logs each fault once, and once more when it is mended.
func (f *follower) tell(faults []tree.Fault) {
	now := make(map[string]string, len(faults))
	for _, fault := range faults {
		now[fault.Key] = fault.Err.Error()
		if f.faults[fault.Key] != now[fault.Key] {
			f.log.Error("invalid entry; the last good value stays in force", "key", fault.Key, "err", fault.Err)
		}
	}
	for key := range f.faults {
		if _, still := now[key]; !still {
			f.log.Info("entry is valid again, or gone", "key", key)
		}
	}
	f.faults = now
	f.countFaults()
}

// countFaults counts a store that holds no tree at all as one more invalid
// entry.
func (f *follower) countFaults() {
	n := len(f.faults)
	if f.broken {
		n++
	}
	f.metrics.invalid.Set(float64(n))
	f.state.Invalid = n
}

// post tells the status what is in force.
func (f *follower) post() {
	s := f.state
	for _, key := range slices.Sorted(maps.Keys(f.faults)) {
		if len(s.Faults) < adminapi.MaxFaults {
			s.Faults = append(s.Faults, adminapi.Fault{Key: key, Why: f.faults[key]})
		}
	}
	f.board.SetStorage(s)
}

// status takes whether the store answers. The store logs it itself.
func (f *follower) status(s tree.Status) {
	f.broken = s.Broken
	f.countFaults()
	connected, note, waiting := 1.0, "", "waiting for the shared configuration"
	if !s.Connected {
		connected = 0
	}
	if s.Err != nil {
		note = s.Err.Error()
		waiting += ": " + note
	}
	f.metrics.connected.Set(connected)
	f.state.Connected = s.Connected
	f.post()
	if f.first { // else the daemon waits for something else
		f.health.SetStarting(waiting)
	}
	f.health.SetNote("storage", note)
}
