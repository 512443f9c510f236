package ctl

import (
	"fmt"
	"io"
	"strings"
)

func (e *explanation) table(w io.Writer) {
	row(w, "LEVEL", "ENTRY", "QUOTA")
	for _, p := range e.Places {
		text := p.Quota
		if text == "" {
			text = "-"
		}
		if p.Entry == e.Entry {
			text += "  <-- applies"
		}
		row(w, p.Level, p.Entry, text)
	}
	row(w)
	lines := tableLines{}
	for _, p := range e.Places {
		if p.Fault != "" {
			lines.add("NO EFFECT:", p.Fault+" (a daemon that has seen a good value before keeps that)")
		}
	}
	if e.Bucket == nil {
		lines.add("quota:", "none: accepted, unless the option no-quota says otherwise")
	} else {
		lines.add("bucket:", e.Bucket.String())
	}
	lines.add("group:", e.Group.String())
	if e.Limiter != nil {
		lines.add("each limiter:", e.Limiter.String())
	}
	for _, n := range e.Group.Now {
		lines.add("now:", n.Member+": "+n.String())
	}
	lines.write(w)
}

func (g members) String() string {
	text := plural(g.InForce, "limiter", "limiters")
	if g.InForce != g.Wanted {
		text += fmt.Sprintf(" in force, %d wanted", g.Wanted)
	}
	if len(g.Members) > 0 {
		text += ": " + strings.Join(g.Members, ", ")
	}
	if len(g.StandIns) > 0 {
		text += "; then " + strings.Join(g.StandIns, ", ")
	}
	return text
}

func (s *share) String() string {
	if s.AtOnce == 0 {
		return "rejects everything"
	}
	return fmt.Sprintf("%s/s, burst %s: one every %.6g ms, tolerance %.6g ms, %d at once when idle",
		s.Rate, s.Burst, s.Interval, s.Tolerance, s.AtOnce)
}

func (b *bucket) String() string {
	text := "resource " + show(b.Resource)
	if b.Prefix != "" {
		text += ", prefix " + show(b.Prefix)
	}
	if b.Method != "" {
		text += ", method " + show(b.Method)
	}
	return text
}
