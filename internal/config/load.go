package config

import (
	"io"

	"github.com/spf13/pflag"
)

// Action is what the command line asks the process to do.
type Action int

// The actions.
const (
	// Run: start the daemon.
	Run Action = iota
	// CheckOnly: the configuration is sound (--check-config); end with code 0.
	CheckOnly
	// HelpShown: --help was asked for and has been written; end with code 0.
	HelpShown
	// VersionAsked: print the version (--version) and end with code 0. This
	// package does not know it.
	VersionAsked
)

// LoadLimiter reads the configuration of a limiter. args are the arguments
// without the program's name (os.Args[1:]), env is the environment as
// os.Environ gives it, and out gets the text of --help.
//
// The configuration is complete and valid when the action is Run or CheckOnly,
// and nil otherwise. The error joins everything that is wrong, one *Error a
// line, up to 100 of them, and matches ErrInvalid.
func LoadLimiter(args, env []string, out io.Writer) (*Limiter, Action, error) {
	l := new(Limiter)
	action, err := load(limiterBinary, l, args, env, out)
	return unlessNone(l, action, err)
}

// LoadObserver reads the configuration of an observer, as LoadLimiter does.
func LoadObserver(args, env []string, out io.Writer) (*Observer, Action, error) {
	o := new(Observer)
	action, err := load(observerBinary, o, args, env, out)
	return unlessNone(o, action, err)
}

// LoadClientProxy reads the configuration of a client-proxy, as LoadLimiter
// does.
func LoadClientProxy(args, env []string, out io.Writer) (*ClientProxy, Action, error) {
	c := new(ClientProxy)
	action, err := load(proxyBinary, c, args, env, out)
	return unlessNone(c, action, err)
}

func unlessNone[T any](cfg *T, action Action, err error) (*T, Action, error) {
	if err != nil || action == HelpShown || action == VersionAsked {
		return nil, action, err
	}
	return cfg, action, nil
}

// load applies the three sources to p, in order.
func load(binary string, p program, args, env []string, out io.Writer) (Action, error) {
	s := newSet(binary)
	p.define(s)
	var run command
	run.define(s)

	variables, line := s.readEnviron(env), s.readArgs(args)
	aboutRun := func(f *pflag.Flag) bool { return reloadOf(f) == commandLine || reloadOf(f) == notInFile }
	s.apply(variables, aboutRun)
	s.apply(line, aboutRun)
	switch {
	case run.help:
		return HelpShown, s.usage(out)
	case run.version:
		return VersionAsked, nil
	}

	if run.file != "" {
		s.applyFile(run.file)
	}
	others := func(f *pflag.Flag) bool { return !aboutRun(f) }
	s.apply(variables, others)
	s.apply(line, others)
	if err := s.err(); err != nil {
		return Run, err
	}
	p.resolve()
	if run.check {
		return CheckOnly, s.validate(p)
	}
	return Run, s.validate(p)
}

// apply sets those of the given options that which accepts.
func (s *set) apply(options []given, which func(*pflag.Flag) bool) {
	for _, g := range options {
		if !which(s.flags.Lookup(g.name)) {
			continue
		}
		s.assign(g.name, g.where, func(v setting) error {
			if l, ok := v.(*list); ok && g.more {
				return l.add(g.value)
			}
			return v.Set(g.value)
		})
	}
}
