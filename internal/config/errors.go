package config

import (
	"errors"
	"strconv"
	"strings"
)

// ErrInvalid is matched (errors.Is) by every error that comes from the
// configuration itself. A daemon exits with code 78 on it.
var ErrInvalid = errors.New("invalid configuration")

// Error is one mistake in the configuration, as one line. A Load function and a
// Validate method return all of them, joined.
type Error struct {
	// Where is the place, with the option as that place spells it:
	// "limiter.yaml:3: gc-period", "LEVEE_GC_PERIOD", "--gc-period", or the bare
	// option name where no source set it.
	Where string
	// Key is the option's name, known or not. Empty when the mistake is not about
	// one option.
	Key string
	// Problem says what was found and what is expected.
	Problem string
}

// Error returns the mistake as one line.
func (e *Error) Error() string { return e.Where + ": " + e.Problem }

// Is makes every Error match ErrInvalid.
func (e *Error) Is(target error) bool { return target == ErrInvalid }

// exConfig is EX_CONFIG of sysexits.h.
const exConfig = 78

// ExitCode is what a process ends with on this error.
func (e *Error) ExitCode() int { return exConfig }

// longestShown is the most of a value that a message repeats, in runes.
const longestShown = 64

// quote makes a value fit for a message: quoted, on one line, not endless, and
// without the password that a URL may carry.
func quote(s string) string {
	if scheme, rest, ok := strings.Cut(s, "://"); ok {
		if at := strings.LastIndex(rest, "@"); at >= 0 {
			s = scheme + "://***@" + rest[at+1:]
		}
	}
	if r := []rune(s); len(r) > longestShown {
		s = string(r[:longestShown]) + "…"
	}
	return strconv.Quote(s)
}

// shown returns a name as it is when it looks like an option or a variable, and
// quoted otherwise.
func shown(name string) string {
	plain := func(r rune) bool {
		return strings.ContainsRune("-_.+", r) || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if name == "" || len(name) > longestShown || strings.TrimFunc(name, plain) != "" {
		return quote(name)
	}
	return name
}

// Unusable returns err as the fault of a configuration that is right as such
// and cannot work for a reason that shows only when it is used, such as a file
// that is not there. A process ends with the same code on it.
func Unusable(err error) error { return unusable{err} }

type unusable struct{ error }

// ExitCode is what a process ends with on this error.
func (unusable) ExitCode() int { return exConfig }

func (u unusable) Unwrap() error { return u.error }
