package ctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/levee-project/levee/internal/topology"
	pb "github.com/levee-project/levee/internal/topologyrpc/topologyv1"
)

// overview is the state of a whole cluster, or of the store alone.
type overview struct {
	Store struct {
		Revision int64 `json:"revision"`
		Entries  int   `json:"entries"`
		Quotas   int   `json:"quotas"`
		Faults   int   `json:"without_effect"`
	} `json:"store"`
	// InForce is where the entries of the store are in force.
	InForce  *spread   `json:"in_force,omitempty"`
	Limiters *limiters `json:"limiters,omitempty"`
	Members  []member  `json:"members,omitempty"`
	// Proxies are the client-proxies that follow an observer.
	Proxies []proxy `json:"client_proxies,omitempty"`
}

// limiters counts them.
type limiters struct {
	Serving int `json:"serving"`
	Silent  int `json:"silent"`
	// Wanted is the largest group size.
	Wanted int `json:"wanted"`
}

// member is one process in the overlay.
type member struct {
	ID      string    `json:"id"`
	Role    string    `json:"role"`
	State   string    `json:"state"`
	Service string    `json:"service"`
	Gossip  string    `json:"gossip"`
	Version string    `json:"version"`
	Weight  int       `json:"weight"`
	Since   time.Time `json:"since"`
}

func membersOf(v *topology.View) []member {
	list := []member{} // [] in JSON
	for _, m := range v.Members() {
		list = append(list, member{
			ID: m.ID, Role: string(m.Role), State: string(m.State), Service: m.Service.String(), Gossip: m.Gossip.String(),
			Version: m.Version, Weight: max(1, m.Weight), Since: m.Since.UTC().Truncate(time.Second),
		})
	}
	return list
}

func memberTable(w io.Writer, list []member) {
	row(w, "ID", "ROLE", "STATE", "SERVICE", "GOSSIP", "VERSION", "WEIGHT", "SINCE")
	for _, m := range list {
		row(w, show(m.ID), m.Role, m.State, m.Service, m.Gossip, show(m.Version), m.Weight, m.Since.Format(time.RFC3339))
	}
}

func (t *tool) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the state of the shared configuration and of the cluster",
		Long: `Status reads the store, asks an observer that it names who is in the cluster, and
each member and client-proxy on its admin port whether the entries of the store are in
force there; it waits up to a second for those that are behind. It exits with 1 if
entries have no effect, somebody lags, limiters are silent, or fewer serve than the
largest group wants. Members whose admin port cannot be reached from here are named,
and are no reason to fail.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			read, err := t.read(cmd.Context())
			if err != nil {
				return err
			}
			var o overview
			snapshot, faults := compile(read)
			o.Store.Revision, o.Store.Entries, o.Store.Quotas = read.Revision, len(read.Entries), snapshot.Quotas()
			o.Store.Faults = len(faults)
			if len(observersOf(read)) > 0 {
				view, err := t.view(cmd.Context(), read)
				if err != nil {
					return err
				}
				o.Members = membersOf(view)
				if err := t.askInForce(cmd.Context(), &o, read, view); err != nil {
					return err
				}
				o.Limiters = &limiters{Serving: view.Live(), Silent: view.Known() - view.Live(), Wanted: snapshot.MaxFactor()}
			}
			if err := t.print(o, o.table); err != nil {
				return err
			}
			if o.Store.Faults > 0 || o.Limiters.short() || o.InForce.lags() {
				return quietly(1)
			}
			return nil
		},
	}
}

// short says whether limiters are missing. Nobody is where there is no cluster.
func (l *limiters) short() bool { return l != nil && (l.Silent > 0 || l.Serving < l.Wanted) }

func (o *overview) table(w io.Writer) {
	lines := tableLines{}
	s := o.Store
	lines.add("store:", fmt.Sprintf("revision %d, %s, %s in force, %d without effect",
		s.Revision, plural(s.Entries, "entry", "entries"), plural(s.Quotas, "quota", "quotas"), s.Faults))
	if s.Faults > 0 {
		lines.add("", "check tells what is wrong with them")
	}
	if l := o.Limiters; l != nil {
		lines.add("limiters:", fmt.Sprintf("%d serving, %d silent, %d wanted by the largest group", l.Serving, l.Silent, l.Wanted))
	} else {
		lines.add("cluster:", "no observers: standalone limiters only")
	}
	o.InForce.lines(&lines)
	lines.write(w)
	if o.Limiters != nil {
		row(w)
		memberTable(w, o.Members)
		proxyRows(w, o.Proxies)
	}
}

func (t *tool) memberCommand() *cobra.Command {
	return group("member", "Members of the cluster", t.memberList(), t.memberForget())
}

func (t *tool) memberList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List who is in the cluster, as an observer sees it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			read, err := t.read(cmd.Context())
			if err != nil {
				return err
			}
			view, err := t.view(cmd.Context(), read)
			if err != nil {
				return err
			}
			list := membersOf(view)
			return t.print(list, func(w io.Writer) { memberTable(w, list) })
		},
	}
}

func (t *tool) memberForget() *cobra.Command {
	return &cobra.Command{
		Use:   "forget ID",
		Short: "Tell the cluster that a silent member will not come back",
		Long: `Forget removes a silent member from the memory of the whole cluster, so that
nobody waits for it: with on-partition: conservative, the others serve the whole quota
again. A member that is alive cannot be forgotten.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			read, err := t.read(cmd.Context())
			if err != nil {
				return err
			}
			list, _ := new(topology.Observers).Take(read)
			if len(list) == 0 {
				return errNoObservers
			}
			by, err := t.forget(cmd.Context(), list, args[0])
			if err != nil {
				return err
			}
			t.note("observer %s has forgotten %s, and tells the others", by, show(args[0]))
			return nil
		},
	}
}

var errNoObservers = errors.New("the shared configuration has no observer that could be asked; add one with observer add")

// forget asks one observer after the other, until one serves.
func (t *tool) forget(ctx context.Context, list []topology.Addresses, id string) (by string, err error) {
	var why []error
	for _, o := range list {
		err := t.forgetBy(ctx, o, id)
		switch s, _ := status.FromError(err); {
		case err == nil:
			return o.Name, nil
		case s.Code() == codes.FailedPrecondition, s.Code() == codes.InvalidArgument:
			return "", errors.New(s.Message())
		default:
			why = append(why, fmt.Errorf("observer %s (%s): %s", o.Name, o.Service, s.Message()))
		}
	}
	return "", errors.Join(why...)
}

func (t *tool) forgetBy(ctx context.Context, o topology.Addresses, id string) error {
	conn, err := grpc.NewClient(o.Service.String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithTimeout(ctx, t.loaded.Timeout)
	defer cancel()
	_, err = pb.NewTopologyClient(conn).Forget(ctx, &pb.ForgetRequest{Id: id})
	return err
}
