package wire

import (
	"reflect"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
)

// What a limiter answers arrives as it was decided.
func TestClientAnswers(t *testing.T) {
	s := serve(t, runningClock)
	c := connect(t, s.addr)
	for _, test := range []struct {
		ask  *attempt.Attempt
		want answered
		seen string
	}{
		{about("r"), answered{attempt.Outcome{Result: attempt.Accepted}, nil}, "r"},
		{about("rejected"), answered{attempt.Outcome{Result: attempt.Rejected, Over: true, RetryAfter: 2 * time.Second}, nil}, "rejected"},
		{about("failed"), answered{attempt.Outcome{Failure: "the quotas are not loaded"}, nil}, "failed"},
		{
			&attempt.Attempt{Resource: []byte("r"), Prefix: []byte("p/q"), Method: []byte("GET"), ReqID: []byte("id"), Hits: 7},
			answered{attempt.Outcome{Result: attempt.Accepted}, nil},
			"r prefix=p/q method=GET hits=7 id=id",
		},
		{&attempt.Attempt{Resource: []byte("r")}, answered{attempt.Outcome{Result: attempt.Accepted}, nil}, "r hits=0"},
	} {
		if got := c.answer(t, test.ask); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", test.seen, got, test.want)
		}
		if seen := s.decider.take(); !reflect.DeepEqual(seen, []string{test.seen}) {
			t.Errorf("the limiter saw %q, want %q", seen, test.seen)
		}
	}
	if bad, _ := s.told(); len(bad) > 0 {
		t.Errorf("the limiter complains of %v", bad)
	}
}
