package hotkeys

import (
	"cmp"
	"math"
	"slices"

	"github.com/levee-project/levee/internal/attempt"
)

// Report is what was counted up to a time.
type Report struct {
	// Seconds is what a count is to be divided by for the mean rate: the time since
	// the start, decayed as the counts are.
	Seconds float64
	// Lost is what could not be counted, in hits, decayed.
	Lost                 float64
	Attempts, Rejections List
}

// List is the buckets with the largest counts.
type List struct {
	// Total is the count of all buckets.
	Total float64
	// Unlisted is the most that a bucket that is not listed may have.
	Unlisted float64
	// Entries are sorted, the largest first.
	Entries []Entry
}

// Entry is a bucket and its count.
type Entry struct {
	// Resource, Prefix and Method are the bucket's name. They may be cut when Digest
	// is not 0.
	Resource, Prefix, Method string
	// Level is that of its last attempt.
	Level attempt.Level
	// Digest is a hash of a long name, the same in each process.
	Digest uint64
	// Count is in hits, decayed; the true one is at most Error away.
	Count, Error float64
}

// least is the count below which an entry is left out: a single hit, four
// half-lives ago.
const least = 1.0 / 16

// Report returns up to n entries of each list as of now, the clock of [Top.Tick].
// Counting goes on while it sorts.
func (t *Top) Report(now int64, n int) Report {
	work := new(list)
	grain, r := t.copy(work, &t.attempts, now)
	r.Attempts = work.report(grain, n)
	grain, _ = t.copy(work, &t.rejections, now)
	r.Rejections = work.report(grain, n)
	return r
}

// copy takes a list out as of now. It returns the grain of its counts.
func (t *Top) copy(to, from *list, now int64) (grain float64, r Report) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.decay(now)
	*to = *from
	halfLives := float64(t.last-t.began) / float64(HalfLife)
	r.Seconds = max(1, HalfLife.Seconds()/math.Ln2*(1-math.Exp2(-halfLives)))
	r.Lost = t.missed
	return t.grain, r
}

// report sorts the entries by what was seen of them, and keeps n.
func (l *list) report(grain float64, n int) List {
	order := make([]uint16, 0, l.used)
	for i := range l.used {
		if l.seen(uint16(i)) >= least {
			order = append(order, uint16(i))
		}
	}
	slices.SortFunc(order, func(a, b uint16) int { return cmp.Or(cmp.Compare(l.seen(b), l.seen(a)), cmp.Compare(a, b)) })

	r := List{Total: l.total, Unlisted: l.smallest() + noise(0, l.smallest(), grain)}
	if len(order) < l.used || len(order) > n {
		// What is left out is unlisted, too.
		for _, i := range order[min(n, len(order)):] {
			r.Unlisted = max(r.Unlisted, l.counts[i]+noise(l.slots[i].variance, l.slots[i].taken, grain))
		}
		r.Unlisted = max(r.Unlisted, least)
	}
	for _, i := range order[:min(n, len(order))] {
		s := &l.slots[i]
		e := Entry{Count: l.seen(i), Error: s.taken + noise(s.variance, s.taken, grain)}
		e.Resource, e.Prefix, e.Method = s.label.parts()
		e.Level, e.Digest = s.label.level, s.label.digest
		r.Entries = append(r.Entries, e)
	}
	return r
}

// seen is the part of a count that was not taken over.
func (l *list) seen(i uint16) float64 { return l.counts[i] - l.slots[i].taken }

// noise is four standard deviations of the sampling, of a count with the variance
// that was seen and of what may have been sampled before that. The true variance
// of few samples may be larger than theirs; solving (x-count)² = 16·x·M for the
// largest true count x that would still give the samples gives the other terms.
func noise(variance, before, grain float64) float64 {
	m := math.Sqrt(grain * (grain - 1))
	return 8*m + 4*math.Sqrt(variance+before*m+4*m*m)
}
