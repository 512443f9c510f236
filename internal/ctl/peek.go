package ctl

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/levee-project/levee/internal/adminapi"
	"github.com/levee-project/levee/internal/explain"
)

// now is what a limiter would answer at this moment, which it was asked for
// without counting.
type now struct {
	Member string `json:"member"`
	*answer
	Fault string `json:"fault,omitempty"`
	// Bucket is what it holds of the bucket.
	Bucket      *adminapi.Bucket `json:"bucket,omitempty"`
	BucketFault string           `json:"bucket_fault,omitempty"`
}

// peek asks the members of the group what they would answer, and what the bucket
// owes there.
func (e *explanation) peek(ctx context.Context, g *target, timeout time.Duration) {
	header := g.header()
	header.Set("X-Hits", "0")
	client := adminapi.NewClient()
	defer client.Close()
	for i, name := range e.Group.Members {
		m := e.Group.Ranked[i]
		ctx, cancel := context.WithTimeout(ctx, timeout)
		a, err := ask(ctx, m.Service.String(), header)
		at := now{Member: name, answer: a}
		if err != nil {
			at.Fault = err.Error()
		}
		if e.Bucket != nil {
			at.ask(ctx, client, m.Admin, g)
		}
		cancel()
		e.Group.Now = append(e.Group.Now, at)
	}
}

// ask asks the admin port of a limiter about the bucket.
func (n *now) ask(ctx context.Context, client *adminapi.Client, admin netip.AddrPort, g *target) {
	if !admin.IsValid() {
		n.BucketFault = "its admin port cannot be reached from here"
		return
	}
	var err error
	if n.Bucket, err = client.Bucket(ctx, admin, g.attempt()); err != nil {
		n.BucketFault = err.Error()
	}
}

func (n now) String() string {
	text := "no answer: " + oneLineText(n.Fault)
	if n.answer != nil {
		text = n.Result
		for _, name := range slices.Sorted(maps.Keys(n.Fields)) {
			text += "; " + name + ": " + n.Fields[name]
		}
	}
	switch {
	case n.BucketFault != "":
		text += "; what it owes is not known: " + oneLineText(n.BucketFault)
	case n.Bucket != nil:
		text += "; " + fmt.Sprintf("owes %s, %d more would pass", explain.Hits(n.Bucket.Debt), n.Bucket.Remaining)
	}
	return text
}
