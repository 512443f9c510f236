package topologyrpc

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/levee-project/levee/internal/topology"
	pb "github.com/levee-project/levee/internal/topologyrpc/topologyv1"
)

// Identity is what a watcher says of itself. All of it may be absent.
type Identity struct {
	// ID is its instance-id; empty for nobody in particular.
	ID      string
	Version string
	// Admin is its admin port. An address that is not specified stands for the
	// one that it connects from.
	Admin netip.AddrPort
}

func (i *Identity) request() *pb.WatchRequest {
	if i.ID == "" {
		return &pb.WatchRequest{}
	}
	return &pb.WatchRequest{
		Id: i.ID, Role: pb.Role_ROLE_CLIENT_PROXY, Version: i.Version, AdminAddress: address(i.Admin),
	}
}

// Client is a client-proxy that watches this observer.
type Client struct {
	Identity
	// Addr is where it connected from.
	Addr  netip.AddrPort
	Since time.Time
}

// longestText bounds what a watcher may say of itself, in bytes.
const longestText = 255

// clientOf returns who asks, and nil if it does not say that it is a client-proxy.
func clientOf(r *pb.WatchRequest, from string) *Client {
	if r.GetRole() != pb.Role_ROLE_CLIENT_PROXY || r.GetId() == "" ||
		max(len(r.GetId()), len(r.GetVersion())) > longestText {
		return nil
	}
	c := &Client{Identity: Identity{ID: r.GetId(), Version: r.GetVersion()}, Since: time.Now()}
	c.Addr, _ = netip.ParseAddrPort(from)
	if admin, err := parseAddress(r.GetAdminAddress()); err == nil && admin.IsValid() {
		c.Admin = topology.Reachable(admin, c.Addr.Addr().Unmap())
	}
	return c
}

// clients are those who watch at the moment.
type clients struct {
	mu  sync.Mutex // guards all
	all map[*Client]bool
}

// add adds c, until the result is called. It may be nil.
func (c *clients) add(one *Client) (remove func()) {
	if one == nil {
		return func() {}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[*Client]bool{}
	}
	c.all[one] = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.all, one)
	}
}

// Clients returns the client-proxies that watch, by their IDs.
func (s *Server) Clients() []Client {
	s.clients.mu.Lock()
	list := make([]Client, 0, len(s.clients.all))
	for c := range s.clients.all {
		list = append(list, *c)
	}
	s.clients.mu.Unlock()
	slices.SortFunc(list, func(a, b Client) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), a.Since.Compare(b.Since))
	})
	return list
}
