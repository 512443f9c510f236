package wire

import (
	"fmt"
	"net/http"

	"github.com/levee-project/levee/internal/attempt"
)

// Bounds of a request.
const (
	// MaxBody is the longest request body that is read and ignored, in bytes.
	MaxBody = 64 << 10
	// MaxHeader bounds the request line plus all fields, in bytes.
	MaxHeader = 16 << 10
)

// Reason names a kind of bad request in levee_bad_requests_total.
type Reason string

// The reasons. Each is the client's fault and changes no state.
const (
	ReasonPath          Reason = "path"
	ReasonMethod        Reason = "method"
	ReasonNoResource    Reason = "no_resource"
	ReasonRepeatedField Reason = "repeated_field"
	ReasonKeyTooLong    Reason = "key_too_long"
	ReasonHits          Reason = "hits"
	ReasonBodyTooLarge  Reason = "body_too_large"
	ReasonBodyBroken    Reason = "body_broken"
)

// Reasons lists every reason, so that each has a counter from the start.
var Reasons = []Reason{
	ReasonPath, ReasonMethod, ReasonNoResource, ReasonRepeatedField,
	ReasonKeyTooLong, ReasonHits, ReasonBodyTooLarge, ReasonBodyBroken,
}

// refusal is the answer to a bad request.
type refusal struct {
	status int
	reason Reason
	text   string // one line for a person
}

// parse fills in an attempt from the fields of a request. The attempt's bytes
// are its own.
func parse(h http.Header, a *attempt.Attempt) *refusal {
	*a = attempt.Attempt{Hits: 1}
	for _, part := range []struct {
		name string
		into *[]byte
	}{{"X-Resource", &a.Resource}, {"X-Prefix", &a.Prefix}, {"X-Method", &a.Method}} {
		switch values := h[part.name]; {
		case len(values) > 1:
			return repeated(part.name)
		case len(values) == 1:
			*part.into = []byte(values[0])
		}
		if len(*part.into) > attempt.MaxKeyPart {
			return &refusal{
				http.StatusBadRequest, ReasonKeyTooLong,
				fmt.Sprintf("%s is longer than %d bytes", part.name, attempt.MaxKeyPart),
			}
		}
	}
	if len(a.Resource) == 0 {
		return &refusal{http.StatusBadRequest, ReasonNoResource, "X-Resource is missing or empty"}
	}
	a.Prefix = trimSlashes(a.Prefix)
	a.ReqID = []byte(h.Get("X-Req-Id"))
	switch hits := h["X-Hits"]; {
	case len(hits) > 1:
		return repeated("X-Hits")
	case len(hits) == 1:
		n, ok := parseHits(hits[0])
		if !ok {
			return &refusal{
				http.StatusBadRequest, ReasonHits,
				fmt.Sprintf("X-Hits is not a whole number from 0 to %d", attempt.MaxHits),
			}
		}
		a.Hits = n
	}
	return nil
}

func repeated(name string) *refusal {
	return &refusal{http.StatusBadRequest, ReasonRepeatedField, name + " is given more than once"}
}

// trimSlashes cuts the slashes at both ends of a prefix; nothing else is
// normalised.
func trimSlashes(p []byte) []byte {
	for len(p) > 0 && p[0] == '/' {
		p = p[1:]
	}
	for len(p) > 0 && p[len(p)-1] == '/' {
		p = p[:len(p)-1]
	}
	return p
}

// parseHits reads a whole number from 0 to attempt.MaxHits in decimal digits.
func parseHits(s string) (n uint32, ok bool) {
	if s == "" {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		if n = n*10 + uint32(s[i]-'0'); n > attempt.MaxHits {
			return 0, false
		}
	}
	return n, true
}
