package keepalived

import (
	"net/netip"
	"strings"
)

// groups returns the groups that the options give, as they give them.
func (p *planner) groups() []Group {
	o := p.o
	groups := o.Groups
	switch {
	case len(o.VIPs) > 0 && len(groups) > 0:
		p.fault("vips", "give addresses, or groups of them, not both")
	case len(o.VIPs) > 0:
		groups = []Group{{Name: OnlyGroup, VIPs: o.VIPs}}
	case len(groups) == 0:
		p.fault("vips", "missing: the virtual addresses, such as 10.0.0.10/24")
	case len(groups) > maxGroups:
		p.fault("groups", "found %d, expected %d at most", len(groups), maxGroups)
	}
	names := map[string]bool{}
	for _, g := range groups {
		switch {
		case !GroupName(g.Name):
			p.fault("groups", "found the name %q, expected 1 to %d letters, digits and _.-", g.Name, longestName)
		case names[strings.ToLower(g.Name)]:
			p.fault("groups", "%s is there twice", g.Name)
		}
		names[strings.ToLower(g.Name)] = true
		p.turn(g)
	}
	return groups
}

// turn checks what a group says about its place.
func (p *planner) turn(g Group) {
	hosts := len(p.o.Peers) + 1
	if p.o.Multicast {
		hosts = maxPeers + 1
	}
	if g.Rank < 0 || g.Rank > hosts {
		p.fault("groups", "%s: found rank %d, expected 1 to %d: as many as there are hosts", g.Name, g.Rank, hosts)
	}
	if g.Rank == 0 && len(p.o.Groups) > 1 && (p.o.Multicast || p.o.Priority != 0) {
		p.fault("groups", "%s: give it a rank: hosts take turns only where rank and all peers are given", g.Name)
	}
	if g.RouterID < 0 || g.RouterID > 255 {
		p.fault("groups", "%s: found router-id %d, expected 1 to 255", g.Name, g.RouterID)
	}
}

// instance is a group as it is on this host.
func (p *planner) instance(index int, g Group) instance {
	in := instance{Name: g.Name, RouterID: g.RouterID}
	if in.RouterID == 0 {
		in.RouterID = p.o.RouterID + index
	}
	rank := g.Rank
	if rank == 0 && index == 0 {
		rank = p.o.Rank
	} else if rank == 0 {
		rank = (p.o.Rank-1+index)%(len(p.o.Peers)+1) + 1
	}
	in.Priority = 255 - rank
	if len(g.VIPs) == 0 {
		p.fault("groups", "%s has no virtual address", g.Name)
	}
	if len(g.VIPs) > maxVIPs {
		p.fault("vips", "%s has %d, expected %d at most", g.Name, len(g.VIPs), maxVIPs)
	}
	for _, text := range g.VIPs {
		vip, ok := p.vip(g.Name, text)
		if !ok {
			continue
		}
		if p.native(vip.Addr(), &in) {
			in.Native = append(in.Native, vip)
		} else {
			in.Others = append(in.Others, vip)
		}
	}
	if len(in.Native) == 0 && len(in.Others) > 0 {
		p.fault("vips", "%s has none of the family (IPv4, IPv6) of %s, through which the hosts hear of each other: "+
			"give this host and its peers addresses of the family of the virtual ones", g.Name, p.self)
	}
	return in
}

// native says whether adverts have the family of a virtual address. Where this
// host's own address does not tell, the group's first one does.
func (p *planner) native(vip netip.Addr, in *instance) bool {
	switch {
	case p.self.IsValid():
		return vip.Is4() == p.self.Is4()
	case len(in.Native) > 0:
		return vip.Is4() == in.Native[0].Addr().Is4()
	default:
		return true
	}
}

// vip reads a virtual address, which nothing else may have.
func (p *planner) vip(group, text string) (vip netip.Prefix, ok bool) {
	vip, err := netip.ParsePrefix(text)
	addr := vip.Addr()
	switch {
	case err != nil || addr.Is4In6():
		p.fault("vips", "%s: found %q, expected an address with its prefix, such as 10.0.0.10/24 or fd00::10/64", group, text)
	case vip.Bits() == 0 || addr.IsUnspecified() || addr.IsLoopback() || addr.IsMulticast():
		p.fault("vips", "%s: %s cannot be the address of a host", group, text)
	case !vip.IsSingleIP() && vip.Masked().Addr() == addr && (addr.Is6() || vip.Bits() < 31):
		p.fault("vips", "%s: %s is the network itself, expected an address in it", group, text)
	case addr == p.self:
		p.fault("vips", "%s: %s is this host's own address", group, addr)
	case p.isPeer(addr):
		p.fault("vips", "%s: %s is a peer's own address", group, addr)
	case p.seen[addr] != "":
		p.fault("vips", "%s: %s is in the group %s already", group, addr, p.seen[addr])
	default:
		p.seen[addr] = group
		return vip, true
	}
	return vip, false
}

func (p *planner) isPeer(addr netip.Addr) bool {
	for _, peer := range p.peers {
		if peer == addr {
			return true
		}
	}
	return false
}

// instances checks that no two have the same number on the network.
func (p *planner) instances(all []instance) {
	owner := map[int]string{}
	for _, in := range all {
		switch {
		case in.RouterID > 255:
			p.fault("router-id", "%s would have %d, expected at most 255: begin with a smaller one", in.Name, in.RouterID)
		case owner[in.RouterID] != "":
			p.fault("router-id", "%s and %s both have %d", owner[in.RouterID], in.Name, in.RouterID)
		}
		owner[in.RouterID] = in.Name
	}
}
