package config

import "github.com/spf13/pflag"

// Diff compares the configuration in force with a newer one and returns the
// names of the options that differ: applied can change in a running process,
// needsRestart cannot. Both are in the order of --help.
func (l *Limiter) Diff(newer *Limiter) (applied, needsRestart []string) { return diff(l, newer) }

// Diff compares the configuration in force with a newer one, as Limiter.Diff
// does.
func (o *Observer) Diff(newer *Observer) (applied, needsRestart []string) { return diff(o, newer) }

// Diff compares the configuration in force with a newer one, as Limiter.Diff
// does.
func (c *ClientProxy) Diff(newer *ClientProxy) (applied, needsRestart []string) {
	return diff(c, newer)
}

func diff(older, newer program) (applied, needsRestart []string) {
	now, next := bind("", older), bind("", newer)
	now.flags.VisitAll(func(f *pflag.Flag) {
		switch {
		case f.Value.String() == next.flags.Lookup(f.Name).Value.String():
		case reloadOf(f) == live:
			applied = append(applied, f.Name)
		default:
			needsRestart = append(needsRestart, f.Name)
		}
	})
	return applied, needsRestart
}
