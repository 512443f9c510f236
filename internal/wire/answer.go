package wire

import (
	"net/http"
	"strconv"
	"time"

	"github.com/levee-project/levee/internal/attempt"
)

// Headers says which fields about the quota go with an answer.
type Headers string

// The choices, as the option response-headers spells them.
const (
	// HeadersRetryAfter sends Retry-After with a 429.
	HeadersRetryAfter Headers = "retry-after"
	// HeadersRateLimit sends Retry-After, and RateLimit and RateLimit-Policy with
	// both 200 and 429 (draft-ietf-httpapi-ratelimit-headers).
	HeadersRateLimit Headers = "ratelimit"
	// HeadersNone sends none.
	HeadersNone Headers = "none"
)

// writeOutcome answers an attempt.
func writeOutcome(w http.ResponseWriter, o attempt.Outcome, fields Headers) {
	if o.Result == attempt.Failed {
		writeLine(w, http.StatusInternalServerError, o.Failure)
		return
	}
	h := w.Header()
	if fields == HeadersRateLimit && o.Level != attempt.None {
		policy, name := o.Policy, o.Level.String()
		h.Set("RateLimit-Policy", `"`+name+`";q=`+decimal(policy.Limit)+`;w=`+decimal(seconds(policy.Window)))
		h.Set("RateLimit", `"`+name+`";r=`+decimal(policy.Remaining)+`;t=`+decimal(seconds(policy.Reset)))
	}
	if o.Result == attempt.Accepted {
		w.WriteHeader(http.StatusOK)
		return
	}
	if fields != HeadersNone && o.RetryAfter > 0 {
		h.Set("Retry-After", decimal(seconds(o.RetryAfter)))
	}
	w.WriteHeader(http.StatusTooManyRequests)
}

// writeLine answers with one line of text.
func writeLine(w http.ResponseWriter, status int, line string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(line)+1))
	w.WriteHeader(status)
	_, _ = w.Write([]byte(line + "\n")) // a client that has gone needs no answer
}

// seconds rounds a duration up to whole seconds.
func seconds(d time.Duration) int64 {
	whole := int64(d / time.Second)
	if d%time.Second > 0 {
		whole++
	}
	return whole
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
