package config

import "strings"

// command is the options that are about one run.
type command struct {
	file    string
	check   bool
	version bool
	help    bool
}

func (c *command) define(s *set) {
	s.group("This run")
	define(s, "config", &c.file, "", path(), notInFile,
		"YAML file with options, each a line such as \"verbose: true\". Empty = none.")
	define(s, "check-config", &c.check, false, boolean(), commandLine,
		"Check file, environment and command line, and end: code 0 when all is well, 78 when not.")
	define(s, "version", &c.version, false, boolean(), commandLine, "Print the version and end.")
	define(s, "help", &c.help, false, boolean(), commandLine, "Print this text and end.")
}

// spellFlag returns the name of an option as the command line spells it.
func spellFlag(name string) string { return "--" + name }

// readArgs returns the options that args name, as --name value, --name=value or
// --switch, and notes what is none.
func (s *set) readArgs(args []string) []given {
	var found []given
	seen := map[string]bool{}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "-h" {
			arg = "--help"
		}
		name, val, has := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		f := s.flags.Lookup(name)
		switch {
		case !strings.HasPrefix(arg, "-") || strings.Trim(arg, "-") == "":
			s.fail(quote(arg), "", "unexpected argument; write --option VALUE, or --switch=false")
			continue
		case f == nil || !strings.HasPrefix(arg, "--"):
			args = s.unknownFlag(arg, args)
			continue
		case has:
		case f.NoOptDefVal != "":
			val = f.NoOptDefVal
		case len(args) == 0 || strings.HasPrefix(args[0], "--"):
			s.fail(spellFlag(name), name, "found no value, expected --%s %s", name, f.Value.Type())
			continue
		default:
			val, args = args[0], args[1:]
		}
		found = append(found, given{name: name, value: val, where: spellFlag(name), more: seen[name]})
		seen[name] = true
	}
	return found
}

// unknownFlag notes that arg is no option, and returns the arguments after it,
// without the one that looks like its value.
func (s *set) unknownFlag(arg string, rest []string) []string {
	spelled, _, has := strings.Cut(arg, "=")
	name := strings.TrimLeft(spelled, "-")
	if s.flags.Lookup(name) != nil {
		s.fail(spelled, name, "unknown option; did you mean %s?", spellFlag(name))
	} else {
		s.fail(shown(spelled), name, "%s", s.unknown("option", name, s.allNames(), spellFlag))
	}
	if !has && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		return rest[1:]
	}
	return rest
}
