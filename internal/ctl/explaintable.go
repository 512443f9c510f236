package ctl

import (
	"io"
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
