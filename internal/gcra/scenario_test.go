package gcra

import "testing"

// step sends attempts at a time and expects some of them to pass.
type step struct {
	seconds  float64
	attempts int
	pass     int
}

func TestScenarios(t *testing.T) {
	for name, c := range map[string]struct {
		rate, burst string
		steps       []step
	}{
		"a burst, then singles, then the burst again": {"1", "4", []step{
			{0, 6, 5},
			{3, 1, 1},
			{3.1, 1, 1},
			{4, 1, 1},
			{8, 1, 1},
			{9.5, 1, 1},
			{9.5, 10, 4}, // right after: four more, and no fifth
		}},
		"one a minute and no burst": {"1/60", "0", []step{
			{0, 1, 1}, {59.5, 1, 0}, {60.1, 1, 1},
		}},
		"exactly at the emission interval": {"1/60", "0", []step{
			{0, 1, 1}, {60, 1, 1}, {120, 1, 1}, {179.999999999, 1, 0}, {180, 1, 1},
		}},
		"ten an hour, ten at once": {"10/3600", "9", []step{
			{0, 50, 10}, {359.999999999, 1, 0}, {360, 50, 1}, {36000, 50, 10},
		}},
		"a rejected attempt costs nothing": {"1", "0", []step{
			{0, 1, 1}, {0.5, 1000, 0}, {1, 1, 1},
		}},
		"a fraction of a hit of burst": {"1", "0.5", []step{
			{0, 2, 1}, {0.4999, 1, 0}, {0.5, 1, 1}, {1.4, 1, 0}, {1.5, 1, 1},
		}},
		"rate zero": {"0", "1000", []step{{0, 3, 0}, {1e6, 3, 0}}},
		"idleness is not saved up": {"1", "2", []step{
			{0, 1, 1}, {100000, 10, 3},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			l := q(t, c.rate, c.burst)
			var b bucket
			for _, s := range c.steps {
				if got := b.passed(l, at(s.seconds), s.attempts); got != s.pass {
					t.Fatalf("at %v s: %d of %d passed, want %d", s.seconds, got, s.attempts, s.pass)
				}
			}
		})
	}
}

func TestSteadyStreams(t *testing.T) {
	for _, c := range []struct {
		rate, burst   string
		every, during float64 // seconds
		want          int
	}{
		{"1/3", "9", 1, 60, 29},
		{"3", "2", 0.1, 10, 32},
		{"10", "0", 0.1, 10, 100}, // exactly at the rate nothing is lost
		{"1000000", "0", 1e-6, 0.01, 10000},
		{"1", "0", 0.999999999, 100, 51}, // every second one comes a nanosecond early
	} {
		l := q(t, c.rate, c.burst)
		var b bucket
		got := 0
		for now := int64(0); now < at(c.during); now += at(c.every) {
			got += b.passed(l, now, 1)
		}
		if got != c.want {
			t.Errorf("q(%s, %s), one per %v s for %v s: %d accepted, want %d", c.rate, c.burst, c.every, c.during, got, c.want)
		}
	}
}

func TestChangedQuotaKeepsDebtInHits(t *testing.T) {
	t.Run("doubled", func(t *testing.T) {
		var b bucket
		if got := b.passed(q(t, "10/3600", "9"), 0, 50); got != 10 {
			t.Fatalf("%d passed before, want 10", got)
		}
		if got := b.passed(q(t, "20/3600", "19"), 0, 50); got != 10 {
			t.Errorf("%d passed after, want 10: 20 fit, and 10 are owed", got)
		}
	})
	t.Run("raised a hundredfold", func(t *testing.T) {
		var b bucket
		b.passed(q(t, "0.5", "15"), 0, 4)
		l := q(t, "50", "15")
		if !b.take(l, 0, 1) {
			t.Fatal("the next one was rejected")
		}
		if got := l.Remaining(b.tat, 0); got != 11 {
			t.Errorf("%d remain, want 11: 16 fit, and 5 are owed", got)
		}
	})
	t.Run("lowered", func(t *testing.T) {
		var b bucket
		b.passed(q(t, "10", "9"), 0, 8)
		l := q(t, "1", "9")
		if got := b.passed(l, 0, 50); got != 2 {
			t.Errorf("%d passed, want 2: 10 fit, and 8 are owed", got)
		}
	})
	t.Run("through rate zero and back", func(t *testing.T) {
		var b bucket
		l := q(t, "1", "9")
		b.passed(l, 0, 8)
		if got := b.passed(Limit{}, 0, 5); got != 0 {
			t.Fatalf("%d passed at rate 0", got)
		}
		if got := b.passed(l, 0, 50); got != 2 {
			t.Errorf("%d passed afterwards, want 2", got)
		}
	})
	t.Run("to another group size", func(t *testing.T) {
		var b bucket
		rate, burst := rat(t, "10"), rat(t, "18")
		b.passed(NewLimit(rate, burst, 2), 0, 4) // of ⌊18/2⌋ + 1 = 10
		if got := b.passed(NewLimit(rate, burst, 3), 0, 50); got != 3 {
			t.Errorf("%d passed, want 3: ⌊18/3⌋ + 1 = 7 fit, and 4 are owed", got)
		}
	})
	t.Run("to the same value", func(t *testing.T) {
		var b bucket
		b.passed(q(t, "7", "3"), 0, 2)
		if got, want := q(t, "7.0", "3").Rescale(b.tat, 5, b.stamp), b.tat; got != want {
			t.Errorf("the TAT went from %d to %d", want, got)
		}
	})
}
