package hotkeys

import "time"

// pace chooses N: one attempt in N is counted.
type pace struct {
	shift   uint  // N is 2^shift
	samples int   // since the last look, at this N
	last    int64 // look: clock
}

const (
	// exact is how many attempts a second are all counted.
	exact = 1024
	// most is how many are counted in a second, whatever the load.
	most = 16 * exact
	// maxShift makes N larger than the hits of any attempt.
	maxShift = 21
)

// budget is how many samples a second are fine at a shift. It grows with N, so that
// counting stays a small part of the work when that is little, too.
func budget(shift uint) int { return min(exact<<min(shift, maxShift), most) }

// sample notes one. If there are too many, N is doubled, at once: a tick would be
// late for a sudden load.
func (p *pace) sample() (n uint32, changed bool) {
	p.samples++
	if p.samples < budget(p.shift) || p.shift == maxShift {
		return 0, false
	}
	p.shift++
	p.samples /= 2
	return 1 << p.shift, true
}

// tick returns the N for the time that begins now. N falls where the samples would
// stay well below what is too many.
func (p *pace) tick(now int64) (n uint32) {
	if passed := time.Duration(now - p.last); passed >= time.Second/2 {
		rate := float64(p.samples) / passed.Seconds()
		for p.shift > 0 && 2*rate < 0.8*float64(budget(p.shift-1)) {
			p.shift--
			rate *= 2
		}
		p.samples, p.last = 0, now
	}
	return 1 << p.shift
}
