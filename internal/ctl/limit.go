package ctl

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/levee-project/levee/internal/quota"
	"github.com/levee-project/levee/internal/tree"
)

func (t *tool) limitCommand() *cobra.Command {
	return group("limit", "Quotas: how much may pass",
		t.limitGet(), t.limitSet(), t.limitRemove(), t.limitList(), t.limitSize())
}

// limit is a quota's entry, as it is stored.
type limit struct {
	Key      string      `json:"key"`
	Resource string      `json:"resource,omitempty"`
	Subkey   string      `json:"subkey,omitempty"`
	Rate     json.Number `json:"rate,omitempty"`
	Burst    json.Number `json:"burst,omitempty"`
	Per      string      `json:"per,omitempty"`
	Shadow   bool        `json:"shadow,omitempty"`
	// Fault says why the entry has no effect.
	Fault string `json:"fault,omitempty"`
	// Stored is the value as it is, where it cannot be read.
	Stored string `json:"stored,omitempty"`

	path quota.Path
}

// limitOf reads an entry. ok is false if its key is that of no quota.
func limitOf(key, value string) (l limit, ok bool) {
	p, err := quota.ParsePath(key)
	if err != nil || p.Kind == quota.KindFactorDefault || p.Kind == quota.KindFactorKey {
		return limit{}, false
	}
	l = limit{Key: key, Resource: p.Key, Subkey: p.Subkey, path: p}
	q, err := quota.ParseQuota(value)
	if err != nil {
		l.Fault, l.Stored = err.Error(), value
		return l, true
	}
	v := q.Value()
	l.Rate, l.Burst, l.Per, l.Shadow = json.Number(v.Rate), json.Number(v.Burst), v.Per, v.Shadow
	return l, true
}

func (t *tool) limitGet() *cobra.Command {
	var g target
	cmd := &cobra.Command{
		Use:   "get {RESOURCE | --default} [METHOD] [--prefix PREFIX]",
		Short: "Show one quota's entry",
		Long: `Get shows the entry for exactly this resource, prefix and method. What applies
where there is none is what explain tells.`,
		Example: `  leveectl limit get photos
  leveectl limit get photos GET --prefix albums
  leveectl limit get --default GET`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := g.parse(args); err != nil {
				return err
			}
			read, err := t.read(cmd.Context())
			if err != nil {
				return err
			}
			stored, value, ok := newPlanner(read).stored(g.limitKey())
			if !ok {
				return fmt.Errorf("%s: there is no such entry; explain tells what applies instead", g.limitKey())
			}
			l, _ := limitOf(stored, value)
			return t.print(l, func(w io.Writer) { limitTable(w, []limit{l}) })
		},
	}
	g.flags(cmd, true)
	return cmd
}

func (t *tool) limitSet() *cobra.Command {
	var g target
	var v quota.Value
	cmd := &cobra.Command{
		Use:   "set {RESOURCE | --default} [METHOD] [--prefix PREFIX] --rate RATE --burst BURST",
		Short: "Create or change a quota",
		Long: `Set writes the quota of a resource; with a method, a prefix or both, that of
this part of it. With --default it is for all resources that have no entry of their
own. The numbers are what a whole group of limiters may pass together; "limit size"
works them out. Changes are in force within a second.`,
		Example: `  leveectl limit set photos --rate 55 --burst 5.5
  leveectl limit set photos GET --prefix albums --rate 6600 --burst 165
  leveectl limit set mail --rate 60 --burst 9 --per 1m
  leveectl limit set --default --rate 110 --burst 11
  leveectl limit set --default DELETE --rate 5.5 --burst 0.55 --shadow`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := g.parse(args); err != nil {
				return err
			}
			q, err := quota.New(v)
			if err != nil {
				return usage("%s: %w", g.limitKey(), err)
			}
			return t.edit(cmd.Context(), func(p *planner) ([]step, error) {
				t.noteRisks(p, g.limitKey(), q)
				return p.set(g.limitKey(), v.String()), nil
			})
		},
	}
	g.flags(cmd, true)
	cmd.Flags().StringVar(&v.Rate, "rate", "", "`RATE` of requests that pass, a second or per --per; 0 rejects all")
	cmd.Flags().StringVar(&v.Burst, "burst", "", "`BURST`: more requests that are tolerated at once")
	cmd.Flags().StringVar(&v.Per, "per", "", "`TIME` that the rate is for, such as 1m or 1d (default one second)")
	cmd.Flags().BoolVar(&v.Shadow, "shadow", false, "Only count what would be rejected, and accept it")
	return cmd
}

// noteRisks tells what check would say about a quota that is being set.
func (t *tool) noteRisks(p *planner, key string, q *quota.Quota) {
	snapshot, _ := quota.NewCompiler().Compile(&tree.Tree{Entries: p.entries})
	path, err := quota.ParsePath(key)
	if err != nil {
		return // it was made by this package
	}
	size := snapshot.Factor([]byte(path.Key))
	if t.alone() {
		size = 1
	}
	for _, risk := range risks(q, size) {
		t.note("note: %s: %s", key, risk)
	}
}

func (t *tool) limitRemove() *cobra.Command {
	var g target
	cmd := &cobra.Command{
		Use:   "rm {RESOURCE | --default} [METHOD] [--prefix PREFIX]",
		Short: "Remove a quota",
		Long:  `Rm removes the entry; what is next in the order of explain applies then.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := g.parse(args); err != nil {
				return err
			}
			return t.remove(cmd.Context(), g.limitKey())
		},
	}
	g.flags(cmd, true)
	return cmd
}

func (t *tool) limitList() *cobra.Command {
	return &cobra.Command{
		Use:   "list [RESOURCE]",
		Short: "List all quotas, or those of one resource",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			read, err := t.read(cmd.Context())
			if err != nil {
				return err
			}
			list := []limit{} // [] in JSON
			faults := faultsOf(read)
			for key, value := range read.Entries {
				l, ok := limitOf(key, value)
				if ok && (len(args) == 0 || l.Resource == args[0]) {
					if l.Fault == "" {
						l.Fault = faults[key]
					}
					list = append(list, l)
				}
			}
			slices.SortFunc(list, func(a, b limit) int {
				return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Subkey, b.Subkey), cmp.Compare(a.Key, b.Key))
			})
			return t.print(list, func(w io.Writer) { limitTable(w, list) })
		},
	}
}

func limitTable(w io.Writer, list []limit) {
	row(w, "RESOURCE", "SUBKEY", "RATE", "BURST", "PER", "NOTE")
	for _, l := range list {
		resource, subkey, per, note := "(default)", "-", cmp.Or(l.Per, "1s"), ""
		if l.Resource != "" {
			resource = show(l.Resource)
		}
		if l.Subkey != "" {
			subkey = show(l.Subkey)
		}
		switch {
		case l.Stored != "" || l.Rate == "":
			note = "INVALID: " + l.Fault
			row(w, resource, subkey, "-", "-", "-", note)
			continue
		case l.Fault != "":
			note = "NO EFFECT: " + show(l.Key) + " " + l.Fault
		case l.Shadow:
			note = "shadow"
		}
		row(w, resource, subkey, l.Rate, l.Burst, per, note)
	}
}
