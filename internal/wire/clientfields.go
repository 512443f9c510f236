package wire

import (
	"bytes"
	"time"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/hpack"
)

// answerFields are those of an answer that matter.
type answerFields struct {
	status     int // 0 = none has come
	regular    bool
	malformed  bool
	retryAfter time.Duration
	level      attempt.Level
	policy     attempt.Policy
	told       uint8 // which of the two fields about the quota have come
}

const (
	toldPolicy = 1 << iota
	toldRemaining
)

func (a *answerFields) reset() { *a = answerFields{} }

// field takes a field of an answer. What makes one malformed is in RFC 9113,
// sections 8.2 and 8.3.
func (a *answerFields) field(name hpack.Name, raw, value []byte, valid bool) {
	switch {
	case !valid, name.ConnectionSpecific():
		a.malformed = true
	case name == hpack.Status:
		a.setStatus(value)
	case name.Pseudo():
		a.malformed = true
	default:
		a.regular = true
		switch {
		case name == hpack.RetryAfter:
			a.retryAfter = wholeSeconds(value)
		case name != hpack.Other:
		case string(raw) == "ratelimit-policy":
			a.setQuota(value, toldPolicy, 'q', 'w', &a.policy.Limit, &a.policy.Window)
		case string(raw) == "ratelimit":
			a.setQuota(value, toldRemaining, 'r', 't', &a.policy.Remaining, &a.policy.Reset)
		}
	}
}

func (a *answerFields) setStatus(value []byte) {
	n, ok := digits(value)
	if !ok || len(value) != 3 || n < 100 || a.status != 0 || a.regular {
		a.malformed = true
		return
	}
	a.status = int(n)
}

// setQuota takes a field such as "resource";q=10;w=1 as limiters write it: the
// level, a count and a time in seconds. Other spellings say nothing to us.
func (a *answerFields) setQuota(value []byte, which uint8, countName, timeName byte, count *int64, span *time.Duration) {
	name, value, _ := bytes.Cut(value, []byte{';'})
	level := levelNamed(name)
	first, second, _ := bytes.Cut(value, []byte{';'})
	n, ok := parameter(first, countName)
	s, also := parameter(second, timeName)
	if level == attempt.None || !ok || !also || a.told != 0 && level != a.level {
		return
	}
	a.told |= which
	a.level, *count, *span = level, n, inSeconds(s)
}

// levelNamed returns the level that a quoted name stands for, or None.
func levelNamed(quoted []byte) attempt.Level {
	n := len(quoted)
	if n < 2 || quoted[0] != '"' || quoted[n-1] != '"' {
		return attempt.None
	}
	for _, l := range attempt.Levels {
		if string(quoted[1:n-1]) == l.String() {
			return l
		}
	}
	return attempt.None
}

// parameter returns the value of a parameter such as q=10.
func parameter(b []byte, name byte) (int64, bool) {
	if len(b) < 3 || b[0] != name || b[1] != '=' {
		return 0, false
	}
	return digits(b[2:])
}

// digits reads a whole number of at most 18 digits.
func digits(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	for _, c := range b {
		if !isDigit(c) {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// wholeSeconds reads a duration in seconds. Other spellings are as good as none.
func wholeSeconds(b []byte) time.Duration {
	n, _ := digits(b)
	return inSeconds(n)
}

// inSeconds returns a duration of n seconds, or the longest there is.
func inSeconds(n int64) time.Duration {
	const longest = int64(1<<63-1) / int64(time.Second)
	return time.Duration(min(n, longest)) * time.Second
}

// outcome returns what the fields say about the attempt. The line of a failure is
// in the text.
func (a *answerFields) outcome() (o attempt.Outcome) {
	switch a.status {
	case 200:
		o.Result = attempt.Accepted
	case 429:
		o.Result, o.Over, o.RetryAfter = attempt.Rejected, true, a.retryAfter
	default:
		return o
	}
	if a.told == toldPolicy|toldRemaining {
		o.Level, o.Policy = a.level, a.policy
	}
	return o
}
