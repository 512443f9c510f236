package ctl

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"
)

// now is what a limiter would answer at this moment, which it was asked for
// without counting.
type now struct {
	Member string `json:"member"`
	*answer
	Fault string `json:"fault,omitempty"`
}

// peek asks the members of the group what they would answer.
func (e *explanation) peek(ctx context.Context, header http.Header, timeout time.Duration) {
	header.Set("X-Hits", "0")
	for i, name := range e.Group.Members {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		a, err := ask(ctx, e.Group.addrs[i], header)
		cancel()
		at := now{Member: name, answer: a}
		if err != nil {
			at.Fault = err.Error()
		}
		e.Group.Now = append(e.Group.Now, at)
	}
}

func (n now) String() string {
	if n.answer == nil {
		return "no answer: " + oneLineText(n.Fault)
	}
	text := n.Result
	for _, name := range slices.Sorted(maps.Keys(n.Fields)) {
		text += "; " + name + ": " + n.Fields[name]
	}
	return text
}
