package gcra

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestNewLimit(t *testing.T) {
	for _, c := range []struct {
		rate, burst              string
		d                        int
		interval, tolerance, fit int64
	}{
		{"1", "4", 1, second, 4 * second, 5},
		{"6600", "165", 4, 606061, 25000016, 42}, // the manual's example: T = 606060.6 ns, ⌊41.25⌋ + 1
		{"1000", "25", 4, 4000000, 25000000, 7},
		{"1/60", "0", 1, 60 * second, 0, 1},
		{"10/3600", "9", 1, 360 * second, 3240 * second, 10},
		{"1/86400", "0", 7, 7 * 86400 * second, 0, 1},
		{"3", "2", 1, 333333340, 666666680, 3}, // rounded up to eight digits
		{"4", "0.5", 1, second / 4, second / 8, 1},
		{"4", "1.999", 1, second / 4, 499750000, 2},
		{"0", "100", 1, 0, 0, 0},
		{"0", "0", 3, 0, 0, 0},
		{"1000000", "0", 1, 1000, 0, 1},
		{"999999", "0", 1, 1001, 0, 1},
		{"1e9", "1e9", 1, 1, 1e9, 1e9 + 1},
		{"1e9", "1e9", 65535, 65535, 1e9, 15260},
		{"1e-7", "0", 1, 1e16, 0, 1},
		{"1e-7", "230", 1, 1e16, Horizon, 231},
		{"1e-7", "1e9", 1, 1e16, Horizon, 231}, // cut: 317 million years of tolerance
		{"1e-7", "0", 7, 7e16, 0, 1},
		{"1e-7", "0", 65535, Horizon, 0, 1}, // cut: 20,000 years between two hits
	} {
		got := NewLimit(rat(t, c.rate), rat(t, c.burst), c.d)
		want := Limit{c.interval, c.tolerance, c.fit, got.Stamp}
		if got != want {
			t.Errorf("NewLimit(%s, %s, %d) = %+v, want %+v", c.rate, c.burst, c.d, got, want)
		}
		if stamped(got.Stamp) != got.Interval {
			t.Errorf("NewLimit(%s, %s, %d): the stamp holds %d, the interval is %d", c.rate, c.burst, c.d, stamped(got.Stamp), got.Interval)
		}
	}
}

// The shares of a group never add up to more than the quota, and an idle group
// passes d·(⌊burst/d⌋ + 1) at once.
func TestGroupShares(t *testing.T) {
	rate, burst := rat(t, "10"), rat(t, "20")
	for d := 1; d <= 7; d++ {
		l := NewLimit(rate, burst, d)
		if want := int64(20/d) + 1; l.Fit != want {
			t.Errorf("D = %d: %d fit, want %d", d, l.Fit, want)
		}
		if want := int64(d) * second / 10; l.Interval != want {
			t.Errorf("D = %d: interval %d, want %d", d, l.Interval, want)
		}
		// τ = burst/rate whatever D is.
		if l.Tolerance < 2*second-1 || l.Tolerance > 2*second {
			t.Errorf("D = %d: tolerance %d, want 2 s", d, l.Tolerance)
		}
	}
}

// missed returns by which part of itself the limit misses the rate.
func missed(rate *big.Rat, d int, l Limit) *big.Rat {
	enforced := big.NewRat(second, l.Interval)
	enforced.Mul(enforced, big.NewRat(int64(d), 1))
	diff := new(big.Rat).Sub(rate, enforced)
	return diff.Quo(diff, rate)
}

func TestRateErrorIsSmallAndNeverUpward(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	most := big.NewRat(1, 1000)
	for range 10000 {
		// Rates from 1e-7 to 1e6, as likely small as large, with a random fraction.
		denominator := big.NewInt(1 + random.Int64N(1e7))
		rate := new(big.Rat).SetFrac(big.NewInt(1+random.Int64N(1e13)), denominator)
		if rate.Cmp(big.NewRat(1e6, 1)) > 0 || rate.Cmp(big.NewRat(1, 1e7)) < 0 {
			continue
		}
		d := 1 + random.IntN(7)
		burst := new(big.Rat).SetFrac64(random.Int64N(1e9), 1+random.Int64N(1e6))
		l := NewLimit(rate, burst, d)
		if by := missed(rate, d, l); by.Sign() < 0 || by.Cmp(most) > 0 {
			t.Fatalf("rate %v, D = %d: missed by %v", rate, d, by.FloatString(9))
		}
		if l.Tolerance == Horizon {
			continue
		}
		fit := new(big.Int).Quo(burst.Num(), new(big.Int).Mul(burst.Denom(), big.NewInt(int64(d))))
		if want := fit.Int64() + 1; l.Fit != want {
			t.Fatalf("rate %v, burst %v, D = %d: %d fit, want %d", rate, burst, d, l.Fit, want)
		}
	}
}

func TestStamp(t *testing.T) {
	for interval, held := range map[int64]int64{
		1:                    1,
		maxMantissa:          maxMantissa,
		maxMantissa + 1:      maxMantissa + 5, // 268435456 to 268435460
		second / 3:           333333340,
		second:               second,
		60 * second:          60 * second,
		36525 * 864 * second: 36525 * 864 * second,
		1234567890123456789:  1234567900000000000, // 123456790e10
		Horizon:              Horizon,
	} {
		stamp := Stamp(interval)
		if got := stamped(stamp); got != held {
			t.Errorf("the stamp of %d holds %d, want %d", interval, got, held)
		}
		if stamp == 0 {
			t.Errorf("the stamp of %d is 0", interval)
		}
		if again := Stamp(held); again != stamp {
			t.Errorf("the stamp of %d is %#x, of what it holds %#x", interval, stamp, again)
		}
	}
}

func TestStampRoundsUpALittle(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 100000 {
		interval := 1 + random.Int64N(Horizon)>>random.IntN(61)
		held := stamped(Stamp(interval))
		if held < interval || float64(held-interval) > 4e-8*float64(interval) || held > Horizon {
			t.Fatalf("the stamp of %d holds %d", interval, held)
		}
	}
}
