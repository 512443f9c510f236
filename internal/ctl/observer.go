package ctl

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/levee-project/levee/internal/topology"
	"github.com/levee-project/levee/internal/tree"
)

func (t *tool) observerCommand() *cobra.Command {
	return group("observer", "Observers: where the members of the cluster meet",
		t.observerAdd(), t.observerRemove(), t.observerList())
}

// observer is an observer's entry, as it is stored.
type observer struct {
	Name    string `json:"name"`
	Gossip  string `json:"gossip,omitempty"`
	Service string `json:"service,omitempty"`
	Fault   string `json:"fault,omitempty"`

	key string
}

func (t *tool) observerAdd() *cobra.Command {
	var gossip, service string
	var replace bool
	cmd := &cobra.Command{
		Use:   "add NAME --gossip IP:PORT --service IP:PORT",
		Short: "Add an observer",
		Long: `Add says where the observer with this observer-name listens: the overlay's
members under the gossip address, client-proxies under the service address. Both must
be addresses that others reach it at.`,
		Example: `  leveectl observer add observer-1 --gossip 10.0.0.1:7373 --service 10.0.0.1:5455`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			value := fmt.Sprintf(`{"gossip": %q, "service": %q}`, gossip, service)
			if _, err := topology.ParseObserver(value); err != nil {
				return usage("observer %s: %w", show(args[0]), err)
			}
			if err := checkPart("NAME", args[0]); err != nil {
				return err
			}
			key := topology.ObserverKey(args[0])
			return t.edit(cmd.Context(), func(p *planner) ([]step, error) {
				steps := p.set(key, value)
				if stored, old, ok := p.stored(key); ok && len(steps) > 0 && !replace {
					return nil, fmt.Errorf("%s: is there already, with %s; --replace changes it", stored, old)
				}
				return steps, nil
			})
		},
	}
	cmd.Flags().StringVar(&gossip, "gossip", "", "Address in the gossip overlay, `IP:PORT`")
	cmd.Flags().StringVar(&service, "service", "", "Address of the gRPC interface, `IP:PORT`")
	cmd.Flags().BoolVar(&replace, "replace", false, "Change the addresses of an observer that is there")
	return cmd
}

func (t *tool) observerRemove() *cobra.Command {
	return &cobra.Command{
		Use:   "rm NAME",
		Short: "Remove an observer",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.remove(cmd.Context(), topology.ObserverKey(args[0]))
		},
	}
}

func (t *tool) observerList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List all observers",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			read, err := t.read(cmd.Context())
			if err != nil {
				return err
			}
			list := observersOf(read)
			return t.print(list, func(w io.Writer) {
				row(w, "NAME", "GOSSIP", "SERVICE", "NOTE")
				for _, o := range list {
					note := ""
					if o.Fault != "" {
						note = "INVALID: " + o.Fault
					}
					row(w, show(o.Name), cmp.Or(o.Gossip, "-"), cmp.Or(o.Service, "-"), note)
				}
			})
		},
	}
}

// observersOf lists the observers' entries by name.
func observersOf(t *tree.Tree) []observer {
	list := []observer{} // [] in JSON
	faults := faultsOf(t)
	for key, value := range t.Entries {
		name, ok := strings.CutPrefix(key, "observer/")
		if !ok {
			continue
		}
		o := observer{Name: name, key: key, Fault: faults[key]}
		if plain, err := tree.Unescape(name); err == nil {
			o.Name = plain
		}
		if a, err := topology.ParseObserver(value); err == nil {
			o.Gossip, o.Service = a.Gossip.String(), a.Service.String()
		}
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b observer) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.key, b.key)) })
	return list
}
