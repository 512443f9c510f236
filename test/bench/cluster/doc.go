// Cluster measures what a cluster costs: a proxy before a limiter against the same
// limiter asked directly, and more and more limiters behind two proxies.
//
//	make bench-cluster                  all of it, about ten minutes
//	cd test && go run ./bench/cluster -rounds 3 -seconds 0.5 -only hop-h1,scaling
//
// What it measures is CPU time for a request: of the proxies and the limiters
// together, which share one core, while the load has another. etcd and the
// observers, which no attempt passes, are with the load and are not counted. In
// each round the same is asked of all that are compared, in another order each
// time, and only figures of one round are compared with each other.
//
// A cluster scales as long as an attempt costs the same however many limiters
// there are: then twice the machines answer twice the attempts. That is measured
// at a rate that no daemon is at its limit with, since the many processes have
// one core here and not one each.
//
// The results go to dist/bench: cluster.md and cluster.png.
package main
