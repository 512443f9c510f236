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
	// HeadersRateLimit sends Retry-After with a 429, and RateLimit and
	// RateLimit-Policy with both 200 and 429 (draft-ietf-httpapi-ratelimit-headers).
	HeadersRateLimit Headers = "ratelimit"
	// HeadersNone sends none.
	HeadersNone Headers = "none"
)

// prepared is what all answers within one second have in common. It is made
// once a second and read by every connection.
type prepared struct {
	second int64 // Unix time
	date   []byte
	// Complete answers.
	accepted, acceptedClose []byte
	// Answers up to, and without, the fields that differ and the empty line.
	acceptedOpen, rejectedOpen []byte
	// The same for HTTP/2.
	frames framesOfSecond
}

func prepare(now time.Time) *prepared {
	p := &prepared{second: now.Unix(), date: now.UTC().AppendFormat(nil, http.TimeFormat)}
	open := func(status int) []byte {
		return []byte("HTTP/1.1 " + statusLine(status) + "\r\nDate: " + string(p.date) + "\r\nContent-Length: 0\r\n")
	}
	p.acceptedOpen = open(http.StatusOK)
	p.rejectedOpen = open(http.StatusTooManyRequests)
	p.accepted = append(open(http.StatusOK), "\r\n"...)
	p.acceptedClose = append(open(http.StatusOK), "Connection: close\r\n\r\n"...)
	p.frames = prepareFrames(p.date)
	return p
}

// persistence is what an HTTP/1.x answer says about its connection.
type persistence uint8

const (
	persistDefault persistence = iota // HTTP/1.1, stays open
	persistClose                      // ends
	persistKeep                       // HTTP/1.0, stays open: has to be said
)

func (p persistence) append(b []byte) []byte {
	switch p {
	case persistClose:
		return append(b, "Connection: close\r\n"...)
	case persistKeep:
		return append(b, "Connection: keep-alive\r\n"...)
	default:
		return b
	}
}

// describes says whether an answer has fields about the quota. Where a proxy is
// told nothing of it, it has nothing to pass on.
func describes(o *attempt.Outcome, h Headers) bool {
	return h == HeadersRateLimit && o.Level != attempt.None && o.Policy.Limit >= 0
}

// appendOutcome answers an attempt over HTTP/1.x.
func (p *prepared) appendOutcome(b []byte, o *attempt.Outcome, h Headers, conn persistence) []byte {
	plain := !describes(o, h)
	switch o.Result {
	case attempt.Accepted:
		if plain && conn == persistDefault {
			return append(b, p.accepted...)
		}
		if plain && conn == persistClose {
			return append(b, p.acceptedClose...)
		}
		b = append(b, p.acceptedOpen...)
	case attempt.Rejected:
		b = append(b, p.rejectedOpen...)
		if o.RetryAfter > 0 && h != HeadersNone {
			b = append(b, "Retry-After: "...)
			b = strconv.AppendInt(b, seconds(o.RetryAfter), 10)
			b = append(b, "\r\n"...)
		}
	default:
		return p.appendLine(b, http.StatusInternalServerError, "", o.Failure, conn, true)
	}
	if !plain {
		b = append(b, "RateLimit-Policy: "...)
		b = appendPolicy(b, o)
		b = append(b, "\r\nRateLimit: "...)
		b = appendRemaining(b, o)
		b = append(b, "\r\n"...)
	}
	b = conn.append(b)
	return append(b, "\r\n"...)
}

// appendLine answers with one line of text over HTTP/1.x. allow goes into the
// Allow field where it is not empty; body is false for the answer to a HEAD.
func (p *prepared) appendLine(b []byte, status int, allow, line string, conn persistence, body bool) []byte {
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	b = append(b, http.StatusText(status)...)
	b = append(b, "\r\nDate: "...)
	b = append(b, p.date...)
	b = append(b, "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(len(line)+1), 10)
	b = append(b, "\r\n"...)
	if allow != "" {
		b = append(b, "Allow: "...)
		b = append(b, allow...)
		b = append(b, "\r\n"...)
	}
	b = conn.append(b)
	b = append(b, "\r\n"...)
	if body {
		b = append(b, line...)
		b = append(b, '\n')
	}
	return b
}

// appendPolicy writes the value of RateLimit-Policy: what the bucket passes when
// idle, and how long a drained one takes to be idle again.
func appendPolicy(b []byte, o *attempt.Outcome) []byte {
	b = append(b, '"')
	b = append(b, o.Level.String()...)
	b = append(b, `";q=`...)
	b = strconv.AppendInt(b, o.Policy.Limit, 10)
	b = append(b, ";w="...)
	return strconv.AppendInt(b, seconds(o.Policy.Window), 10)
}

// appendRemaining writes the value of RateLimit: what would pass now, and the
// time until the bucket is idle.
func appendRemaining(b []byte, o *attempt.Outcome) []byte {
	b = append(b, '"')
	b = append(b, o.Level.String()...)
	b = append(b, `";r=`...)
	b = strconv.AppendInt(b, o.Policy.Remaining, 10)
	b = append(b, ";t="...)
	return strconv.AppendInt(b, seconds(o.Policy.Reset), 10)
}

// seconds rounds a duration up to whole seconds.
func seconds(d time.Duration) int64 {
	whole := int64(d / time.Second)
	if d%time.Second > 0 {
		whole++
	}
	return whole
}
