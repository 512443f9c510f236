// Package topology is who is in the cluster: members, their states, immutable
// views of all of them, and the group of limiters that a resource belongs to.
//
// It is pure. How members are heard of is the business of package gossip, and
// how a view gets to those who do not gossip that of package topologyrpc.
//
// The words are those of SWIM (Das, Gupta, Motivala: SWIM, 2002): a member is
// alive until it left, which it announces, or is dead, which others conclude from
// its silence. Whether a silent member is dead or behind a partition cannot be
// known, so here it is called silent.
package topology
