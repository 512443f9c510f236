package keepalived

import (
	"strings"
	"testing"
	"time"
)

func TestState(t *testing.T) {
	at := time.Unix(1764530000, 5)
	var s State
	steps := []struct {
		name   string
		at     time.Time
		want   string
		master bool
	}{
		{"BACKUP", at, "BACKUP 1 1764530000000000005\n", false},
		{"MASTER", at.Add(1), "MASTER 2 1764530000000000006\n", true},
		// It began before the one above, and comes after it.
		{"BACKUP", at, "MASTER 3 1764530000000000006\n", true},
		{"FAULT", at.Add(2), "FAULT 4 1764530000000000007\n", false},
		{"STOP", at.Add(3), "STOP 5 1764530000000000008\n", false},
	}
	for _, step := range steps {
		next, err := s.Next(step.name, step.at)
		if err != nil || next.String() != step.want || next.Master() != step.master {
			t.Fatalf("%s: %q, %v; want %q", step.name, next, err, step.want)
		}
		if s, err = ParseState([]byte(next.String())); err != nil || s.String() != step.want {
			t.Fatalf("%q reads as %q, %v", step.want, s, err)
		}
	}
	if _, err := s.Next("HAPPY", at); err == nil {
		t.Error("HAPPY is no state")
	}
}

func TestDamagedStates(t *testing.T) {
	for _, text := range []string{"", "MASTER", "MASTER 1", "HAPPY 1 2\n", "1 2 3\n", "MASTER x 1\n", strings.Repeat("M", 1000)} {
		if s, err := ParseState([]byte(text)); err == nil {
			t.Errorf("%q reads as %q", text, s)
		}
	}
}
