// Package wire carries attempts over HTTP: it turns requests into attempts, asks
// the Decider, and writes the answers. HTTP/1.1 and HTTP/2 with prior knowledge
// share one port; the first bytes of a connection decide.
//
// It is the only package that knows status codes and field names. It knows no
// daemon, no quota and no bucket.
//
// # Why not net/http
//
// A rate limiter is a hop in front of every request, so its own cost is what it
// is judged by. Here a connection is one goroutine, which reads what has come,
// answers all of it in place, and writes once. Nothing is allocated for a
// request, no timer is set, and an idle connection holds no buffer.
//
// # The way of a request
//
//	server.go     accept, count, shepherd deadlines, drain
//	conn.go       one connection: read, write, deadlines
//	http1.go      HTTP/1.1: the loop over a connection's requests
//	head.go       HTTP/1.1: request line and fields, strict
//	body.go       HTTP/1.1: bodies, read and ignored
//	h2*.go        HTTP/2: frames, streams, flow control
//	late.go       answers that come later, from other goroutines; h1late.go, h2late.go
//	client*.go    the other side: how a client-proxy asks a limiter
//	question.go   fields -> attempt, the same for both
//	reasons.go    what can be wrong with a request, the same for both
//	prepared.go   answers, ready to be copied
package wire
