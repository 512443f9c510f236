package dev

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/levee-project/levee/internal/daemon"
)

// Main is the whole levee-dev: it runs a cluster until SIGINT or SIGTERM.
func Main(ctx context.Context, args []string) error {
	o, err := parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		_, err := fmt.Print(usage())
		return err
	case err != nil:
		return misused{err}
	case o.version:
		_, err := fmt.Println("levee-dev", daemon.Version())
		return err
	}
	return run(ctx, o)
}

// misused is a command line that cannot be understood.
type misused struct{ error }

// ExitCode tells the daemon package what to end with: EX_USAGE of sysexits.h.
func (misused) ExitCode() int { return 64 }

// run runs a cluster until a signal comes; a second one kills what is left.
func run(ctx context.Context, o options) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	hard, kill := context.WithCancel(context.Background())
	done := make(chan struct{})
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		for _, then := range []func(){stop, kill} {
			select {
			case <-signals:
				then()
			case <-done:
				return
			}
		}
	}()
	c, err := newCluster(o, os.Stdout)
	if err == nil {
		err = c.run(ctx, hard)
	}
	close(done)
	<-listening
	kill()
	return err
}
