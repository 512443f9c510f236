package config

import "github.com/spf13/pflag"

// Option is the definition of an option, as a manual page tells it.
type Option struct {
	// Name is the option as a file spells it, Variable as the environment does, and
	// Group the title of what it belongs to.
	Name, Variable, Group string
	// Value stands for what is written, such as IP:PORT; it is empty for a switch.
	Value string
	// Type is what a file must have: text, number, true or false, or list.
	Type string
	// Help is what the option does, with its unit and its cost, in one paragraph.
	Help string
	// Default is what holds when no source sets it, as the command line spells it.
	Default string
	// InFile and InEnvironment say which sources may set it beside the command
	// line.
	InFile, InEnvironment bool
	// Reload is true if SIGHUP applies it to a daemon that runs.
	Reload bool
}

// Programs are those that have options, in the order of a manual.
func Programs() []string {
	return []string{limiterBinary, observerBinary, proxyBinary, toolBinary}
}

// Options returns every option of a program, in the order of its --help; none for
// a program that is not one of Programs.
func Options(program string) (list []Option) {
	for _, s := range catalogue() {
		if s.binary != program {
			continue
		}
		s.flags.VisitAll(func(f *pflag.Flag) { list = append(list, s.option(f)) })
	}
	return list
}

// yamlTypes are the types of values in the words of a person.
var yamlTypes = map[string]string{yamlText: "text", yamlNumber: "number", yamlSwitch: "true or false"}

func (s *set) option(f *pflag.Flag) Option {
	o := Option{
		Name: f.Name, Group: groupOf(f), Value: f.Value.Type(), Type: "list", Help: f.Usage, Default: f.Value.String(),
		InFile: s.settable(f.Name, true), InEnvironment: s.settable(f.Name, false),
		Reload: reloadOf(f) == live,
	}
	if f.NoOptDefVal != "" {
		o.Value = ""
	}
	if tag := f.Value.(setting).yamlType(); tag != "" {
		o.Type = yamlTypes[tag]
	}
	if o.InEnvironment {
		o.Variable = variable(f.Name)
	}
	return o
}
