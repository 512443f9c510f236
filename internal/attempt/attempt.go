// Package attempt holds the question that Levee answers and the answer:
// may this request pass now?
//
// It is the vocabulary that the socket, the decision and the routing share. It
// knows no protocol and no algorithm.
package attempt

import "time"

// Limits of the parts of an attempt. What exceeds them is the client's fault
// and never reaches a Decider.
const (
	// MaxKeyPart is the longest resource, prefix or method, in bytes.
	MaxKeyPart = 1024
	// MaxHits is the most requests that one attempt may stand for.
	MaxHits = 1_000_000
)

// Attempt is one question. Its byte slices are opaque octets that belong to
// the caller and are valid only during the call they are passed to: a Decider
// that keeps an attempt copies it.
type Attempt struct {
	// Resource is the required key. Never empty.
	Resource []byte
	// Prefix is the path inside the resource, without leading and trailing
	// slashes. Empty means absent.
	Prefix []byte
	// Method is the dependent sub-key. Empty means absent.
	Method []byte
	// ReqID is the client's trace id, for logs only. Empty means absent.
	ReqID []byte
	// Hits is how many requests the attempt stands for, 0 to MaxHits. 0 is a
	// peek: the answer that one hit would get, with no effect.
	Hits uint32
	// Lane is the same for the attempts of one connection: those who count keep
	// the counters of lanes apart, so that cores do not wait for each other.
	Lane uint8
}

// Result is the decision.
type Result uint8

// The three results. The zero value is Failed, so that an answer nobody filled
// in never lets a request pass.
const (
	Failed Result = iota
	Accepted
	Rejected
)

// String returns the result's name as metrics and logs spell it.
func (r Result) String() string {
	switch r {
	case Accepted:
		return "accepted"
	case Rejected:
		return "rejected"
	default:
		return "failed"
	}
}

// Level is the place in the look-up order at which the quota was found. The
// bucket an attempt draws from is the key cut to this level.
type Level uint8

// The levels, from none to the most specific.
const (
	// None: no quota applies.
	None Level = iota
	// Resource: one bucket for the resource R.
	Resource
	// Method: one bucket for R/M.
	Method
	// Full: one bucket for R/P/M, or R/P when there is no method.
	Full
)

// Levels lists every level, for tables indexed by level.
var Levels = [...]Level{None, Resource, Method, Full}

// String returns the level's name as metrics and headers spell it.
func (l Level) String() string {
	switch l {
	case Resource:
		return "resource"
	case Method:
		return "method"
	case Full:
		return "full"
	default:
		return "none"
	}
}

// Outcome is the answer to an attempt.
type Outcome struct {
	// Result is what to tell the client.
	Result Result
	// Level is where the quota was found.
	Level Level
	// Shadow is true when the quota only counts: Result is then Accepted, and
	// Over says whether it would have been rejected.
	Shadow bool
	// Over is true when the quota in force was exceeded, also in shadow.
	Over bool
	// RetryAfter is the wait until this very attempt would pass. 0 when it
	// passed, or never would.
	RetryAfter time.Duration
	// Policy describes the quota in force; its zero value means none.
	Policy Policy
	// Failure is one line for a person, when Result is Failed.
	Failure string
}

// Policy is what the RateLimit response fields say about a bucket.
type Policy struct {
	// Limit is the most hits an idle bucket passes at once; 0 when nothing ever
	// passes, negative when nothing is known of the policy.
	Limit int64
	// Window is the time in which a drained bucket becomes idle again.
	Window time.Duration
	// Remaining is how many hits would pass now, after this attempt.
	Remaining int64
	// Reset is the time until the bucket is idle again.
	Reset time.Duration
}

// Decider answers attempts. It is called from many goroutines at once and
// never blocks.
type Decider interface {
	// Attempt decides a at the time now, in nanoseconds of a monotonic clock
	// whose zero is the same for all calls. If it cannot answer in the call, it
	// returns false, keeps a copy of what it needs of a, and gives the answer to
	// later: exactly once, within a bounded time, from any goroutine.
	Attempt(now int64, a *Attempt, later Later) (o Outcome, answered bool)
}

// Later takes an answer that could not be given at once.
type Later interface {
	Answer(o Outcome)
}

// Batcher is a Decider that always answers in the call, and gains from seeing
// several attempts at once.
type Batcher interface {
	Decider
	// Attempts decides all of as at the time now, in their order. outcomes has
	// the same length, and takes the answers.
	Attempts(now int64, as []Attempt, outcomes []Outcome)
}
