// Package observer is the daemon that members of a cluster find each other by,
// and that tells everybody else who they are: what package gossip hears, package
// topologyrpc streams.
//
// Where an observer listens is said by its entry in the shared configuration,
// which the others find it by: entry.go follows that. The order in which
// everything starts and stops is in observer.go.
package observer
