// Package harness runs the real binaries for tests that look at them from
// outside: through sockets, files, signals and metrics, and in no other way.
//
// [Main] is a test package's TestMain. [Binary] builds a program once for all its
// tests, or takes it from the directory that LEVEE_TEST_BINARIES names.
// [StartLimiter] starts a standalone limiter that ends with the test, with ports of
// its own; [StartCluster] starts observers, limiters and client-proxies, each a
// [Node] with an address of its own. So tests run beside each other.
//
// How to ask: a [Client] speaks HTTP/1.1 or h2c with a well-behaved client; a
// [Conn] sends any octets over HTTP/1.x; [Load] asks at a rate, or as fast as two
// cores allow; [Callers] keep asking over connections that outlive nothing, and
// notice an attempt without an answer.
//
// What is around a limiter: a [FileStore] is its shared tree in a file, a [Link]
// is a wire to a server that can be cut, a [NotifySocket] is systemd.
//
// Nothing here sleeps for luck: what the outside world takes its time for is
// polled until a deadline ([Eventually]).
package harness
