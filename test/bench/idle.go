package main

import (
	"context"
	"fmt"
	"syscall"

	"github.com/levee-project/levee/test/bench/load"
	"github.com/levee-project/levee/test/bench/report"
)

// idle measures what connections cost that only wait, of a server that has done
// nothing else: what it once needed for other things would hide it.
func (b *bench) idle(ctx context.Context) error {
	if !b.o.wants(scenarioIdle) {
		return nil
	}
	for _, name := range b.o.targets {
		say("idle: %d connections to %s", b.o.idle, name)
		row, err := b.idleOf(ctx, name)
		if err != nil {
			return fmt.Errorf("idle: %s: %w", name, err)
		}
		b.page.Idle = append(b.page.Idle, row)
	}
	return nil
}

func (b *bench) idleOf(ctx context.Context, name string) (report.Idle, error) {
	none := report.Idle{}
	s, err := b.site.Start(ctx, name)
	if err != nil {
		return none, err
	}
	defer s.Stop()
	const first = 100 // what is made once, for whichever connection
	warmed, err := load.OpenIdle(ctx, s.Addr(load.HTTP1), first)
	if err != nil {
		return none, err
	}
	defer warmed.Close()
	before, err := s.RSS()
	if err != nil {
		return none, err
	}
	idle, err := load.OpenIdle(ctx, s.Addr(load.HTTP1), b.o.idle)
	if err != nil {
		return none, err
	}
	defer idle.Close()
	after, err := s.RSS()
	return report.Idle{Server: name, Connections: b.o.idle, Before: before, After: after}, err
}

// raiseFiles raises the limit of open files, which the servers inherit, to what
// the load or a server needs for the idle connections.
func raiseFiles(o *options) error {
	const others = 2000 // the warm ones, the servers' own, the slow clients
	files := uint64(o.idle) + others
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("limit of open files: %w", err)
	}
	// Set in any case: what was never set, programs do not inherit from a Go
	// program as it is here, but as it was when that started.
	raised := syscall.Rlimit{Cur: max(files, limit.Cur), Max: max(files, limit.Max)}
	err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &raised)
	if err != nil && o.wants(scenarioIdle) {
		return fmt.Errorf("raise the limit of open files from %d to %d: %w; run this as root, or without idle (-only)", limit.Max, files, err)
	}
	return nil
}
