package limiter

import (
	"log/slog"

	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/quota"
	"github.com/levee-project/levee/internal/storage"
	"github.com/levee-project/levee/internal/tree"
)

// configuration follows the shared tree: what the store hands out is compiled
// into a snapshot, whole, and then put in force by swapping one pointer. Its
// sink functions are called one at a time.
type configuration struct {
	decider *Decider
	metrics *metrics
	health  *daemon.Health
	cache   *storage.Cache // nil without storage-cache
	log     *slog.Logger

	compiler *quota.Compiler
	faults   map[string]string // by key: what the log has been told
	broken   bool              // the store holds something that is no tree at all
	loaded   chan struct{}     // closed when the first tree is in force
}

func newConfiguration(d *Decider, m *metrics, h *daemon.Health, cache *storage.Cache, log *slog.Logger) *configuration {
	return &configuration{
		decider: d, metrics: m, health: h, cache: cache, log: log,
		compiler: quota.NewCompiler(),
		faults:   map[string]string{},
		loaded:   make(chan struct{}),
	}
}

func (c *configuration) sink() tree.Sink { return tree.Sink{Tree: c.tree, Status: c.status} }

// tree puts a new tree in force.
func (c *configuration) tree(t *tree.Tree) {
	snapshot, faults := c.compiler.Compile(t)
	first := c.decider.quotas.Load() == nil
	c.decider.SetQuotas(snapshot)
	c.broken = false
	c.tell(faults)
	c.metrics.revision.Set(float64(t.Revision))
	c.log.Info("configuration in force", "revision", t.Revision, "quotas", snapshot.Quotas(), "invalid", len(faults))
	if c.cache != nil {
		c.cache.Save(&tree.Tree{Revision: t.Revision, Entries: c.compiler.InForce()})
	}
	if first {
		close(c.loaded)
	}
}

// tell logs each fault once, and once more when it is mended.
func (c *configuration) tell(faults []tree.Fault) {
	now := make(map[string]string, len(faults))
	for _, f := range faults {
		now[f.Key] = f.Err.Error()
		if c.faults[f.Key] != now[f.Key] {
			c.log.Error("invalid entry; the last good value stays in force", "key", f.Key, "err", f.Err)
		}
	}
	for key := range c.faults {
		if _, still := now[key]; !still {
			c.log.Info("entry is valid again, or gone", "key", key)
		}
	}
	c.faults = now
	c.countFaults()
}

// countFaults counts a store that holds no tree at all as one more invalid
// entry.
func (c *configuration) countFaults() {
	n := len(c.faults)
	if c.broken {
		n++
	}
	c.metrics.invalid.Set(float64(n))
}

// status takes whether the store answers. The store logs it itself.
func (c *configuration) status(s tree.Status) {
	c.broken = s.Broken
	c.countFaults()
	connected, note, waiting := 1.0, "", "waiting for the shared configuration"
	if !s.Connected {
		connected = 0
	}
	if s.Err != nil {
		note = s.Err.Error()
		waiting += ": " + note
	}
	c.metrics.connected.Set(connected)
	c.health.SetStarting(waiting)
	c.health.SetNote("storage", note)
}
