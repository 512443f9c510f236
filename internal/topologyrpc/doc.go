// Package topologyrpc takes views of the topology from observers to those that
// do not gossip, over gRPC.
//
// A [Server] is the observer's side: what is published is encoded once, and sent
// to everybody who watches. A [Watcher] is the other side: it follows one
// observer out of many, and another one as soon as that fails. Package topologyv1
// has the protocol (topology.proto) and the code that is generated from it.
//
// Each snapshot is whole, so there is nothing to catch up with after a break, and
// a reader who is slow may miss any but the newest.
package topologyrpc
