package console

import (
	"fmt"

	"github.com/levee-project/levee/internal/topology"
)

// problems are the sentences about a frame, the worst first. They change only when
// there is news, because screen readers speak them.
func problems(f *frame) []problem {
	bad, warn := []problem{}, []problem{}
	say := func(h health, text string, args ...any) {
		p := problem{h, fmt.Sprintf(text, args...)}
		if h == faulty {
			bad = append(bad, p)
		} else {
			warn = append(warn, p)
		}
	}
	silent, deaf, unready := map[string][]string{}, map[string][]string{}, []string{}
	for _, m := range f.Members {
		switch {
		case m.State == string(topology.Silent), m.State == "gone":
			silent[m.Role] = append(silent[m.Role], m.ID)
		case m.Health == faulty:
			deaf[m.Role] = append(deaf[m.Role], m.ID)
		case m.State == "not ready":
			unready = append(unready, m.ID)
		}
	}
	for _, role := range []string{"limiter", "client-proxy", "observer"} {
		if ids := silent[role]; len(ids) > 0 {
			say(faulty, "%s (%s): nothing is heard of %s", names(ids), role, it(ids))
		}
		if ids := deaf[role]; len(ids) > 0 {
			say(faulty, "%s (%s): no answer from the admin port", names(ids), role)
		}
	}
	if l := f.Limiters; l != nil && l.Serving < l.Wanted {
		say(faulty, "the largest group wants %d limiters, and %d serve", l.Wanted, l.Serving)
	}
	if len(unready) > 0 {
		say(unusual, "%s: not ready", names(unready))
	}
	if ids := f.Store.Lagging; len(ids) > 0 {
		say(unusual, "%s: an older configuration is in force than elsewhere", names(ids))
	}
	if ids := f.Store.Away; len(ids) > 0 {
		say(unusual, "%s: not connected to the store", names(ids))
	}
	switch n := f.Store.Invalid; {
	case n == 1:
		say(unusual, "1 entry of the shared configuration has no effect")
	case n > 1:
		say(unusual, "%d entries of the shared configuration have no effect", n)
	}
	return append(bad, warn...)
}

func it(ids []string) string {
	if len(ids) == 1 {
		return "it"
	}
	return "them"
}
