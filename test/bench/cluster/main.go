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
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1) //nolint:gocritic // there is nothing left for stop to do
	}
}

// options are the flags.
type options struct {
	rounds  int
	seconds float64
	only    []string
	out     string

	fill  time.Duration // how long the keys are made known
	sizes []int         // of the clusters that are compared, in limiters
}

func parse(args []string) (*options, error) {
	o := &options{fill: 3 * time.Second, sizes: []int{1, 2, 4, 8}}
	f := flag.NewFlagSet("cluster", flag.ContinueOnError)
	f.IntVar(&o.rounds, "rounds", 9, "how many rounds there are of each scenario")
	f.Float64Var(&o.seconds, "seconds", 1.5, "how long each is asked in a round")
	only := f.String("only", "", "the scenarios to run, by commas: "+strings.Join(scenarioNames(), ",")+" (default: all)")
	f.StringVar(&o.out, "out", "", "directory for cluster.md and cluster.png (default: dist/bench of the checkout)")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	o.only = scenarioNames()
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
	return nil
}

func (o *options) wants(scenario string) bool { return slices.Contains(o.only, scenario) }

// length is how long each is asked in a round.
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
	site, err := target.NewSite(root, servers)
	if err != nil {
		return err
	}
	defer site.Close()
	say("building")
	if err := site.BuildCluster(ctx); err != nil {
		return err
	}
	if err := target.Pin(own); err != nil {
		return err
	}
	store, err := site.StartStore(ctx, own)
	if err != nil {
		return err
	}
	defer store.Stop()
	b := &bench{o: o, site: site, store: store, page: &report.ClusterPage{Machine: target.Machine(ctx, "Levee and etcd"), Method: method(o)}}
	err = b.all(ctx)
	return errors.Join(err, b.write())
}

// method says how the figures were taken.
func method(o *options) []string {
	return []string{
		fmt.Sprintf("all proxies and limiters together on one core, the load, etcd and the observers on another: %d connections over loopback, shared by the proxies, %d keys drawn evenly, POST /attempt with X-Resource, X-Prefix, X-Method and X-Req-Id; a closed loop unless a rate is said", connections, keys),
		fmt.Sprintf("%d interleaved rounds of %v s on each after %v to warm up; medians; ratios are taken within a round", o.rounds, o.seconds, warm),
		"every attempt is accepted; before, each proxy has been seen to refuse; of a thousand attempts one at most is handed to a second limiter, and each limiter decides at least half of an equal share",
		"CPU time is that of all proxies and limiters, user and kernel, from /proc",
	}
}

// write hands out what was measured, also when something went wrong after it.
func (b *bench) write() error {
	if b.page.Empty() {
		return nil
	}
	paths, err := report.Write(b.o.out, "cluster", b.page, true)
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
