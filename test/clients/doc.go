// Package clients holds tests of the attempt interface with clients that others
// wrote: Go's net/http, curl, Python's http.client, Node, ab and wrk. The server
// runs inside the test, so that what it was asked can be compared with what the
// client believes to have been answered.
package clients
