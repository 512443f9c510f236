package wire

import (
	"net/http"
	"strconv"

	"github.com/levee-project/levee/internal/attempt"
)

// Bounds of a request, in bytes.
const (
	// MaxBody is the longest request body that is read and ignored.
	MaxBody = 64 << 10
	// MaxHeader bounds the request line plus all fields; trailers, and the chunk
	// extensions of a body in sum, have the same bound.
	MaxHeader = 16 << 10
)

// Reason names a kind of bad request in levee_bad_requests_total.
type Reason uint8

// The reasons. Each is the client's fault and changes no state.
const (
	ReasonNone Reason = iota
	// Requests that are whole and wrong. The connection stays open.
	ReasonPath          // another path
	ReasonMethod        // another method
	ReasonNoResource    // X-Resource missing or empty
	ReasonRepeatedField // a field given more than once that must not be
	ReasonKeyTooLong    // a key part longer than attempt.MaxKeyPart
	ReasonHits          // X-Hits not a whole number in range
	// Requests that are too large.
	ReasonHeaderTooLarge
	ReasonBodyTooLarge
	// Malformed HTTP/1.x. The connection is closed.
	ReasonRequestLine
	ReasonVersion
	ReasonField // a bad name or value, bare CR or LF, obs-fold
	ReasonHost
	ReasonContentLength
	ReasonTransferEncoding
	ReasonChunk
	// Malformed HTTP/2: of a stream, of the connection, and floods.
	ReasonStream
	ReasonFraming
	ReasonCompression
	ReasonFlowControl
	ReasonFlood
	// A peer that did not send or read in time.
	ReasonTimeout

	reasonCount
)

var reasonNames = [reasonCount]string{
	"none", "path", "method", "no_resource", "repeated_field", "key_too_long", "hits",
	"header_too_large", "body_too_large",
	"request_line", "version", "field", "host", "content_length", "transfer_encoding", "chunk",
	"h2_stream", "h2_framing", "h2_compression", "h2_flow_control", "h2_flood", "timeout",
}

// String returns the reason as metrics spell it.
func (r Reason) String() string { return reasonNames[r] }

// Reasons returns every reason, so that each can have a counter from the start.
func Reasons() []Reason {
	all := make([]Reason, 0, reasonCount-1)
	for r := ReasonNone + 1; r < reasonCount; r++ {
		all = append(all, r)
	}
	return all
}

// refusal is the answer to a bad request.
type refusal struct {
	status int
	reason Reason
	text   string // one line for a person
	allow  string // methods for the Allow field, with 405
	close  bool   // the connection cannot go on, or must not
}

// The refusals of whole requests, which leave the connection open.
var (
	refusePath       = &refusal{status: 404, reason: ReasonPath, text: "there is nothing here; ask POST /attempt"}
	refuseMethod     = &refusal{status: 405, reason: ReasonMethod, text: "attempts are made with POST", allow: "POST"}
	refuseHealth     = &refusal{status: 405, reason: ReasonMethod, text: "health is asked with GET or HEAD", allow: "GET, HEAD"}
	refuseNoResource = &refusal{status: 400, reason: ReasonNoResource, text: "X-Resource is missing or empty"}
	refuseHits       = &refusal{
		status: 400, reason: ReasonHits,
		text: "X-Hits is not a whole number from 0 to " + strconv.Itoa(attempt.MaxHits),
	}
	refuseBody   = &refusal{status: 413, reason: ReasonBodyTooLarge, text: "the body is longer than 64 KiB", close: true}
	refuseHeader = &refusal{
		status: 431, reason: ReasonHeaderTooLarge,
		text: "the request line and fields are longer than 16 KiB", close: true,
	}
)

// malformed is the refusal of what is not HTTP/1.x as it should be.
func malformed(reason Reason, text string) *refusal {
	return &refusal{status: 400, reason: reason, text: text, close: true}
}

// statusLine returns the status with its name, as a status line has it.
func statusLine(status int) string { return strconv.Itoa(status) + " " + http.StatusText(status) }
