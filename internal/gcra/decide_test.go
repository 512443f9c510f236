package gcra

import (
	"math"
	"testing"
	"time"
)

func TestSeveralHits(t *testing.T) {
	l := q(t, "1", "4") // five fit
	for _, c := range []struct {
		owed int64 // seconds, which is hits
		n    int64
		ok   bool
	}{
		{0, 1, true},
		{0, 5, true},
		{0, 6, false},
		{0, math.MaxInt64, false},
		{1, 4, true},
		{1, 5, false},
		{4, 1, true},
		{4, 2, false},
		{5, 1, false},
		{-100, 5, true},
		{-100, 6, false}, // idle for long is just idle
	} {
		now := 1000 * second
		tat := now + c.owed*second
		next, ok := l.Conforms(tat, now, c.n)
		want := tat
		if c.ok {
			want = max(tat, now) + c.n*second
		}
		if ok != c.ok || next != want {
			t.Errorf("owing %d, %d hits: %v and TAT %d, want %v and %d", c.owed, c.n, ok, next, c.ok, want)
		}
	}
}

// An attempt of n hits passes exactly if n single hits at that time would.
func TestSeveralHitsEqualSingles(t *testing.T) {
	l := q(t, "3.7", "12.6")
	for owed := int64(0); owed < 15*l.Interval; owed += l.Interval / 3 {
		for n := int64(1); n <= l.Fit+2; n++ {
			several := bucket{owed, l.Stamp}
			singles := several
			if got, want := several.take(l, 0, n), singles.passed(l, 0, int(n)) == int(n); got != want {
				t.Fatalf("owing %d ns, %d hits at once: %v, one by one: %v", owed, n, got, want)
			}
		}
	}
}

// A peek is the decision for one hit with the new TAT thrown away, so it must
// agree with Remaining and Wait.
func TestPeekAgreesWithRemainingAndWait(t *testing.T) {
	for _, l := range []Limit{q(t, "1", "4"), q(t, "7", "0.5"), q(t, "1000", "0"), {}} {
		for owed := int64(0); owed < 10*second; owed += second / 7 {
			_, ok := l.Conforms(owed, 0, 1)
			remaining := l.Remaining(owed, 0)
			wait, ever := l.Wait(owed, 0, 1)
			if ok != (remaining > 0) || ok != (ever && wait == 0) {
				t.Fatalf("%+v owing %d ns: conforms %v, remaining %d, wait %v %v", l, owed, ok, remaining, wait, ever)
			}
		}
	}
}

func TestRemaining(t *testing.T) {
	for _, l := range []Limit{q(t, "1", "4"), q(t, "3", "8.9"), q(t, "1e9", "1e9"), q(t, "1e-7", "1e9"), q(t, "5", "0")} {
		for _, owed := range []int64{-second, 0, 1, l.Interval - 1, l.Interval, l.Tolerance / 2, l.Tolerance, l.Tolerance + 1} {
			now := 100 * second
			n := l.Remaining(now+owed, now)
			if n > 0 {
				if _, ok := l.Conforms(now+owed, now, n); !ok {
					t.Errorf("%+v owing %d: %d remain, but do not pass", l, owed, n)
				}
			}
			if _, ok := l.Conforms(now+owed, now, n+1); ok {
				t.Errorf("%+v owing %d: %d remain, but one more passes", l, owed, n)
			}
		}
		if got := l.Remaining(0, 0); got != l.Fit {
			t.Errorf("%+v: %d remain when idle, want all that fit", l, got)
		}
	}
	if got := (Limit{}).Remaining(0, 0); got != 0 {
		t.Errorf("rate 0: %d remain", got)
	}
}

func TestWaitIsExact(t *testing.T) {
	for _, l := range []Limit{q(t, "1", "4"), q(t, "1/60", "0"), q(t, "3", "2.5"), q(t, "1e6", "100"), q(t, "1e-7", "3")} {
		for n := int64(1); n <= l.Fit; n += 1 + l.Fit/10 {
			for _, owed := range []int64{-second, 0, 1, l.Interval / 2, l.Interval, l.Tolerance, l.Tolerance + l.Interval} {
				now := 50 * second
				tat := now + owed
				wait, ever := l.Wait(tat, now, n)
				if !ever || wait < 0 {
					t.Fatalf("%+v owing %d, %d hits: wait %v %v", l, owed, n, wait, ever)
				}
				if _, ok := l.Conforms(tat, now+int64(wait), n); !ok {
					t.Errorf("%+v owing %d: %d hits do not pass after %v", l, owed, n, wait)
				}
				if _, ok := l.Conforms(tat, now+int64(wait)-1, n); ok && wait > 0 {
					t.Errorf("%+v owing %d: %d hits pass before %v", l, owed, n, wait)
				}
			}
		}
	}
}

func TestWaitForEver(t *testing.T) {
	l := q(t, "1", "4")
	for _, c := range []struct {
		l Limit
		n int64
	}{{l, 6}, {l, math.MaxInt64}, {Limit{}, 1}} {
		if wait, ever := c.l.Wait(0, 0, c.n); ever || wait != 0 {
			t.Errorf("%+v, %d hits: wait %v, %v; want never", c.l, c.n, wait, ever)
		}
	}
}

func TestRescale(t *testing.T) {
	one, ten, half := q(t, "1", "9"), q(t, "10", "9"), q(t, "0.5", "9")
	now := 77 * second
	for _, c := range []struct {
		to       Limit
		from     Limit
		owed     int64
		expected int64
	}{
		{ten, one, 5 * second, second / 2},
		{one, ten, second / 2, 5 * second},
		{half, ten, second, 20 * second},
		{one, one, 12345, 12345},
		{ten, one, 15, 1}, // 1.5 ns: rounded down
		{ten, one, 0, 0},
		{ten, one, -second, -second}, // idle stays idle, to the nanosecond
	} {
		if got := c.to.Rescale(now+c.owed, now, c.from.Stamp) - now; got != c.expected {
			t.Errorf("owing %d at T = %d, rescaled to T = %d: %d, want %d", c.owed, c.from.Interval, c.to.Interval, got, c.expected)
		}
	}
}

// The longest intervals, tolerances, debts and hits together neither overflow
// nor pass too much.
func TestExtremes(t *testing.T) {
	const late = int64(73 * 365 * 24 * time.Hour)
	slow, fast := q(t, "1e-7", "1e9"), q(t, "1e9", "1e9")
	for _, now := range []int64{0, late} {
		var b bucket
		if !b.take(slow, now, slow.Fit) || b.take(slow, now, 1) {
			t.Errorf("at %d: the slowest limit does not pass exactly what fits", now)
		}
		if b.tat < now {
			t.Errorf("at %d: the TAT overflowed to %d", now, b.tat)
		}
		if wait, ever := slow.Wait(b.tat, now, slow.Fit); !ever || wait <= 0 {
			t.Errorf("at %d: wait %v %v", now, wait, ever)
		}
		b = bucket{}
		if got := b.take(fast, now, 1e6) && b.take(fast, now, fast.Fit-1e6) && !b.take(fast, now, 1); !got {
			t.Errorf("at %d: the fastest limit does not pass exactly what fits", now)
		}
		carried := slow.Rescale(b.tat, now, b.stamp) // 1e9 hits owed are far beyond the horizon now
		if carried != now+Horizon {
			t.Errorf("at %d: rescaled from fast to slow, the debt is %d, want the horizon", now, carried-now)
		}
		if got := fast.Rescale(carried, now, slow.Stamp) - now; got != Horizon/slow.Interval {
			t.Errorf("at %d: and back, it is %d", now, got)
		}
		if got := slow.Rescale(now+second, now, 0); got != now+Horizon {
			t.Errorf("at %d: a stamp of nothing gives the TAT %d", now, got)
		}
	}
}
