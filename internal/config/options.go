package config

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
)

// reload says what a changed option needs to take effect. Each definition must
// name one.
type reload string

const (
	// live options are applied by SIGHUP.
	live reload = "live"
	// restart options take effect at the next start.
	restart reload = "restart"
	// notInFile is the path of the file itself.
	notInFile reload = "not in a file"
	// commandLine options are about one run, and no other source may set them.
	commandLine reload = "command line"
)

// The keys of the annotations that every flag has.
const (
	// reloadAnnotation holds a reload.
	reloadAnnotation = "reload"
	// groupAnnotation holds the title under which --help shows the flag.
	groupAnnotation = "group"
)

func reloadOf(f *pflag.Flag) reload { return reload(f.Annotations[reloadAnnotation][0]) }

func groupOf(f *pflag.Flag) string { return f.Annotations[groupAnnotation][0] }

// set holds the options of one binary, bound to the fields of a struct, and the
// mistakes found while they were set.
type set struct {
	// binary owns the options; messages name it.
	binary string
	// flags has every option, in the order of definition.
	flags *pflag.FlagSet
	// title is the group of the options that are defined next.
	title string
	// keep leaves the fields as they are, rather than giving them the defaults.
	keep bool
	// from says where a value was set; an option that has its default is absent.
	from map[string]string
	// errs has the mistakes in the order in which they were found.
	errs []error
}

// program is the options of one daemon: a struct that can define them.
type program interface {
	// define binds every option to its field.
	define(s *set)
	// resolve fills in defaults that depend on the host or on other options.
	resolve()
	// combinations reports each impossible combination to s.fault.
	combinations(s *set)
}

// newSet returns a set without options.
func newSet(binary string) *set {
	flags := pflag.NewFlagSet(binary, pflag.ContinueOnError)
	flags.SortFlags = false
	return &set{binary: binary, flags: flags, from: map[string]string{}}
}

// bind returns the options of p bound to its fields, with their present values.
func bind(binary string, p program) *set {
	s := newSet(binary)
	s.keep = true
	p.define(s)
	return s
}

// group starts a new part of --help.
func (s *set) group(title string) { s.title = title }

// define adds an option to the current group. It is the only definition that
// the option has.
func define[T any](s *set, name string, dst *T, def T, k kind[T], r reload, help string) {
	if !s.keep {
		*dst = def
	}
	f := s.add(name, &value[T]{kind: k, dst: dst}, r, help)
	if k.tag == yamlSwitch {
		f.NoOptDefVal = "true"
	}
}

// defineList adds an option that is a list, empty by default.
func defineList(s *set, name string, dst *[]string, item kind[string], r reload, help string) {
	if !s.keep {
		*dst = nil
	}
	s.add(name, &list{item: item, dst: dst}, r, help)
}

func (s *set) add(name string, v setting, r reload, help string) *pflag.Flag {
	f := s.flags.VarPF(v, name, "", help)
	f.Annotations = map[string][]string{reloadAnnotation: {string(r)}, groupAnnotation: {s.title}}
	return f
}

// assign sets the option name by the function to, which gets its value.
// where names the place for messages.
func (s *set) assign(name, where string, to func(setting) error) {
	f := s.flags.Lookup(name)
	if err := to(f.Value.(setting)); err != nil {
		s.fail(where, name, "%s", err)
		return
	}
	f.Changed = true
	s.from[name] = where
}

// maxMistakes bounds what is reported of a configuration. A file with more is
// not one of ours.
const maxMistakes = 100

// full reports whether more mistakes would not be reported.
func (s *set) full() bool { return len(s.errs) > maxMistakes }

// fail notes a mistake.
func (s *set) fail(where, key, format string, args ...any) {
	if s.full() {
		return
	}
	if len(s.errs) == maxMistakes {
		format, args = "more than %d mistakes, this one and the rest are not shown", []any{maxMistakes}
	}
	s.errs = append(s.errs, &Error{Where: where, Key: key, Problem: fmt.Sprintf(format, args...)})
}

// fault notes a mistake about the present value of an option, at the place that
// set it.
func (s *set) fault(key, format string, args ...any) {
	where := s.from[key]
	if where == "" {
		where = key
	}
	s.fail(where, key, format, args...)
}

// err returns all mistakes, one a line, or nil.
func (s *set) err() error { return errors.Join(s.errs...) }

// validate checks each value, and if all are good their combinations.
func (s *set) validate(p program) error {
	s.flags.VisitAll(func(f *pflag.Flag) {
		if err := f.Value.(setting).valid(); err != nil {
			s.fault(f.Name, "%s", err)
		}
	})
	if len(s.errs) == 0 {
		p.combinations(s)
	}
	return s.err()
}

// names returns the names of the options that another source than the command
// line may set.
func (s *set) names(file bool) []string {
	var names []string
	s.flags.VisitAll(func(f *pflag.Flag) {
		if s.settable(f.Name, file) {
			names = append(names, f.Name)
		}
	})
	return names
}

// settable reports whether the file (or else the environment) may set name.
func (s *set) settable(name string, file bool) bool {
	f := s.flags.Lookup(name)
	if f == nil || reloadOf(f) == commandLine {
		return false
	}
	return !file || reloadOf(f) != notInFile
}
