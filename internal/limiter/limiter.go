package limiter

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/front"
	"github.com/levee-project/levee/internal/gossip"
	"github.com/levee-project/levee/internal/inforce"
	"github.com/levee-project/levee/internal/keytable"
	"github.com/levee-project/levee/internal/program"
)

// Main is the whole levee-limiter: it reads the configuration that args and the
// environment give, and serves until it is told to stop.
func Main(ctx context.Context, args []string) error {
	p := program.Program[*config.Limiter]{
		Name:  "levee-limiter",
		Role:  "limiter",
		Load:  config.LoadLimiter,
		Check: check,
		Setup: func(ctx context.Context, d *daemon.Daemon, run *program.Run[*config.Limiter]) error {
			l := &limiter{cfg: run.Config}
			return l.setup(ctx, d, run)
		},
	}
	return p.Main(ctx, args)
}

// check checks the files that the options name.
func check(cfg *config.Limiter) error {
	if err := inforce.CheckFiles(&cfg.Storage); err != nil || cfg.Standalone {
		return err
	}
	if _, err := gossip.ReadKey(cfg.GossipKeyFile); err != nil {
		return config.Unusable(err)
	}
	return nil
}

// limiter is one run of the daemon.
type limiter struct {
	cfg     *config.Limiter // as at the start
	front   *front.Front
	decider *Decider
	cluster *cluster // nil when it is alone

	configuration atomic.Pointer[inforce.Configuration] // nil before the first
}

// setup starts everything and returns when attempts can be answered. The stop
// goes backwards through what it registers.
func (l *limiter) setup(ctx context.Context, d *daemon.Daemon, run *program.Run[*config.Limiter]) error {
	TuneMemory()
	track, err := trackReadiness(d, l.cfg.VRRPTrackFile)
	if err != nil {
		return err
	}
	registerVRRP(d, l.cfg.VRRPStateDir)
	if l.front, err = front.Open(ctx, run.Log, &l.cfg.Serving); err != nil {
		return err
	}
	table := l.openTable(d, l.front.Clock)
	l.decider = NewDecider(table, l.cfg)
	registerKeys(d.Registry, table)
	collector := newCollector(table, l.front.Clock, l.cfg, d.Log)
	d.Go("collector", collector.run)

	if !l.cfg.Standalone {
		if l.cluster, err = enter(d, l.cfg, l.front.Addr(), l.decider); err != nil {
			return err
		}
	}
	l.front.Serve(d, &l.cfg.Serving, l.decider, l.decider.tally)
	run.Status.Add(l.report)
	if l.cfg.Standalone {
		l.openConsole(d, run.Status)
	}
	d.Handle("GET /bucket", adminapi.BucketPage(l.bucket))
	if err := inforce.Follow(ctx, d, run.Status, &l.cfg.Storage, l.apply); err != nil {
		return err
	}
	l.front.Admit()
	if err := l.cluster.join(ctx); err != nil {
		return err
	}
	track.resignWhenAsked(d, l.front.Dismiss)
	l.front.DrainOnStop(d, &l.cfg.Serving, func() {
		track.leave(l.front.Quietly)
		l.cluster.leaving()
	})
	run.OnReload(d, func(next *config.Limiter) {
		l.decider.SetRules(next)
		l.front.SetHeaders(next.ResponseHeaders)
		collector.configure(next)
	})
	return nil
}

// apply puts a new shared configuration in force.
func (l *limiter) apply(c *inforce.Configuration) {
	l.configuration.Store(c)
	l.decider.SetQuotas(c.Quotas)
	l.cluster.configure(c)
}

// report fills in this limiter's part of its status.
func (l *limiter) report(s *adminapi.Status) {
	keys := l.decider.table.Len()
	s.Keys, s.Attempts = &keys, l.decider.tally.Sums()
}

// bucket tells what the bucket of an attempt owes now.
func (l *limiter) bucket(a *attempt.Attempt) adminapi.Bucket {
	return l.decider.Bucket(l.front.Clock(), a)
}

// TuneMemory bounds what the heap may waste, unless GOGC is set. Nearly all of
// it is the key table, in which the garbage collector finds nothing to do, so
// collecting it twice as often as usual costs little and saves half of the waste.
func TuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
}

// openTable returns the key table, with the debts of the last run in it where
// there is a state file, and sees to their being saved at the stop.
func (l *limiter) openTable(d *daemon.Daemon, clock func() int64) *keytable.Table {
	var saved *state
	key := newKey()
	if path := l.cfg.StateFile; path != "" {
		var err error
		if saved, err = loadState(path); err != nil {
			d.Log.Error("starting without the debts of the last run", "err", err)
		}
		if saved != nil {
			key = saved.key
		}
	}
	table := keytable.New(key, int64(l.cfg.MaxKeys))
	if saved != nil {
		d.Log.Info("debts restored", "file", l.cfg.StateFile, "keys", saved.restore(table, clock(), time.Now()))
	}
	if path := l.cfg.StateFile; path != "" {
		d.OnStop("state file", time.Minute, func(context.Context) error {
			n, err := saveState(path, table, clock(), time.Now())
			if err == nil {
				d.Log.Info("debts saved", "file", path, "keys", n)
			}
			return err
		})
	}
	return table
}

func newKey() keytable.Key {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the process instead
	return keytable.Key{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])}
}
