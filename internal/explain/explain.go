package explain

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/quota"
	"github.com/levee-project/levee/internal/topology"
	"github.com/levee-project/levee/internal/tree"
)

// Explanation is how an attempt would be decided.
type Explanation struct {
	Resource string `json:"resource"`
	Prefix   string `json:"prefix,omitempty"`
	Method   string `json:"method,omitempty"`
	// Places are where a quota is looked for, in order.
	Places []Place `json:"places"`
	// Level is where it was found: full, method, resource or none.
	Level string `json:"level"`
	// Entry is the key of the quota's entry, and Quota its value.
	Entry string `json:"entry,omitempty"`
	Quota string `json:"quota,omitempty"`
	// Bucket is what the attempt draws from.
	Bucket *Bucket `json:"bucket,omitempty"`
	Group  Group   `json:"group"`
	// Limiter is what each limiter of the group passes.
	Limiter *Share `json:"per_limiter,omitempty"`
}

// Place is one place where a quota is looked for.
type Place struct {
	Level string `json:"level"`
	Entry string `json:"entry"`
	Quota string `json:"quota,omitempty"`
	Fault string `json:"fault,omitempty"`
}

// Bucket is the tuple of an attempt that shares one allowance.
type Bucket struct {
	Resource string `json:"resource"`
	Prefix   string `json:"prefix,omitempty"`
	Method   string `json:"method,omitempty"`
}

// Group is the group of limiters that decides.
type Group struct {
	Wanted  int `json:"wanted"`
	InForce int `json:"in_force"`
	// Members are the limiters of the group, the first choice first, and StandIns
	// who serves when one of them is gone. Known where a view is.
	Members  []string `json:"members,omitempty"`
	StandIns []string `json:"stand_ins,omitempty"`
	// Ranked are all of them.
	Ranked []topology.Member `json:"-"`
}

// Share is what one limiter passes.
type Share struct {
	Rate      string  `json:"rate"`
	Burst     string  `json:"burst"`
	Interval  float64 `json:"emission_interval_ms"`
	Tolerance float64 `json:"tolerance_ms"`
	AtOnce    int64   `json:"at_once"`
}

// New tells how an attempt is decided by the limiters of a view, or by so many of
// them; without either, by as many as are wanted. faults are the entries that have
// no effect.
func New(
	snapshot *quota.Snapshot, faults []tree.Fault, a *attempt.Attempt, view *topology.View, limiters int,
) *Explanation {
	why := map[string]string{} // by canonical key
	for _, f := range faults {
		if p, err := quota.ParsePath(f.Key); err == nil {
			why[p.String()] = tree.Show(f.Key) + " " + f.Err.Error()
		}
	}
	e := &Explanation{Resource: string(a.Resource), Prefix: string(a.Prefix), Method: string(a.Method), Level: attempt.None.String()}
	e.group(snapshot.Factor(a.Resource), view, limiters)
	for _, p := range snapshot.Places(a) {
		at := Place{Level: p.Level.String(), Entry: p.Key, Fault: why[p.Key]}
		if p.Quota != nil {
			at.Quota = p.Quota.String()
		}
		e.Places = append(e.Places, at)
		if p.Quota != nil && e.Entry == "" {
			e.found(p, a)
		}
	}
	return e
}

// found takes the first place with a quota.
func (e *Explanation) found(p quota.Place, a *attempt.Attempt) {
	e.Level, e.Entry, e.Quota = p.Level.String(), p.Key, p.Quota.String()
	e.Bucket = &Bucket{Resource: string(a.Resource)}
	if p.Level == attempt.Full {
		e.Bucket.Prefix = string(a.Prefix)
	}
	if p.Level == attempt.Full || p.Level == attempt.Method {
		e.Bucket.Method = string(a.Method)
	}
	d := e.Group.InForce
	l := p.Quota.Limit(quota.Share{Num: 1, Den: d})
	size := big.NewRat(int64(d), 1)
	e.Limiter = &Share{
		Rate:     Decimal(new(big.Rat).Quo(p.Quota.Rate(), size)),
		Burst:    Decimal(new(big.Rat).Quo(p.Quota.Burst(), size)),
		Interval: Milliseconds(l.Interval), Tolerance: Milliseconds(l.Tolerance), AtOnce: l.Fit,
	}
}

// Milliseconds are nanoseconds in the unit of [Share].
func Milliseconds(ns int64) float64 { return float64(ns) / 1e6 }

// group works out who decides.
func (e *Explanation) group(wanted int, view *topology.View, limiters int) {
	e.Group = Group{Wanted: wanted, InForce: wanted}
	switch {
	case view != nil:
		e.Group.InForce = view.GroupSize(wanted)
		for i, at := range view.AppendRank(nil, []byte(e.Resource), view.Live()) {
			m := view.Serving()[at]
			e.Group.Ranked = append(e.Group.Ranked, m)
			name := fmt.Sprintf("%s (%s)", m.ID, m.Service)
			if i < e.Group.InForce {
				e.Group.Members = append(e.Group.Members, name)
			} else {
				e.Group.StandIns = append(e.Group.StandIns, name)
			}
		}
	case limiters > 0:
		e.Group.InForce = min(wanted, limiters)
	}
}

// Decimal is a number with at most six digits behind the point.
func Decimal(r *big.Rat) string {
	text := r.FloatString(6)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}
