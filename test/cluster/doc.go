// Package cluster is the black-box suite of a whole cluster: real observers,
// limiters and client-proxies around a real etcd, all on this machine.
//
// A test starts a cluster of its own ([harness.StartCluster]) and looks at it
// through answers, logs, metrics and exit codes.
//
// Upper bounds on what is accepted hold on any machine, and are checked always.
// Lower bounds need a machine that has time for the load: tests that have them, or
// that measure how long an attempt takes, run alone, before those that are parallel,
// and the rates that they offer are a small part of what two cores can do. No test
// is tried again.
package cluster
