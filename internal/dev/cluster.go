package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// startTime is how long a start may take.
const startTime = time.Minute

var errExitZero = errors.New("exit status 0")

// exitCode is that of the process whose end err is, or -1.
func exitCode(err error) int {
	var e *exec.ExitError
	if errors.As(err, &e) {
		return e.ExitCode()
	}
	return -1
}

// cluster is a plan and what runs of it.
type cluster struct {
	*plan
	opts options
	log  *mergedLog
	dir  string // of all data
	bin  string // with the programs

	tiers []*tier // that run, in the order of their start
}

// limiterTier is where the limiters are in a cluster that runs.
const limiterTier = 2

// tier is processes that are started and ended together.
type tier struct {
	children []*child
	stop     context.CancelFunc
	running  sync.WaitGroup
}

// newCluster prepares a cluster that logs to out.
func newCluster(o options, out io.Writer) (*cluster, error) {
	c := &cluster{plan: o.plan(), opts: o, log: newMergedLog(out, len("observer-10"))}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the programs beside levee-dev: %w", err)
	}
	c.bin = filepath.Dir(self)
	return c, nil
}

// run runs everything until ctx ends, then ends it in order, or at once when
// hard ends. The error says why it could not start.
func (c *cluster) run(ctx, hard context.Context) error {
	if err := c.free(ctx); err != nil {
		return err
	}
	if err := c.makeDir(); err != nil {
		return err
	}
	if c.opts.dir == "" {
		defer os.RemoveAll(c.dir)
	}
	c.commands(c.dir)
	began := time.Now()
	starting, failed := context.WithCancelCause(ctx)
	defer failed(nil)
	starting, cancel := context.WithTimeoutCause(starting, startTime, fmt.Errorf("not ready within %v", startTime))
	defer cancel()
	defer c.stop()

	err := c.start(starting, hard, failed)
	switch {
	case ctx.Err() != nil: // a wish to stop is no failure
		return nil
	case err != nil:
		return err
	}
	c.log.print(c.welcome(time.Since(began)))
	<-ctx.Done()
	c.log.say("stopping; once more to stop at once")
	return nil
}

func (c *cluster) makeDir() (err error) {
	if c.dir = c.opts.dir; c.dir == "" {
		if c.dir, err = os.MkdirTemp("", "levee-dev-"); err != nil {
			return fmt.Errorf("directory for data: %w", err)
		}
		return nil
	}
	if c.dir, err = filepath.Abs(c.dir); err == nil {
		err = os.MkdirAll(c.dir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("--dir: %w", err)
	}
	return nil
}

// start starts etcd, writes what the others need to find each other, starts them
// and waits until all are ready. died ends ctx when a process ends meanwhile.
func (c *cluster) start(ctx, hard context.Context, died func(error)) error {
	if err := c.launch(hard, died, []*process{c.etcd}); err != nil {
		return err
	}
	if err := c.wait(ctx, c.etcd.name, c.endpoint()+"/health", ""); err != nil {
		return err
	}
	if err := c.seed(ctx); err != nil {
		return err
	}
	for _, tier := range c.plan.tiers() {
		if err := c.launch(hard, died, tier); err != nil {
			return err
		}
	}
	complete := fmt.Sprintf("\nlevee_members{role=\"limiter\",state=\"serving\"} %d\n", len(c.limiters))
	for _, p := range c.all()[1:] {
		admin := "http://" + p.addr(metrics)
		err := c.wait(ctx, p.name, admin+"/readyz", "")
		if err == nil {
			err = c.wait(ctx, p.name, admin+"/metrics", complete)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// launch starts processes that are ended together.
func (c *cluster) launch(hard context.Context, died func(error), list []*process) error {
	t := &tier{}
	for _, p := range list {
		path, err := c.find(p.binary)
		if err != nil {
			return err
		}
		t.children = append(t.children, &child{process: p, path: path, log: c.log, restart: c.opts.restart, died: died})
	}
	var ctx context.Context
	ctx, t.stop = context.WithCancel(hard)
	for _, ch := range t.children {
		t.running.Go(func() { ch.keep(ctx, hard) })
	}
	c.tiers = append(c.tiers, t)
	return nil
}

// find returns the path of a program: beside levee-dev, or for etcd wherever the
// system has one.
func (c *cluster) find(binary string) (string, error) {
	path := filepath.Join(c.bin, binary)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if binary == "etcd" {
		if path, err := exec.LookPath(binary); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not in %s; \"make run\" builds it", binary, c.bin)
}

// stop ends everything, whoever was started last first, and waits for it.
func (c *cluster) stop() {
	for i := len(c.tiers) - 1; i >= 0; i-- {
		c.tiers[i].stop()
		c.tiers[i].running.Wait()
	}
}
