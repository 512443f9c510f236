package harness

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Command says how to start a program of Levee.
type Command struct {
	// Binary is its name: levee-limiter.
	Binary string
	// Name is what the log of a failed test calls it; Binary if empty.
	Name string
	Args []string
	// Env is its environment, NAME=value, beside a PATH. Nothing is inherited.
	Env []string
	// OwnPID names the variables that shall hold the process's own number, as
	// systemd sets LISTEN_PID and WATCHDOG_PID.
	OwnPID []string
	// Files are its file descriptors from 3 on.
	Files []*os.File
	// Namespace is the network namespace that it runs in; empty for the test's own.
	Namespace string
}

// Process is a program that was started. It is killed at the end of the test if
// it still runs then, and its log is shown if the test failed.
type Process struct {
	name   string
	cmd    *exec.Cmd
	log    book
	exited chan struct{} // closed when the process has ended and its log is whole
}

// logTail is how many lines of the log a failed test shows.
const logTail = 60

// Start starts a program and returns without waiting for anything.
func Start(t testing.TB, c Command) *Process {
	t.Helper()
	cmd := c.prepare(context.WithoutCancel(t.Context()), Binary(t, c.Binary))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", c.Binary, err)
	}
	p := &Process{name: cmp.Or(c.Name, c.Binary), cmd: cmd, exited: make(chan struct{})}
	go p.follow(stderr)
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			p.show(t)
		}
	})
	return p
}

func (c Command) prepare(ctx context.Context, path string) *exec.Cmd {
	args := append([]string{path}, c.Args...)
	if len(c.OwnPID) > 0 {
		script := strings.Join(c.OwnPID, `=$$ `) + `=$$ exec "$@"`
		args = append([]string{"sh", "-c", script, "sh"}, args...)
	}
	if c.Namespace != "" {
		args = append([]string{"ip", "netns", "exec", c.Namespace}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, c.Env...)
	cmd.ExtraFiles = c.Files
	// A test that is killed takes its processes with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// follow reads the log to its end, and then waits for the process.
func (p *Process) follow(stderr io.Reader) {
	defer close(p.exited)
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		p.log.add(lines.Text())
	}
	_, _ = io.Copy(io.Discard, stderr) // after a line that is too long
	_ = p.cmd.Wait()                   // the exit code is in ProcessState
}

func (p *Process) show(t testing.TB) {
	lines := p.Log()
	t.Logf("the log of %s:", p.name)
	if cut := len(lines) - logTail; cut > 0 {
		t.Logf("... %d lines", cut)
		lines = lines[cut:]
	}
	for _, l := range lines {
		t.Log(l.Raw)
	}
}

// PID is the process's number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Log returns the lines written so far.
func (p *Process) Log() []Line { return p.log.all() }

// Signal sends the process a signal.
func (p *Process) Signal(t testing.TB, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatalf("send %v: %v", s, err)
	}
}

// Kill ends the process with SIGKILL, if it has not ended, and waits for it.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.exited
}

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// WaitExit waits for the process to end and returns its exit code, -1 when a
// signal has ended it.
func (p *Process) WaitExit(t testing.TB, within time.Duration) int {
	t.Helper()
	select {
	case <-p.exited:
	case <-time.After(within):
		t.Fatalf("the process has not ended within %v", within)
	}
	return p.cmd.ProcessState.ExitCode()
}

// WaitLog waits for a line of the log, present already or not, and returns the
// first one that matches.
func (p *Process) WaitLog(t testing.TB, within time.Duration, what string, match func(Line) bool) Line {
	t.Helper()
	var found Line
	seen := 0
	Eventually(t, within, "a log line: "+what, func() bool {
		lines := p.Log()
		for ; seen < len(lines); seen++ {
			if match(lines[seen]) {
				found = lines[seen]
				return true
			}
		}
		return false
	})
	return found
}
