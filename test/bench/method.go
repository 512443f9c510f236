package main

import (
	"context"
	"fmt"

	"github.com/levee-project/levee/test/bench/target"
)

// facts say where the figures come from.
func facts(ctx context.Context) []string {
	return target.Machine(ctx, "Levee and net/http", []string{"nginx", "-v"}, []string{"haproxy", "-v"})
}

// method says how they were taken.
func method(o *options) []string {
	return []string{
		fmt.Sprintf("each server alone on one core, the load on another: %d connections over loopback, %d keys drawn evenly, POST /attempt with X-Resource, X-Prefix, X-Method and X-Req-Id, closed loop", connections, keys),
		fmt.Sprintf("%d interleaved rounds of %v s on each server after %v to warm up; medians; ratios are taken within a round", o.rounds, o.seconds, warm),
		"every attempt is accepted; before, each server has been seen to refuse",
		"CPU time is the servers' own, user and kernel, from /proc; a figure is fair where the server's core is busy and the load's is not",
	}
}
