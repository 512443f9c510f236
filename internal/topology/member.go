package topology

import (
	"net/netip"
	"time"
)

// Role is what a member does.
type Role string

// The roles of those who gossip.
const (
	Limiter  Role = "limiter"
	Observer Role = "observer"
)

// State is what a member is up to.
type State string

// The states. A member says the first three of itself; that it is silent is
// what others say.
const (
	// Starting: it does not answer yet.
	Starting State = "starting"
	// Serving: it answers, and counts as a member of groups.
	Serving State = "serving"
	// Draining: it is about to leave, still answers, and counts no more.
	Draining State = "draining"
	// Silent: nothing is heard of it, and it did not leave.
	Silent State = "silent"
)

// Roles and States list all there are, for metrics.
var (
	Roles  = [...]Role{Limiter, Observer}
	States = [...]State{Starting, Serving, Draining, Silent}
)

// Member is one process in the overlay.
type Member struct {
	// ID is its instance-id, unique in the cluster. A restarted process has the ID
	// of its old self and replaces it.
	ID   string
	Role Role
	// Incarnation tells one run of the process from its next: nanoseconds of Unix
	// time at its start. The larger is the later.
	Incarnation int64
	State       State
	// Gossip is its address in the overlay.
	Gossip netip.AddrPort
	// Service is where it serves: attempts for a limiter, gRPC for an observer.
	Service netip.AddrPort
	// Admin is its admin port; the zero value if it has none that others can reach.
	Admin netip.AddrPort
	// Version is that of its software.
	Version string
	// Weight is its share of keys relative to the others; 0 counts as 1.
	Weight int
	// Since is when it was first seen in this state by whoever made the view.
	Since time.Time
}

// same reports whether two members differ in Since at most.
func (m *Member) same(o *Member) bool {
	a, b := *m, *o
	a.Since, b.Since = time.Time{}, time.Time{}
	return a == b
}
