package config

import (
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"abc", "abc", 0},
		{"abc", "abd", 1},
		{"abc", "ac", 1},
		{"ac", "abc", 1},
		{"ab", "ba", 2},
		{"kitten", "sitting", 3},
		{"gc-perod", "gc-period", 1},
	}
	for _, tt := range tests {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"gc-period", "gc-collect", "verbose", "max-keys", "gc-max-keys"}
	tests := []struct{ name, want string }{
		{"gc-periods", "gc-period"},
		{"gcperiod", "gc-period"},
		{"verbos", "verbose"},
		{"debug", ""},
		{"", ""},
		{"max-key", "max-keys"},
		{"gc-maxkeys", "gc-max-keys"},
		{strings.Repeat("gc-period", 100), ""},
	}
	for _, tt := range tests {
		if got := nearest(tt.name, known); got != tt.want {
			t.Errorf("nearest(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
	if got := nearest("abx", []string{"aby", "abz"}); got != "aby" {
		t.Errorf("of two as near: %q, want the first", got)
	}
}
