package wire

import (
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
)

// TestAnswers holds every octet of the answers to attempts.
func TestAnswers(t *testing.T) {
	now := time.Date(2026, 2, 3, 4, 5, 6, 7, time.FixedZone("", 3600))
	const date = "\r\nDate: Tue, 03 Feb 2026 03:05:06 GMT\r\n"
	policy := attempt.Policy{Limit: 11, Window: 1500 * time.Millisecond, Remaining: 3, Reset: time.Second}
	accepted := attempt.Outcome{Result: attempt.Accepted, Level: attempt.Full, Policy: policy}
	unlimited := attempt.Outcome{Result: attempt.Accepted}
	unknown := attempt.Outcome{Result: attempt.Accepted, Level: attempt.Full, Policy: attempt.Policy{Limit: -1}}
	rejected := attempt.Outcome{Result: attempt.Rejected, Level: attempt.Method, Policy: policy, RetryAfter: time.Nanosecond}
	hopeless := attempt.Outcome{Result: attempt.Rejected, Level: attempt.Resource, Policy: attempt.Policy{}}
	failed := attempt.Outcome{Failure: "no limiter answers"}
	later := func(d time.Duration) attempt.Outcome {
		return attempt.Outcome{Result: attempt.Rejected, Level: attempt.Method, RetryAfter: d}
	}
	const limits = `RateLimit-Policy: "full";q=11;w=2` + "\r\n" + `RateLimit: "full";r=3;t=1` + "\r\n"
	const ok, many = "HTTP/1.1 200 OK" + date + "Content-Length: 0\r\n", "HTTP/1.1 429 Too Many Requests" + date + "Content-Length: 0\r\n"
	tests := []struct {
		name    string
		outcome attempt.Outcome
		headers Headers
		conn    persistence
		want    string
	}{
		{"accepted", accepted, HeadersRetryAfter, persistDefault, ok + "\r\n"},
		{"accepted, none", accepted, HeadersNone, persistDefault, ok + "\r\n"},
		{"accepted, close", accepted, HeadersRetryAfter, persistClose, ok + "Connection: close\r\n\r\n"},
		{"accepted, 1.0", accepted, HeadersRetryAfter, persistKeep, ok + "Connection: keep-alive\r\n\r\n"},
		{"accepted, limits", accepted, HeadersRateLimit, persistDefault, ok + limits + "\r\n"},
		{"accepted, limits, close", accepted, HeadersRateLimit, persistClose, ok + limits + "Connection: close\r\n\r\n"},
		{"accepted, limits, 1.0", accepted, HeadersRateLimit, persistKeep, ok + limits + "Connection: keep-alive\r\n\r\n"},
		{"no quota, limits", unlimited, HeadersRateLimit, persistDefault, ok + "\r\n"},
		{"nothing known, limits", unknown, HeadersRateLimit, persistDefault, ok + "\r\n"},
		{"rejected", rejected, HeadersRetryAfter, persistDefault, many + "Retry-After: 1\r\n\r\n"},
		{"rejected, none", rejected, HeadersNone, persistDefault, many + "\r\n"},
		{"rejected, close", rejected, HeadersRetryAfter, persistClose, many + "Retry-After: 1\r\nConnection: close\r\n\r\n"},
		{
			"rejected, limits", rejected, HeadersRateLimit, persistDefault,
			many + "Retry-After: 1\r\n" + `RateLimit-Policy: "method";q=11;w=2` + "\r\n" + `RateLimit: "method";r=3;t=1` + "\r\n\r\n",
		},
		{"never to pass", hopeless, HeadersRetryAfter, persistDefault, many + "\r\n"},
		{
			"never to pass, limits", hopeless, HeadersRateLimit, persistDefault,
			many + `RateLimit-Policy: "resource";q=0;w=0` + "\r\n" + `RateLimit: "resource";r=0;t=0` + "\r\n\r\n",
		},
		{"a whole second", later(time.Second), HeadersRetryAfter, persistDefault, many + "Retry-After: 1\r\n\r\n"},
		{"a little more", later(time.Second + 1), HeadersRetryAfter, persistDefault, many + "Retry-After: 2\r\n\r\n"},
		{"a year", later(366 * 24 * time.Hour), HeadersRetryAfter, persistDefault, many + "Retry-After: 31622400\r\n\r\n"},
		{
			"failed", failed, HeadersRateLimit, persistDefault,
			"HTTP/1.1 500 Internal Server Error" + date + "Content-Type: text/plain; charset=utf-8\r\nContent-Length: 19\r\n\r\nno limiter answers\n",
		},
		{
			"failed, close", failed, HeadersNone, persistClose,
			"HTTP/1.1 500 Internal Server Error" + date +
				"Content-Type: text/plain; charset=utf-8\r\nContent-Length: 19\r\nConnection: close\r\n\r\nno limiter answers\n",
		},
	}
	p := prepare(now)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := string(p.appendOutcome([]byte("before"), &test.outcome, test.headers, test.conn)); got != "before"+test.want {
				t.Errorf("got\n%q, want\n%q", got, "before"+test.want)
			}
		})
	}
}

// TestDateMoves: the Date of answers follows the wall clock.
func TestDateMoves(t *testing.T) {
	t.Parallel()
	s := serve(t)
	first := s.prepared.Load().second
	eventually(t, "the next second", func() bool { return s.prepared.Load().second > first })
	if late := time.Now().Unix() - s.prepared.Load().second; late > 5 {
		t.Errorf("Date is %d seconds late", late)
	}
}

func TestNotReady(t *testing.T) {
	s := serve(t, func(o *Options) {
		o.Health = func() (bool, string) { return false, "the quotas are not loaded yet" }
	})
	c := s.client(t)
	c.send(sentinel)
	c.receive("503 : the quotas are not loaded yet")
	c.send(bare("HEAD /healthz HTTP/1.1", "Host: h"))
	c.receive("HEAD 503")
	c.send(ask())
	c.receive("200")
}

// TestReasons: each reason has a name of its own, for a counter.
func TestReasons(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Reasons() {
		if name := r.String(); name == "" || name == ReasonNone.String() || seen[name] {
			t.Errorf("reason %d is called %q", r, name)
		}
		seen[r.String()] = true
	}
}
