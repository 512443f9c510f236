// Package roster tells people who is in the cluster: it turns views of the
// topology into metrics and log lines. The three daemons have it in common.
package roster

import (
	"context"
	"log/slog"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/levee-project/levee/internal/topology"
)

// Roster shows the latest view. Its methods may be called from any goroutine.
type Roster struct {
	log     *slog.Logger
	members *prometheus.GaugeVec // by role and state
	short   prometheus.Gauge

	mu     sync.Mutex // guards the rest
	view   *topology.View
	factor int  // the largest group size that a resource wants
	lacks  int  // what the log was told last
	whole  bool // no group was short at some time; before that it is no news
}

// New returns a roster that shows nobody yet.
func New(r prometheus.Registerer, log *slog.Logger) *Roster {
	ro := &Roster{
		log: log,
		members: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "levee_members",
			Help: "Members of the cluster as known here, by role and state. Silent ones are dead or behind a partition.",
		}, []string{"role", "state"}),
		short: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "levee_group_short",
			Help: "Limiters that are missing for the largest factor in force; 0 when every group is complete.",
		}),
		view:   topology.NewView(0, nil),
		factor: 1,
	}
	r.MustRegister(ro.members, ro.short)
	ro.count()
	return ro
}

// View shows a new view.
func (r *Roster) View(v *topology.View) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tell(r.view, v)
	r.view = v
	r.count()
}

// Want says what the largest factor in force is.
func (r *Roster) Want(factor int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.factor = factor
	r.count()
}

// count sets the metrics, and logs when groups become short or complete.
func (r *Roster) count() {
	for _, role := range topology.Roles {
		for _, state := range topology.States {
			r.members.WithLabelValues(string(role), string(state)).Set(float64(r.view.Count(role, state)))
		}
	}
	lacks := 0
	if r.view.Revision() > 0 {
		lacks = max(0, r.factor-r.view.Live())
	}
	r.short.Set(float64(lacks))
	r.tellShort(lacks)
	r.lacks = lacks
	r.whole = r.whole || r.view.Live() > 0 && lacks == 0
}

func (r *Roster) tellShort(lacks int) {
	attrs := []any{"serving", r.view.Live(), "factor", r.factor}
	level := slog.LevelWarn
	if !r.whole {
		level = slog.LevelInfo // a cluster that starts is short for a moment
	}
	switch {
	case lacks == r.lacks:
	case lacks > 0:
		r.log.Log(context.Background(), level,
			"groups are short: fewer limiters serve than the largest factor asks for; those that do pass the whole quotas", attrs...)
	default:
		r.log.Info("groups are complete", attrs...)
	}
}

// tell logs what has changed from one view to the next.
func (r *Roster) tell(before, now *topology.View) {
	old := make(map[string]topology.Member, len(before.Members()))
	for _, m := range before.Members() {
		old[m.ID] = m
	}
	for _, m := range now.Members() {
		was, known := old[m.ID]
		delete(old, m.ID)
		if known && was.State == m.State && was.Incarnation == m.Incarnation {
			continue
		}
		attrs := []any{
			"id", m.ID, "role", string(m.Role), "state", string(m.State),
			"service", m.Service.String(), "gossip", m.Gossip.String(), "version", m.Version,
		}
		switch {
		case m.State == topology.Silent:
			r.log.Warn("a member fell silent: it is dead, or behind a partition", attrs...)
		case known && was.Incarnation != m.Incarnation:
			r.log.Info("a member was started again", attrs...)
		default:
			r.log.Info("member", attrs...)
		}
	}
	for _, m := range old {
		what := "a member left"
		if m.State == topology.Silent {
			what = "a silent member is forgotten"
		}
		r.log.Info(what, "id", m.ID, "role", string(m.Role))
	}
}
