package target

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is a server's process.
type process struct {
	cmd    *exec.Cmd
	told   chan string   // where the log says that attempts are answered
	exited chan struct{} // closed when the process has ended

	mu    sync.Mutex
	lines []string // guarded by mu: the last of the log
}

const (
	keptLines = 20
	stopTime  = 5 * time.Second
)

// start starts a program on a core.
func start(cmd *exec.Cmd, cpu int) (*process, error) {
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	// A group of its own, because what interrupts this process is not meant for it;
	// SIGTERM, because NGINX's workers do not notice that their master was killed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := onCPU(cpu, cmd.Start); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, told: make(chan string, 1), exited: make(chan struct{})}
	go p.follow(stderr)
	return p, nil
}

// onCPU calls a function on a thread that is bound to a core; what it starts
// inherits that.
func onCPU(cpu int, f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, only unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("ask for the thread's cores: %w", err)
	}
	only.Set(cpu)
	if err := unix.SchedSetaffinity(0, &only); err != nil {
		return fmt.Errorf("bind a thread to core %d: %w", cpu, err)
	}
	err := f()
	if back := unix.SchedSetaffinity(0, &before); err == nil && back != nil {
		err = fmt.Errorf("free a thread from core %d: %w", cpu, back)
	}
	return err
}

// follow reads the log to its end, and then waits for the process.
func (p *process) follow(stderr io.Reader) {
	defer close(p.exited)
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		p.note(lines.Text())
	}
	_, _ = io.Copy(io.Discard, stderr) // after a line that is too long
	_ = p.cmd.Wait()                   // how it ended does not matter
}

func (p *process) note(line string) {
	var s struct{ Msg, What, Addr string }
	if json.Unmarshal([]byte(line), &s) == nil && s.Msg == "serving" && s.What == "attempts" {
		select {
		case p.told <- s.Addr:
		default: // told already
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.lines) == keptLines {
		p.lines = p.lines[1:]
	}
	p.lines = append(p.lines, line)
}

// tail is the end of the log.
func (p *process) tail() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// serves waits for the log to tell where attempts are answered.
func (p *process) serves(ctx context.Context) (netip.AddrPort, error) {
	select {
	case addr := <-p.told:
		return netip.ParseAddrPort(addr)
	case <-p.exited:
		return netip.AddrPort{}, fmt.Errorf("ended before it served\n%s", p.tail())
	case <-ctx.Done():
		return netip.AddrPort{}, fmt.Errorf("has not served: %w\n%s", context.Cause(ctx), p.tail())
	}
}

// stop ends the process: politely, and after a while by force.
func (p *process) stop(patience time.Duration) {
	family, err := p.family()
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.exited:
		return
	case <-time.After(patience):
	}
	if err == nil {
		for _, pid := range family[1:] {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// Stop ends the server and waits until it has ended.
func (s *Server) Stop() { s.proc.stop(stopTime) }

// Log is the end of what the server wrote to stderr.
func (s *Server) Log() string { return s.proc.tail() }
