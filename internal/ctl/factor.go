package ctl

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/levee-project/levee/internal/quota"
)

func (t *tool) factorCommand() *cobra.Command {
	return group("factor", "Group sizes: how many limiters share a resource",
		t.factorGet(), t.factorSet(), t.factorRemove(), t.factorList())
}

// factor is a group size's entry, as it is stored.
type factor struct {
	Key      string `json:"key"`
	Resource string `json:"resource,omitempty"`
	Factor   int    `json:"factor,omitempty"`
	Fault    string `json:"fault,omitempty"`
}

// factorOf reads an entry. ok is false if its key is that of no group size.
func factorOf(key, value string) (f factor, ok bool) {
	p, err := quota.ParsePath(key)
	if err != nil || p.Kind != quota.KindFactorDefault && p.Kind != quota.KindFactorKey {
		return factor{}, false
	}
	f = factor{Key: key, Resource: p.Key}
	if f.Factor, err = quota.ParseFactor(value); err != nil {
		f.Fault = err.Error()
	}
	return f, true
}

// about is a command about one group size.
func (g *target) about(cmd *cobra.Command, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	cmd.Flags().BoolVar(&g.byDefault, "default", false,
		"The default of all resources that have no entry of their own; then there is no RESOURCE argument")
	cmd.RunE = run
	return cmd
}

// factorArgs reads RESOURCE, unless the default is meant, and n more arguments.
func (g *target) factorArgs(args []string, more ...string) ([]string, error) {
	want := len(more)
	if !g.byDefault {
		want++
	}
	if len(args) != want {
		names := fmt.Sprint(append([]string{"RESOURCE"}, more...))
		if g.byDefault {
			names = fmt.Sprint(append([]string{"--default"}, more...))
		}
		return nil, usage("the arguments must be %s", names[1:len(names)-1])
	}
	if g.byDefault {
		return args, nil
	}
	return args[1:], g.parse(args[:1])
}

func (t *tool) factorGet() *cobra.Command {
	var g target
	return g.about(&cobra.Command{
		Use:   "get {RESOURCE | --default}",
		Short: "Show one group size's entry",
	}, func(cmd *cobra.Command, args []string) error {
		if _, err := g.factorArgs(args); err != nil {
			return err
		}
		read, err := t.read(cmd.Context())
		if err != nil {
			return err
		}
		stored, value, ok := newPlanner(read).stored(g.factorKey())
		if !ok {
			return fmt.Errorf("%s: there is no such entry; explain tells what applies instead", g.factorKey())
		}
		f, _ := factorOf(stored, value)
		return t.print(f, func(w io.Writer) { factorTable(w, []factor{f}) })
	})
}

func (t *tool) factorSet() *cobra.Command {
	var g target
	return g.about(&cobra.Command{
		Use:   "set {RESOURCE | --default} SIZE",
		Short: "Create or change a group size",
		Long: `Set says how many limiters share a resource, a whole number. Each passes an
equal part of its quotas. A standalone limiter ignores it.`,
		Example: `  leveectl factor set photos 4
  leveectl factor set --default 2`,
	}, func(cmd *cobra.Command, args []string) error {
		rest, err := g.factorArgs(args, "SIZE")
		if err != nil {
			return err
		}
		size, err := quota.ParseFactor(rest[0])
		if err != nil {
			return usage("%s: %w", g.factorKey(), err)
		}
		return t.edit(cmd.Context(), func(p *planner) ([]step, error) {
			return p.set(g.factorKey(), strconv.Itoa(size)), nil
		})
	})
}

func (t *tool) factorRemove() *cobra.Command {
	var g target
	return g.about(&cobra.Command{
		Use:   "rm {RESOURCE | --default}",
		Short: "Remove a group size",
	}, func(cmd *cobra.Command, args []string) error {
		if _, err := g.factorArgs(args); err != nil {
			return err
		}
		return t.remove(cmd.Context(), g.factorKey())
	})
}

func (t *tool) factorList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List all group sizes",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			read, err := t.read(cmd.Context())
			if err != nil {
				return err
			}
			list := []factor{} // [] in JSON
			faults := faultsOf(read)
			for key, value := range read.Entries {
				if f, ok := factorOf(key, value); ok {
					f.Fault = cmp.Or(f.Fault, faults[key])
					list = append(list, f)
				}
			}
			slices.SortFunc(list, func(a, b factor) int {
				return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Key, b.Key))
			})
			return t.print(list, func(w io.Writer) { factorTable(w, list) })
		},
	}
}

func factorTable(w io.Writer, list []factor) {
	row(w, "RESOURCE", "GROUP", "NOTE")
	for _, f := range list {
		resource, size, note := "(default)", "-", ""
		if f.Resource != "" {
			resource = show(f.Resource)
		}
		if f.Factor > 0 {
			size = strconv.Itoa(f.Factor)
		}
		switch {
		case f.Factor == 0:
			note = "INVALID: " + f.Fault
		case f.Fault != "":
			note = "NO EFFECT: " + show(f.Key) + " " + f.Fault
		}
		row(w, resource, size, note)
	}
}
