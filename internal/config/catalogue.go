package config

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// The names of the binaries, as messages and --help spell them.
const (
	limiterBinary  = "levee-limiter"
	observerBinary = "levee-observer"
	proxyBinary    = "levee-client-proxy"
	toolBinary     = "leveectl"
)

// catalogue returns the options of every binary. One environment can serve them
// all, so each must know the names of the others.
func catalogue() []*set {
	tool := newSet(toolBinary)
	new(Tool).define(tool)
	defineToolFile(tool, new(string))
	sets := []*set{newSet(limiterBinary), newSet(observerBinary), newSet(proxyBinary)}
	for i, p := range []program{new(Limiter), new(Observer), new(ClientProxy)} {
		p.define(sets[i])
		new(command).define(sets[i])
	}
	return append(sets, tool)
}

// owners returns the binaries that have the option name.
func owners(name string) []string {
	var owners []string
	for _, s := range catalogue() {
		if s.flags.Lookup(name) != nil {
			owners = append(owners, s.binary)
		}
	}
	return owners
}

// unknown explains a name that is no option here. what is the word for it
// ("key"), known has the names that would do, and spell writes one as the source
// does.
func (s *set) unknown(what, name string, known []string, spell func(string) string) string {
	if others := owners(name); len(others) > 0 && !slices.Contains(others, s.binary) {
		return "is an option of " + strings.Join(others, " and ") + ", not of " + s.binary
	}
	problem := "unknown " + what
	if near := nearest(name, known); near != "" {
		problem += "; did you mean " + spell(near) + "?"
	}
	return problem
}

// allNames returns the name of every option of the set.
func (s *set) allNames() []string {
	var names []string
	s.flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}
