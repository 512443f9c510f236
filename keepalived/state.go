package keepalived

import (
	"errors"
	"fmt"
	"time"
)

// State is what is known about a group on this host, as it is kept in a file of the
// group's name: one line, such as "MASTER 3 1764530000000000000".
type State struct {
	// Name is keepalived's word: MASTER, BACKUP, FAULT or STOP.
	Name string
	// Transitions is how often it became another since keepalived began.
	Transitions int64
	// Since is when it became this one.
	Since time.Time
}

// MaxState bounds the file of a state, in bytes.
const MaxState = 256

var errNoState = errors.New(`expected a line such as "MASTER 3 1764530000000000000"`)

// Master says whether the group's addresses are on this host.
func (s State) Master() bool { return s.Name == "MASTER" }

// String returns the state as it is kept.
func (s State) String() string {
	return fmt.Sprintf("%s %d %d\n", s.Name, s.Transitions, s.Since.UnixNano())
}

// ParseState is the inverse of String.
func ParseState(text []byte) (State, error) {
	var s State
	var since int64
	if len(text) > MaxState {
		return State{}, errNoState
	}
	if _, err := fmt.Sscanf(string(text), "%16s %d %d\n", &s.Name, &s.Transitions, &since); err != nil || !knownState(s.Name) {
		return State{}, errNoState
	}
	s.Since = time.Unix(0, since)
	return s, nil
}

func knownState(name string) bool {
	switch name {
	case "MASTER", "BACKUP", "FAULT", "STOP":
		return true
	default:
		return false
	}
}

// Next returns the state after a change to name at a time, of which keepalived tells
// each change by a process of its own: one that began earlier may come later, and
// then only counts.
func (s State) Next(name string, at time.Time) (State, error) {
	if !knownState(name) {
		return s, fmt.Errorf("found the state %q, expected MASTER, BACKUP, FAULT or STOP", name)
	}
	s.Transitions++
	if at.After(s.Since) {
		s.Name, s.Since = name, at
	}
	return s, nil
}

// GroupName says whether a text can be the name of a group.
func GroupName(text string) bool { return len(text) <= longestName && groupName.MatchString(text) }
