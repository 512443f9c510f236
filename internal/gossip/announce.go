package gossip

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/hashicorp/memberlist"

	"github.com/levee-project/levee/internal/topology"
)

// longestID bounds an instance-id, so that a message about a node always fits
// into a packet.
const longestID = 255

// nodeName is what a run of a process is called in the overlay.
func nodeName(id string, incarnation int64) string {
	return fmt.Sprintf("%s@%016x", id, incarnation)
}

func parseName(name string) (id string, incarnation int64, err error) {
	at := strings.LastIndexByte(name, '@')
	if at <= 0 || at > longestID {
		return "", 0, errors.New("its name is not an instance-id and an incarnation")
	}
	incarnation, err = strconv.ParseInt(name[at+1:], 16, 64)
	if err != nil || incarnation <= 0 || name != nodeName(name[:at], incarnation) {
		return "", 0, errors.New("its name does not end in an incarnation")
	}
	return name[:at], incarnation, nil
}

// announcement is what a member says of itself: the metadata of its node, as
// JSON. Versions of the software mix, so fields that are not known are ignored.
type announcement struct {
	Role    topology.Role  `json:"role"`
	State   topology.State `json:"state"`
	Service netip.AddrPort `json:"service"`
	Version string         `json:"version,omitempty"`
	Weight  int            `json:"weight,omitempty"`
	Admin   netip.AddrPort `json:"admin,omitzero"`
}

func announce(m *topology.Member) ([]byte, error) {
	return json.Marshal(announcement{m.Role, m.State, m.Service, m.Version, m.Weight, m.Admin})
}

// member fills in what m announces.
func (a *announcement) member(m *topology.Member) error {
	switch a.Role {
	case topology.Limiter, topology.Observer:
	default:
		return fmt.Errorf("its role %q is not known here", a.Role)
	}
	switch a.State {
	case topology.Starting, topology.Serving, topology.Draining:
	default:
		return fmt.Errorf("its state %q is not known here", a.State)
	}
	if !a.Service.IsValid() {
		return errors.New("it does not say where it serves")
	}
	m.Role, m.State, m.Service, m.Version, m.Weight, m.Admin = a.Role, a.State, a.Service, a.Version, a.Weight, a.Admin
	return nil
}

// readNode returns the member that a node of the overlay is; in case of an error
// its address at least.
func readNode(n *memberlist.Node) (m topology.Member, err error) {
	ip, ok := netip.AddrFromSlice(n.Addr)
	if !ok {
		return m, errors.New("it has no address")
	}
	m.Gossip = netip.AddrPortFrom(ip.Unmap(), n.Port)
	if m.ID, m.Incarnation, err = parseName(n.Name); err != nil {
		return m, err
	}
	var a announcement
	if err := json.Unmarshal(n.Meta, &a); err != nil {
		return m, fmt.Errorf("what it announces cannot be read: %w", err)
	}
	return m, a.member(&m)
}
