// Package load puts attempts on a limiter or client-proxy, and counts the answers:
// the engine of leveectl bench.
//
// A [Plan] says what to ask, and when. Its Run is one loop in one thread over all
// connections, with no goroutine and no allocation for an attempt, so that it needs less of
// the CPU than the server that it measures. It speaks HTTP/1.1, one attempt at a
// time on a connection, and HTTP/2 with prior knowledge.
//
//	plan.go       what to ask
//	tally.go      what came of it; histogram.go how long it took
//	run.go        the loop; ask.go who asks when
//	schedule.go   when attempts are due; keys.go about what
//	conn.go       one connection, over and over
//	dialect.go    what a protocol is; http1.go, http2.go, frame.go
//	poll.go       waiting; socket.go the calls
//
// The words: an attempt is due at a time, then asked, then answered, or lost. In an
// open loop attempts are due whatever becomes of those before, and times count from
// then: a server that stalls cannot hide it by not being asked (coordinated
// omission). In a closed loop an attempt is due when the one before is answered.
package load
