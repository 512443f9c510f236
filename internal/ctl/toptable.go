package ctl

import (
	"fmt"
	"io"
	"strings"

	"github.com/levee-project/levee/internal/adminapi"
)

// look is the hot keys at one moment.
type look struct {
	// Daemons are those that have answered, and Faults tells of the others.
	Daemons []string `json:"daemons"`
	Faults  []string `json:"faults,omitempty"`
	*adminapi.Top

	rejections bool
}

// table shows one of the two lists.
func (l *look) table(w io.Writer) {
	what, keys, total := "attempts", l.Attempts, l.AttemptsTotal
	if l.rejections {
		what, keys, total = "rejections", l.Rejections, l.RejectionsTotal
	}
	seconds := max(1, l.Seconds)
	_, _ = fmt.Fprintf(w, "%s: %s/s at %s, half-life %.0f s\n\n", what, rate(total/seconds), listed(l.Daemons), l.HalfLife)
	row(w, "RATE/S", "±", "SHARE", "LEVEL", "RESOURCE", "PREFIX", "METHOD")
	for _, k := range keys {
		row(w, rate(k.Count/seconds), rate(k.Error/seconds), fmt.Sprintf("%.1f %%", 100*min(1, k.Count/max(total, k.Count))),
			k.Level, resource(k), part(k.Prefix), part(k.Method))
	}
	if len(keys) == 0 {
		row(w, "none")
	}
}

// resource is the first part of a key. That of a long one, which may be cut, comes
// with what tells the key from others.
func resource(k adminapi.Key) string {
	if k.Digest != "" {
		return show(k.Resource) + "~" + k.Digest
	}
	return show(k.Resource)
}

// part is one that may be absent.
func part(text string) string {
	if text == "" {
		return ""
	}
	return show(text)
}

// rate is a number with three digits or more, and no more than it needs.
func rate(r float64) string {
	switch {
	case r == 0:
		return "0"
	case r < 0.995:
		return fmt.Sprintf("%.3f", r)
	case r < 9.995:
		return fmt.Sprintf("%.2f", r)
	case r < 99.95:
		return fmt.Sprintf("%.1f", r)
	}
	return grouped(fmt.Sprintf("%.0f", r))
}

// grouped has a comma between each three digits.
func grouped(digits string) string {
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// listed is the names, or how many there are.
func listed(names []string) string {
	if len(names) > 3 {
		return fmt.Sprint(len(names), " limiters")
	}
	return strings.Join(names, ", ")
}
