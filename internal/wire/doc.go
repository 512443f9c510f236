// Package wire carries attempts over HTTP: it turns requests into attempts, asks
// the Decider, and writes the answers. HTTP/1.1 and HTTP/2 with prior knowledge
// share one port.
//
// It is the only package that knows status codes and header names. It knows no
// daemon, no quota and no bucket.
package wire
