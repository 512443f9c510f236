package ctl

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/explain"
	"github.com/levee-project/levee/internal/topology"
	"github.com/levee-project/levee/internal/tree"
)

// explanation is an explanation with what the members of the group say now.
type explanation struct {
	*explain.Explanation
	Group groupNow `json:"group"`
	// Limiter is the explanation's, once more, because it stands behind the group.
	Limiter *explain.Share `json:"per_limiter,omitempty"`
}

// groupNow is the group, and what each of its members says.
type groupNow struct {
	explain.Group
	Now []now `json:"now,omitempty"`
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
these what it would answer now, and on its admin port what the bucket owes there: the
hits that it is ahead of its rate, which is 0 when it is idle.`,
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
			e := explained(read, g.attempt(), view, limiters)
			e.peek(cmd.Context(), &g, t.loaded.Timeout)
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

// explained explains an attempt by a tree that was read.
func explained(t *tree.Tree, a *attempt.Attempt, view *topology.View, limiters int) *explanation {
	snapshot, faults := compileAll(t)
	e := &explanation{Explanation: explain.New(snapshot, faults, a, view, limiters)}
	e.Group.Group, e.Limiter = e.Explanation.Group, e.Explanation.Limiter
	return e
}
