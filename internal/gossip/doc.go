// Package gossip is a member's part in the overlay: it tells the others what
// this process is up to, hears of them, and hands out views of the topology.
//
// The protocol is SWIM (Das, Gupta, Motivala, 2002) with Lifeguard's refinements
// (Dadgar, Phillips, Currey, 2018) as hashicorp/memberlist speaks it, and this is
// the only package that knows memberlist. What memberlist calls a node is one run
// of a process: its name is the instance-id and the incarnation of the run, so
// that a process which starts again, at the same address or another, is somebody
// new, whom nobody mistakes for the old self and nobody refuses. topology.Tracker
// makes members of these nodes.
//
// memberlist finds out who answers. Three things it leaves to others are done
// here:
//
//   - It joins once. [Node.Run] joins, for as long as it runs, every observer
//     that does not answer as a member: so partitions and restarts of everybody at
//     once heal.
//   - It does not tell a node that left from one that failed, and soon forgets
//     both. A member that leaves announces that it drains first, and who has fallen
//     silent is remembered and told to those who join later.
//   - It goes on with a node's old name until that has not answered for a while.
package gossip
