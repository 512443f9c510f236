package config

import "strings"

// variablePrefix starts the name of every variable that Levee reads.
const variablePrefix = "LEVEE_"

// given is one option as the environment or the command line names it, not yet
// applied.
type given struct {
	name, value string
	// where is the option as its source spells it.
	where string
	// more is true when the same source named the option before, so that a list
	// grows rather than being replaced.
	more bool
}

// variable returns the name of an option as the environment spells it:
// LEVEE_LISTEN_ADDR for listen-addr.
func variable(name string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// readEnviron returns the options that env names, as KEY=value. It passes over
// those of other binaries, and notes those that no binary knows.
func (s *set) readEnviron(env []string) []given {
	var found []given
	for _, e := range env {
		key, val, _ := strings.Cut(e, "=")
		rest, ours := strings.CutPrefix(key, variablePrefix)
		if !ours {
			continue
		}
		name := strings.ToLower(strings.ReplaceAll(rest, "_", "-"))
		switch {
		case key == variable(name) && s.settable(name, false):
			found = append(found, given{name: name, value: val, where: key})
		case key == variable(name) && s.elsewhere(name):
		default:
			s.fail(shown(key), name, "%s", s.unknownVariable(name))
		}
	}
	return found
}

// elsewhere reports whether name is an option of another binary only.
func (s *set) elsewhere(name string) bool {
	return s.flags.Lookup(name) == nil && len(owners(name)) > 0
}

func (s *set) unknownVariable(name string) string {
	if f := s.flags.Lookup(name); f != nil && !s.settable(name, false) {
		return "cannot be set in the environment, only on the command line"
	}
	return s.unknown("variable", name, s.names(false), variable)
}
