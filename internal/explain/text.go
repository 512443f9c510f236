package explain

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/levee-project/levee/internal/tree"
)

// String is for people.
func (g Group) String() string {
	text := limiters(g.InForce)
	if g.InForce != g.Wanted {
		text += fmt.Sprintf(" in force, %d wanted", g.Wanted)
	}
	if len(g.Members) > 0 {
		text += ": " + strings.Join(g.Members, ", ")
	}
	if len(g.StandIns) > 0 {
		text += "; then " + strings.Join(g.StandIns, ", ")
	}
	return text
}

// String is for people.
func (s *Share) String() string {
	if s.AtOnce == 0 {
		return "rejects everything"
	}
	return fmt.Sprintf("%s/s, burst %s: one every %.6g ms, tolerance %.6g ms, %d at once when idle",
		s.Rate, s.Burst, s.Interval, s.Tolerance, s.AtOnce)
}

// String is for people.
func (b *Bucket) String() string {
	text := "resource " + tree.Show(b.Resource)
	if b.Prefix != "" {
		text += ", prefix " + tree.Show(b.Prefix)
	}
	if b.Method != "" {
		text += ", method " + tree.Show(b.Method)
	}
	return text
}

func limiters(n int) string {
	if n == 1 {
		return "1 limiter"
	}
	return fmt.Sprintf("%d limiters", n)
}

// Hits is a debt for people.
func Hits(debt float64) string {
	text := strconv.FormatFloat(math.Round(debt*10)/10, 'f', -1, 64)
	if text == "1" {
		return "1 hit"
	}
	return text + " hits"
}
