package keepalived

import (
	"errors"
	"fmt"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Bounds of what keepalived and VRRP can take.
const (
	maxPeers     = 15
	maxGroups    = 32
	maxVIPs      = 64 // of a group: all fit in one advert
	longestName  = 32
	longestIface = 15 // IFNAMSIZ - 1
	maxAdvert    = 40 * time.Second
	advertUnit   = 10 * time.Millisecond
)

var (
	groupName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)
	ifaceName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:@-]*$`)
	// plainPath has nothing that keepalived would take for its own syntax.
	plainPath = regexp.MustCompile(`^/[A-Za-z0-9/._+-]+$`)
)

// plan is options in the form in which the template wants them.
type plan struct {
	Options
	Multicast bool
	Adverts   string // seconds
	Unready   string
	Instances []instance
}

// instance is one group on this host.
type instance struct {
	Name     string
	RouterID int
	Priority int
	Native   []netip.Prefix // of the family that the adverts have
	Others   []netip.Prefix
}

// planner turns options into a plan, and collects what is wrong with them.
type planner struct {
	o     *Options
	self  netip.Addr
	peers []netip.Addr
	seen  map[netip.Addr]string // virtual addresses, by where they were first given
	errs  []error
}

func (p *planner) fault(key, format string, args ...any) {
	p.errs = append(p.errs, fmt.Errorf("%s: %s", key, fmt.Sprintf(format, args...)))
}

// newPlan checks the options. The error joins everything that is wrong, one line
// each, which begins with the option's name.
func newPlan(o Options) (*plan, error) {
	p := &planner{o: &o, seen: map[netip.Addr]string{}}
	p.host()
	p.numbers()
	p.paths()
	groups := p.groups()
	result := &plan{Options: o, Multicast: o.Multicast, Unready: Unready}
	result.Adverts = strings.TrimRight(fmt.Sprintf("%.2f", o.Advert.Seconds()), "0")
	result.Adverts = strings.TrimSuffix(result.Adverts, ".")
	for i, g := range groups {
		result.Instances = append(result.Instances, p.instance(i, g))
	}
	p.instances(result.Instances)
	if len(p.errs) > 0 {
		return nil, errors.Join(p.errs...)
	}
	return result, nil
}

// host checks the interface and who is on it.
func (p *planner) host() {
	o := p.o
	if len(o.Interface) > longestIface || !ifaceName.MatchString(o.Interface) {
		p.fault("interface", "found %q, expected the name of a network interface, such as eth0", o.Interface)
	}
	if o.Address != "" || !o.Multicast {
		p.self = p.address("address", o.Address)
	}
	switch {
	case o.Multicast && len(o.Peers) > 0:
		p.fault("peers", "with multicast nobody is named; give one of the two")
	case !o.Multicast && len(o.Peers) == 0:
		p.fault("peers", "missing: the addresses of the other hosts, such as 10.0.0.2; or set multicast")
	case len(o.Peers) > maxPeers:
		p.fault("peers", "found %d, expected %d at most", len(o.Peers), maxPeers)
	}
	for _, text := range o.Peers {
		peer := p.address("peers", text)
		switch {
		case !peer.IsValid():
		case peer == p.self:
			p.fault("peers", "%s is this host's own address", peer)
		case p.self.IsValid() && peer.Is4() != p.self.Is4():
			p.fault("peers", "%s and this host's address %s are of different families (IPv4, IPv6)", peer, p.self)
		case slices.Contains(p.peers, peer):
			p.fault("peers", "%s is named twice", peer)
		default:
			p.peers = append(p.peers, peer)
		}
	}
}

// address reads a host's own address.
func (p *planner) address(key, text string) netip.Addr {
	addr, err := netip.ParseAddr(text)
	if err != nil || addr.Is4In6() || addr.Zone() != "" || addr.IsUnspecified() || addr.IsLoopback() || addr.IsMulticast() {
		p.fault(key, "found %q, expected a host's address without a prefix, such as 10.0.0.1 or fd00::1", text)
		return netip.Addr{}
	}
	return addr
}

func (p *planner) numbers() {
	o := p.o
	switch {
	case o.Rank != 0 && o.Priority != 0:
		p.fault("priority", "give rank or priority; priority is 255 - rank")
	case o.Rank == 0 && o.Priority == 0:
		p.fault("rank", "missing: 1 on one of the hosts, 2 on the next")
	case o.Priority < 0 || o.Priority > 254:
		p.fault("priority", "found %d, expected 1 to 254", o.Priority)
	case o.Priority != 0:
		o.Rank = 255 - o.Priority
	case o.Rank < 1 || o.Rank > maxPeers+1:
		p.fault("rank", "found %d, expected 1 to %d", o.Rank, maxPeers+1)
	case !o.Multicast && len(o.Peers) > 0 && o.Rank > len(o.Peers)+1:
		p.fault("rank", "found %d, expected 1 to %d: as many as there are hosts", o.Rank, len(o.Peers)+1)
	}
	if o.RouterID < 1 || o.RouterID > 255 {
		p.fault("router-id", "found %d, expected 1 to 255", o.RouterID)
	}
	if o.Advert < advertUnit || o.Advert > maxAdvert || o.Advert%advertUnit != 0 {
		p.fault("advert", "found %s, expected a multiple of 10ms up to 40s", o.Advert)
	}
	if o.Port < 1 || o.Port > 65535 {
		p.fault("port", "found %d, expected 1 to 65535", o.Port)
	}
}

func (p *planner) paths() {
	for _, v := range []struct{ key, path string }{{"track-file", p.o.TrackFile}, {"program", p.o.Program}} {
		if !plainPath.MatchString(v.path) || path.Clean(v.path) != v.path {
			p.fault(v.key, "found %q, expected an absolute path of letters, digits and /._+-", v.path)
		}
	}
}
