package dev

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// stopTime is how long a process may take to end after SIGTERM: longer than
	// the daemons' default drain-timeout.
	stopTime = 15 * time.Second
	// configCode is the exit code of a daemon that another start would not help
	// (EX_CONFIG of sysexits.h; RestartPreventExitStatus of the units).
	configCode = 78
)

// child keeps one process running.
type child struct {
	*process
	path    string // of the binary
	log     *mergedLog
	restart time.Duration
	// died is told of each unwanted end.
	died func(error)

	pid atomic.Int64 // 0 while it does not run
}

// keep runs the process until ctx ends, and starts it again whenever it dies. It
// then ends it in order, or at once when hard ends, and returns when it has
// ended.
func (c *child) keep(ctx, hard context.Context) {
	for starts := 0; ctx.Err() == nil; starts++ {
		err := c.once(ctx, hard, starts > 0)
		if ctx.Err() != nil {
			return
		}
		err = fmt.Errorf("%s has ended by itself: %w", c.name, err)
		c.died(err)
		if c.restart == 0 || exitCode(err) == configCode {
			c.log.say("%v; it is not started again", err)
			return
		}
		c.log.say("%v; it is started again in %v", err, c.restart)
		select {
		case <-ctx.Done():
		case <-time.After(c.restart):
		}
	}
}

// once runs the process to its end. The error says how it ended.
func (c *child) once(ctx, hard context.Context, again bool) error {
	out := &lines{each: func(line []byte) { c.log.line(c.name, line) }}
	cmd := exec.CommandContext(hard, c.path, c.args...)
	cmd.Env = environment()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = time.Second
	// In a group of its own, so that Ctrl-C reaches levee-dev only; and gone when
	// levee-dev is killed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.pid.Store(int64(cmd.Process.Pid))
	defer c.pid.Store(0)
	if again {
		c.log.say("%s runs again, pid %d", c.name, cmd.Process.Pid)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	err := c.await(ctx, cmd, ended)
	out.end()
	return err
}

// await waits for the end of the process, which it asks for when ctx ends.
func (c *child) await(ctx context.Context, cmd *exec.Cmd, ended <-chan error) error {
	select {
	case err := <-ended:
		return exited(err)
	case <-ctx.Done():
	}
	_ = cmd.Process.Signal(syscall.SIGTERM) // it may just have ended
	_ = cmd.Process.Signal(syscall.SIGCONT) // one that is stopped would not see it
	select {
	case err := <-ended:
		return exited(err)
	case <-time.After(stopTime):
		c.log.say("%s has not ended within %v and is killed", c.name, stopTime)
		_ = cmd.Process.Kill()
		return exited(<-ended)
	}
}

// exited is the end of a process as an error, also when it is one in order.
func exited(err error) error {
	if err == nil {
		return errExitZero
	}
	return err
}

// environment is levee-dev's own, without what is meant for another etcd.
func environment() (env []string) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "ETCD_") {
			env = append(env, v)
		}
	}
	return env
}
