package ctl

import (
	"context"
	"fmt"
	"math/big"

	"github.com/spf13/cobra"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/quota"
	"github.com/levee-project/levee/internal/topology"
	"github.com/levee-project/levee/internal/tree"
)

// explanation is how an attempt would be decided.
type explanation struct {
	Resource string `json:"resource"`
	Prefix   string `json:"prefix,omitempty"`
	Method   string `json:"method,omitempty"`
	// Places are where a quota is looked for, in order.
	Places []place `json:"places"`
	// Level is where it was found: full, method, resource or none.
	Level string `json:"level"`
	// Entry is the key of the quota's entry, and Quota its value.
	Entry string `json:"entry,omitempty"`
	Quota string `json:"quota,omitempty"`
	// Bucket is what the attempt draws from.
	Bucket *bucket `json:"bucket,omitempty"`
	Group  members `json:"group"`
	// Limiter is what each limiter of the group passes.
	Limiter *share `json:"per_limiter,omitempty"`
}

// place is one place where a quota is looked for.
type place struct {
	Level string `json:"level"`
	Entry string `json:"entry"`
	Quota string `json:"quota,omitempty"`
	Fault string `json:"fault,omitempty"`
}

// bucket is the tuple of an attempt that shares one allowance.
type bucket struct {
	Resource string `json:"resource"`
	Prefix   string `json:"prefix,omitempty"`
	Method   string `json:"method,omitempty"`
}

// members is the group of limiters that decides.
type members struct {
	Wanted  int `json:"wanted"`
	InForce int `json:"in_force"`
	// Members are the limiters of the group, the first choice first, and StandIns
	// who serves when one of them is gone. Known with --cluster only.
	Members  []string `json:"members,omitempty"`
	StandIns []string `json:"stand_ins,omitempty"`
	// Now is what each of Members would answer.
	Now []now `json:"now,omitempty"`

	addrs []string // of Members
}

// share is what one limiter passes.
type share struct {
	Rate      string  `json:"rate"`
	Burst     string  `json:"burst"`
	Interval  float64 `json:"emission_interval_ms"`
	Tolerance float64 `json:"tolerance_ms"`
	AtOnce    int64   `json:"at_once"`
}

func (t *tool) explainCommand() *cobra.Command {
	var g target
	var limiters int
	var cluster bool
	cmd := &cobra.Command{
		Use:   "explain RESOURCE [METHOD] [--prefix PREFIX]",
		Short: "Tell which quota applies to an attempt, and what it means",
		Long: `Explain goes through the places where a quota is looked for, in order, and tells
which one applies, which bucket the attempt draws from, and what each limiter of the
group passes of it. With --cluster it asks an observer who is in the group, and each of
these what it would answer now; those with response-headers: ratelimit also tell how
much is left.`,
		Example: `  leveectl explain photos GET --prefix albums`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := g.parse(args); err != nil {
				return err
			}
			if limiters < 0 || cluster && cmd.Flags().Changed("limiters") {
				return usage("--limiters must be at least 1, and cannot go with --cluster")
			}
			read, err := t.read(cmd.Context())
			if err != nil {
				return err
			}
			view, err := t.viewFor(cmd.Context(), read, cluster)
			if err != nil {
				return err
			}
			if limiters == 0 && t.alone() {
				limiters = 1
			}
			e := explain(read, g.attempt(), view, limiters)
			e.peek(cmd.Context(), g.header(), t.loaded.Timeout)
			return t.print(e, e.table)
		},
	}
	g.flags(cmd, false)
	cmd.Flags().IntVar(&limiters, "limiters", 0,
		"`N` limiters serve: with fewer than wanted the group is smaller (1 for a storage file, which has standalone limiters)")
	cmd.Flags().BoolVar(&cluster, "cluster", false, "Ask an observer of the shared configuration which limiters serve")
	return cmd
}

// viewFor returns the view of the cluster, nil where it is not asked for.
func (t *tool) viewFor(ctx context.Context, read *tree.Tree, cluster bool) (*topology.View, error) {
	if !cluster {
		return nil, nil
	}
	return t.view(ctx, read)
}

// explain tells how an attempt is decided by the limiters of a view, or by so
// many of them; without either, by as many as are wanted.
func explain(t *tree.Tree, a *attempt.Attempt, view *topology.View, limiters int) *explanation {
	snapshot, stored := compile(t)
	faults := map[string]string{}
	for key, fault := range stored {
		faults[canonical(key)] = show(key) + " " + fault
	}
	e := &explanation{Resource: string(a.Resource), Prefix: string(a.Prefix), Method: string(a.Method), Level: attempt.None.String()}
	e.group(snapshot.Factor(a.Resource), view, limiters)
	for _, p := range snapshot.Places(a) {
		at := place{Level: p.Level.String(), Entry: p.Key, Fault: faults[p.Key]}
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
func (e *explanation) found(p quota.Place, a *attempt.Attempt) {
	e.Level, e.Entry, e.Quota = p.Level.String(), p.Key, p.Quota.String()
	e.Bucket = &bucket{Resource: string(a.Resource)}
	if p.Level == attempt.Full {
		e.Bucket.Prefix = string(a.Prefix)
	}
	if p.Level == attempt.Full || p.Level == attempt.Method {
		e.Bucket.Method = string(a.Method)
	}
	d := e.Group.InForce
	l := p.Quota.Limit(quota.Share{Num: 1, Den: d})
	size := big.NewRat(int64(d), 1)
	e.Limiter = &share{
		Rate:     decimal(new(big.Rat).Quo(p.Quota.Rate(), size)),
		Burst:    decimal(new(big.Rat).Quo(p.Quota.Burst(), size)),
		Interval: milliseconds(l.Interval), Tolerance: milliseconds(l.Tolerance), AtOnce: l.Fit,
	}
}

func milliseconds(ns int64) float64 { return float64(ns) / 1e6 }

// group works out who decides.
func (e *explanation) group(wanted int, view *topology.View, limiters int) {
	e.Group = members{Wanted: wanted, InForce: wanted}
	switch {
	case view != nil:
		e.Group.InForce = view.GroupSize(wanted)
		for i, at := range view.AppendRank(nil, []byte(e.Resource), view.Live()) {
			m := view.Serving()[at]
			name := fmt.Sprintf("%s (%s)", m.ID, m.Service)
			if i < e.Group.InForce {
				e.Group.Members = append(e.Group.Members, name)
				e.Group.addrs = append(e.Group.addrs, m.Service.String())
			} else {
				e.Group.StandIns = append(e.Group.StandIns, name)
			}
		}
	case limiters > 0:
		e.Group.InForce = min(wanted, limiters)
	}
}
