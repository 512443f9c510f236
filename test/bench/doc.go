// Bench compares Levee's attempt engine with others on one machine: NGINX's
// limit_req, HAProxy's stick tables, and the standard library's server in front
// of Levee's own table.
//
//	make bench                        all of it, about ten minutes
//	cd test && go run ./bench -rounds 3 -seconds 0.5 -only h1,h2c-32
//
// What it measures is CPU time for a request. Throughput says the same only as
// long as nothing else runs on the machine, and this stays true when something
// does. The servers have one core, the load has another. In each round all
// servers are asked in turn, in another order each time, and only figures of one
// round are compared with each other: the ratios, of which the median over the
// rounds is reported.
//
// It needs root for ten thousand connections, two cores, and the packages that
// setup.sh installs. The results go to dist/bench: engine.md and engine.png.
package main
