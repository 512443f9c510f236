package topologyrpc

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/levee-project/levee/internal/topology"
	pb "github.com/levee-project/levee/internal/topologyrpc/topologyv1"
)

var roles = map[topology.Role]pb.Role{
	topology.Limiter:  pb.Role_ROLE_LIMITER,
	topology.Observer: pb.Role_ROLE_OBSERVER,
}

var states = map[topology.State]pb.State{
	topology.Starting: pb.State_STATE_STARTING,
	topology.Serving:  pb.State_STATE_SERVING,
	topology.Draining: pb.State_STATE_DRAINING,
	topology.Silent:   pb.State_STATE_SILENT,
}

// The other way round.
var (
	rolesSent  = inverse(roles)
	statesSent = inverse(states)
)

func inverse[K, V comparable](m map[K]V) map[V]K {
	inv := make(map[V]K, len(m))
	for k, v := range m {
		inv[v] = k
	}
	return inv
}

// encode returns the view as the observer id sends it.
func encode(id string, v *topology.View) *pb.Snapshot {
	s := &pb.Snapshot{Revision: v.Revision(), Observer: id}
	for _, m := range v.Members() {
		s.Members = append(s.Members, &pb.Member{
			Id:             m.ID,
			Role:           roles[m.Role],
			State:          states[m.State],
			Incarnation:    m.Incarnation,
			GossipAddress:  address(m.Gossip),
			ServiceAddress: address(m.Service),
			AdminAddress:   address(m.Admin),
			Version:        m.Version,
			Weight:         int32(m.Weight),
			SinceUnixNanos: nanos(m.Since),
		})
	}
	return s
}

func address(a netip.AddrPort) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// decode returns the view that a snapshot shows. Members whose role or state only
// a later version knows are passed over. The error says which member is wrong,
// and how.
func decode(s *pb.Snapshot) (*topology.View, error) {
	members := make([]topology.Member, 0, len(s.GetMembers()))
	seen := make(map[string]bool, len(s.GetMembers()))
	for _, sent := range s.GetMembers() {
		id := sent.GetId()
		switch {
		case id == "":
			return nil, fmt.Errorf("member %d of %d has no id", len(seen)+1, len(s.GetMembers()))
		case seen[id]:
			return nil, fmt.Errorf("member %q is there twice", id)
		}
		seen[id] = true
		m, known, err := decodeMember(sent)
		if err != nil {
			return nil, fmt.Errorf("member %q: %w", id, err)
		}
		if known {
			members = append(members, m)
		}
	}
	return topology.NewView(s.GetRevision(), members), nil
}

// decodeMember reports as not known what only a later version can have sent.
func decodeMember(sent *pb.Member) (m topology.Member, known bool, err error) {
	if sent.GetRole() == 0 || sent.GetState() == 0 {
		return m, false, fmt.Errorf("no role or no state (%v, %v)", sent.GetRole(), sent.GetState())
	}
	role, roleKnown := rolesSent[sent.GetRole()]
	state, stateKnown := statesSent[sent.GetState()]
	if !roleKnown || !stateKnown {
		return m, false, nil
	}
	m = topology.Member{
		ID: sent.GetId(), Role: role, State: state,
		Incarnation: sent.GetIncarnation(), Version: sent.GetVersion(), Weight: int(sent.GetWeight()),
	}
	if m.Gossip, err = parseAddress(sent.GetGossipAddress()); err != nil {
		return m, false, fmt.Errorf("gossip address: %w", err)
	}
	if m.Service, err = parseAddress(sent.GetServiceAddress()); err != nil {
		return m, false, fmt.Errorf("service address: %w", err)
	}
	if m.Admin, err = parseAddress(sent.GetAdminAddress()); err != nil {
		return m, false, fmt.Errorf("admin address: %w", err)
	}
	if role == topology.Limiter && state == topology.Serving && !m.Service.IsValid() {
		return m, false, errors.New("it serves, and has no service address")
	}
	if m.Weight < 0 {
		return m, false, fmt.Errorf("weight %d is negative", m.Weight)
	}
	if n := sent.GetSinceUnixNanos(); n != 0 {
		m.Since = time.Unix(0, n)
	}
	return m, true, nil
}

// parseAddress takes an empty address for one that is not known.
func parseAddress(text string) (netip.AddrPort, error) {
	if text == "" {
		return netip.AddrPort{}, nil
	}
	a, err := netip.ParseAddrPort(text)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("%q is not ip:port", text)
	}
	return a, nil
}
