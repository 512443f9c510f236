package console

import (
	"cmp"
	"math"
	"slices"

	"github.com/levee-project/levee/internal/adminapi"
)

// shownKeys is how many hot keys a frame has of each kind.
const shownKeys = 20

// hot fills in the keys that are hottest over all limiters.
func (c *collector) hot(f *frame) {
	var attempts, rejections tally
	counted := false
	take := func(t *adminapi.Top) {
		if t == nil || t.HalfLife <= 0 {
			return
		}
		counted = true
		attempts.add(t, t.Attempts)
		rejections.add(t, t.Rejections)
	}
	if c.source.Top != nil {
		top := c.source.Top()
		take(&top)
	}
	for _, k := range c.members {
		take(k.top)
	}
	if counted {
		f.Hottest, f.Rejected = attempts.list(), rejections.list()
	}
}

// tally adds up the counts of one key at many limiters.
type tally map[hotKey]*hotKey

// add takes the keys of one limiter. A count that falls to a half in a time is,
// while the rate is even, the rate times that time / ln 2.
func (t *tally) add(top *adminapi.Top, keys []adminapi.Key) {
	if *t == nil {
		*t = tally{}
	}
	per := math.Ln2 / top.HalfLife
	for _, k := range keys {
		name := hotKey{Resource: k.Resource, Prefix: k.Prefix, Method: k.Method, Level: k.Level}
		sum := (*t)[name]
		if sum == nil {
			sum = &hotKey{Resource: k.Resource, Prefix: k.Prefix, Method: k.Method, Level: k.Level}
			(*t)[name] = sum
		}
		sum.Rate += k.Count * per
		sum.Error += k.Error * per
	}
}

func (t tally) list() []hotKey {
	list := make([]hotKey, 0, len(t))
	for _, k := range t {
		list = append(list, *k)
	}
	slices.SortFunc(list, func(a, b hotKey) int {
		return cmp.Or(cmp.Compare(b.Rate, a.Rate), cmp.Compare(a.Resource, b.Resource),
			cmp.Compare(a.Prefix, b.Prefix), cmp.Compare(a.Method, b.Method))
	})
	return list[:min(len(list), shownKeys)]
}
