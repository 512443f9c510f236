package gcra

import "testing"

func BenchmarkConforms(b *testing.B) {
	l := q(b, "1000000", "100")
	var tat, now int64
	for b.Loop() {
		tat, _ = l.Conforms(tat, now, 1)
		now += 900
	}
}

func BenchmarkRescale(b *testing.B) {
	from, to := q(b, "1000", "100"), q(b, "1100", "100")
	var tat int64
	for b.Loop() {
		tat = to.Rescale(50*second, 0, from.Stamp)
	}
	_ = tat
}

func BenchmarkNewLimit(b *testing.B) {
	rate, burst := rat(b, "6600"), rat(b, "165")
	for b.Loop() {
		_ = NewLimit(rate, burst, 4)
	}
}
