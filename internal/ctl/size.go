package ctl

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/spf13/cobra"

	"github.com/levee-project/levee/internal/explain"
	"github.com/levee-project/levee/internal/gcra"
	"github.com/levee-project/levee/internal/quota"
)

// size is a quota that was worked out.
type size struct {
	RPS   string `json:"rps"`
	Group int    `json:"group"`
	// Rate and Burst are for the whole group.
	Rate  string `json:"rate"`
	Burst string `json:"burst"`
	// Share is what one limiter tolerates at once: burst / group.
	Share string `json:"burst_per_limiter"`
	// AtOnce is how many pass an idle limiter at once.
	AtOnce int64 `json:"at_once"`
	// Rejected is the part of RPS requests a second, arriving at random, that is
	// rejected all the same.
	Rejected float64 `json:"rejected"`
	// Better is a group size that rejects less, where Share is small.
	Better *size `json:"better,omitempty"`
}

// enough is the burst of one limiter below which random arrivals cost too much.
var enough = big.NewRat(3, 1)

func (t *tool) limitSize() *cobra.Command {
	var rps string
	var group int
	cmd := &cobra.Command{
		Use:   "size --rps N [--group D]",
		Short: "Work out rate and burst for so many requests a second",
		Long: `Size computes what to write for N requests a second: rate = N x 1.1, and
burst = rate / D x 0.1 for a group of D limiters. It also tells what part of N requests
a second, arriving at random, is rejected all the same: a limiter tolerates burst / D
more at once, and below 3 that is too little for anything but an even flow. Needs no
store.`,
		Example: `  leveectl limit size --rps 6000 --group 4`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := quota.Value{Rate: rps, Burst: "0"}
			q, err := quota.New(v)
			switch {
			case err != nil:
				return usage("--rps: %w", err)
			case q.Rate().Sign() == 0:
				return usage("--rps: is 0; nothing needs no burst")
			case group < 1 || group > quota.MaxFactor:
				return usage("--group: must be from 1 to %d", quota.MaxFactor)
			}
			s := sizeFor(q.Rate(), group, nil)
			s.addBetter(q.Rate())
			return t.print(s, s.table)
		},
	}
	cmd.Flags().StringVar(&rps, "rps", "", "`N` requests a second shall pass")
	cmd.Flags().IntVar(&group, "group", 1, "`D`: how many limiters share the resource")
	return cmd
}

// sizeFor follows the manual, unless a burst is given.
func sizeFor(rps *big.Rat, group int, burst *big.Rat) *size {
	d := big.NewRat(int64(group), 1)
	rate := new(big.Rat).Mul(rps, big.NewRat(11, 10))
	if burst == nil {
		burst = new(big.Rat).Quo(rate, d)
		burst.Mul(burst, big.NewRat(1, 10))
	}
	l := gcra.NewLimit(rate, burst, group)
	return &size{
		RPS: explain.Decimal(rps), Group: group, Rate: explain.Decimal(rate), Burst: explain.Decimal(burst),
		Share: explain.Decimal(new(big.Rat).Quo(burst, d)), AtOnce: l.Fit,
		Rejected: rejected(l, rps, group),
	}
}

// addBetter looks for the largest group in which each limiter tolerates enough:
// rate / D x 0.1 / D of 3 or more. Where that is none, one limiter with more
// burst.
func (s *size) addBetter(rps *big.Rat) {
	rate := new(big.Rat).Mul(rps, big.NewRat(11, 10))
	share := func(d int) *big.Rat { // rate x 0.1 / D^2
		return new(big.Rat).Quo(rate, big.NewRat(10*int64(d)*int64(d), 1))
	}
	if share(s.Group).Cmp(enough) >= 0 {
		return
	}
	d := s.Group
	for d > 1 && share(d).Cmp(enough) < 0 {
		d--
	}
	if share(d).Cmp(enough) < 0 {
		s.Better = sizeFor(rps, d, enough)
	} else {
		s.Better = sizeFor(rps, d, nil)
	}
}

// rejected is the part of random arrivals (Poisson) that does not conform on one
// limiter, where each of the group gets an equal part of rps. It is simulated, and
// always comes out the same.
func rejected(l gcra.Limit, rps *big.Rat, group int) float64 {
	const arrivals = 300_000
	perSecond, _ := rps.Float64()
	pause := 1e9 / perSecond * float64(group)
	if pause > float64(gcra.Horizon)/arrivals/20 {
		return 0 // one in minutes; the simulated time would not fit
	}
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // chance is no secret here
	var tat int64
	var now float64
	lost := 0
	for range arrivals {
		now += rng.ExpFloat64() * pause
		next, ok := l.Conforms(tat, int64(now), 1)
		if tat = next; !ok {
			lost++
		}
	}
	return math.Round(float64(lost)/arrivals*1e4) / 1e4
}

func (s *size) table(w io.Writer) {
	row(w, "GROUP", "RATE", "BURST", "BURST/GROUP", "AT ONCE", "REJECTED AT RANDOM ARRIVALS")
	line := func(s *size) {
		row(w, s.Group, s.Rate, s.Burst, s.Share, s.AtOnce, fmt.Sprintf("%.2f %% of %s/s", 100*s.Rejected, s.RPS))
	}
	line(s)
	if s.Better == nil {
		return
	}
	line(s.Better)
	row(w)
	row(w, fmt.Sprintf("In a group of %d a limiter tolerates %s more at once; with less than 3, uneven traffic loses %.1f %%.",
		s.Group, s.Share, 100*s.Rejected))
	row(w, fmt.Sprintf("Better: a group of %d, rate %s, burst %s.", s.Better.Group, s.Better.Rate, s.Better.Burst))
}
