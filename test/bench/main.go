package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/levee-project/levee/test/bench/report"
	"github.com/levee-project/levee/test/bench/target"
	"github.com/levee-project/levee/test/harness"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:gocritic // there is nothing left for stop to do
	}
}

// options are the flags.
type options struct {
	rounds  int
	seconds float64
	only    []string
	targets []string
	out     string

	idle int           // connections
	slow int           // clients
	fill time.Duration // how long the keys are made known
}

func parse(args []string) (*options, error) {
	o := &options{idle: 10_000, slow: 2000, fill: 2 * time.Second}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.IntVar(&o.rounds, "rounds", 9, "how many rounds there are of each scenario")
	f.Float64Var(&o.seconds, "seconds", 1.5, "how long a server is asked in a round")
	only := f.String("only", "", "the scenarios to run, by commas: "+strings.Join(scenarioNames(), ",")+" (default: all)")
	targets := f.String("targets", strings.Join(target.Names, ","), "the servers to run, by commas")
	f.StringVar(&o.out, "out", "", "directory for engine.md and engine.png (default: dist/bench of the checkout)")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	o.only, o.targets = scenarioNames(), strings.Split(*targets, ",")
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	return o, o.check(f.Args())
}

func (o *options) check(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("what is %q? See -help", rest[0])
	}
	if o.rounds < 1 || o.seconds < 0.1 || o.seconds > 60 {
		return errors.New("-rounds is 1 or more, -seconds is 0.1 to 60")
	}
	for _, name := range o.only {
		if !slices.Contains(scenarioNames(), name) {
			return fmt.Errorf("-only: there is no scenario %q, but %v", name, scenarioNames())
		}
	}
	for _, name := range o.targets {
		if !slices.Contains(target.Names, name) {
			return fmt.Errorf("-targets: there is no server %q, but %v", name, target.Names)
		}
	}
	return nil
}

func (o *options) wants(scenario string) bool { return slices.Contains(o.only, scenario) }

// length is how long a server is asked in a round.
func (o *options) length() time.Duration { return time.Duration(o.seconds * float64(time.Second)) }

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	return measure(ctx, o)
}

func measure(ctx context.Context, o *options) error {
	root, err := harness.Root()
	if err != nil {
		return err
	}
	if o.out == "" {
		o.out = filepath.Join(root, "dist", "bench")
	}
	servers, own, err := target.TwoCPUs()
	if err != nil {
		return err
	}
	if err := raiseFiles(o); err != nil {
		return err
	}
	site, err := target.NewSite(root, servers)
	if err != nil {
		return err
	}
	defer site.Close()
	say("building")
	if err := site.Build(ctx, o.targets); err != nil {
		return err
	}
	if err := target.Pin(own); err != nil {
		return err
	}
	b := &bench{o: o, site: site, page: &report.Page{Machine: facts(ctx), Method: method(o), Base: target.Levee}}
	err = b.all(ctx)
	return errors.Join(err, b.write())
}

// write hands out what was measured, also when something went wrong after it.
func (b *bench) write() error {
	if b.page.Empty() {
		return nil
	}
	paths, err := report.Write(b.o.out, "engine", b.page, len(b.page.Scenarios) > 0)
	if err != nil {
		return err
	}
	if err := b.page.Summary(os.Stdout); err != nil {
		return err
	}
	say("written: %s", strings.Join(paths, " "))
	return nil
}

// say tells what goes on.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
