package gcra

import (
	"math/big"
	"testing"
	"time"
)

const second = int64(time.Second)

// rat reads a number such as 0.5, 1e-7 or 10/3600.
func rat(t testing.TB, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no number", text)
	}
	return r
}

// q is a limit for a group of one.
func q(t testing.TB, rate, burst string) Limit {
	t.Helper()
	return NewLimit(rat(t, rate), rat(t, burst), 1)
}

// bucket is the state of a key, kept as a table of keys keeps it: its debt is
// rescaled when it meets a limit with another interval.
type bucket struct {
	tat   int64
	stamp uint32
}

// take asks for n hits at the time now.
func (b *bucket) take(l Limit, now, n int64) bool {
	if l.Interval == 0 {
		return false
	}
	next, ok := l.Conforms(l.Rescale(b.tat, now, b.stamp), now, n)
	b.tat, b.stamp = next, l.Stamp
	return ok
}

// passed counts how many of so many single hits at the time now pass.
func (b *bucket) passed(l Limit, now int64, attempts int) (count int) {
	for range attempts {
		if b.take(l, now, 1) {
			count++
		}
	}
	return count
}

// at is a time in seconds as nanoseconds.
func at(seconds float64) int64 { return int64(seconds * float64(second)) }
