// Package load asks a rate limiter as fast as one core can, and measures how it
// answers.
//
// A [Plan] is one run: so many connections, so many questions under way on each,
// HTTP/1.1 or HTTP/2 with prior knowledge, keys drawn evenly from so many. In a
// closed loop each answer is followed by the next question; in an open loop
// questions are due at a rate, and a latency counts from when its question was
// due, so that a server that stalls cannot hide it.
//
// It is one thread around one epoll set. A question is made from octets made
// before, and an answer is looked at no further than it takes to know its status
// and where it ends, but each one is: an answer that is missing, malformed or
// belongs to no question ends the run with an error.
//
// Beside a run, a [Fleet] of slow clients can plague the same server, and
// [OpenIdle] opens very many connections that ask once.
package load
