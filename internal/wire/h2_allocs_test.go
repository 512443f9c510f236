//go:build !race

package wire

import "testing"

// Nothing is allocated for a request. (With the race detector, pools forget.)
func TestHTTP2RequestsAllocateNothing(t *testing.T) {
	for _, headers := range []Headers{HeadersRetryAfter, HeadersRateLimit} {
		o := plainOptions()
		o.Headers = func() Headers { return headers }
		h := inMemoryHTTP2(o)
		first, others := newVolley(32, same)
		once := func(v *volley) {
			h.take()
			h.read(t, v.number())
			h.settle()
			h.observe()
			h.giveBack()
		}
		once(first)
		others.next = first.next
		if n := testing.AllocsPerRun(100, func() { once(others) }); n > 0 {
			t.Errorf("%s: %v allocations for 32 requests", headers, n)
		}
	}
}
