//go:build !race

package wire

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/levee-project/levee/internal/attempt"
)

// Nothing is allocated for a call, from the question to the answer.
func TestClientAllocatesNothing(t *testing.T) {
	p := prepare(time.Now())
	for _, o := range []attempt.Outcome{
		{Result: attempt.Accepted, Level: attempt.Full},
		{Result: attempt.Rejected, Level: attempt.Full, RetryAfter: time.Second},
	} {
		for _, headers := range []Headers{HeadersRetryAfter, HeadersRateLimit} {
			k, _ := offlineClient(t)
			a := &attempt.Attempt{Resource: []byte("r"), Prefix: []byte("p"), Method: []byte("m"), ReqID: []byte("i"), Hits: 3}
			one := p.appendOutcomeFrame(nil, 0, &o, headers)
			var call Call = nobody{}
			once := func() {
				k.pending = k.pending[:0]
				binary.BigEndian.PutUint32(one[5:], k.flights.next)
				if taken, _ := k.ask(0, a, call); !taken {
					t.Fatal("not taken")
				}
				k.receive(t, one)
			}
			once()
			if n := testing.AllocsPerRun(100, once); n > 0 {
				t.Errorf("%v, %s: %v allocations", o.Result, headers, n)
			}
		}
	}
}
