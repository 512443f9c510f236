package daemon

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

func TestMainEndsTheProcess(t *testing.T) {
	tests := []struct {
		scenario string
		code     int
		stderr   string
	}{
		{"ok", 0, ""},
		{"error", 1, "levee-test: one\nlevee-test: two\n"},
		{"config", 78, "levee-test: reading: the configuration cannot work\n"},
	}
	for _, tt := range tests {
		t.Run(tt.scenario, func(t *testing.T) {
			c := startChild(t, tt.scenario, nil, nil)
			c.exits(tt.code)
			if got := c.stderr.String(); got != tt.stderr {
				t.Errorf("stderr %q, want %q", got, tt.stderr)
			}
		})
	}
}

func TestExitCode(t *testing.T) {
	tests := []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("x"), 1},
		{codedError(78), 78},
		{fmt.Errorf("more: %w", codedError(78)), 78},
		{errors.Join(errors.New("x"), codedError(78)), 78},
		{codedError(0), 1},
		{codedError(256), 1},
		{&exec.ExitError{}, 1}, // has an ExitCode of -1
	}
	for _, tt := range tests {
		if got := exitCode(tt.err); got != tt.want {
			t.Errorf("exitCode(%v) = %d, want %d", tt.err, got, tt.want)
		}
	}
}

func TestReportPrintsEachLineAfterTheName(t *testing.T) {
	var b strings.Builder
	report(&b, "levee", fmt.Errorf("stop: %w", errors.Join(errors.New("a"), errors.New("b\n\nc"))))
	if got, want := b.String(), "levee: stop: a\nlevee: b\nlevee: c\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}
