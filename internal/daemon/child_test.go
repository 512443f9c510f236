package daemon

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience bounds every wait for the outside world.
const patience = 20 * time.Second

// scenarioEnv names the scenario that the test binary runs instead of tests.
const scenarioEnv = "LEVEE_TEST_SCENARIO"

// TestMain lets the test binary be a daemon of its own, with Main as its main
// function, so that signals and exit codes are those of a real process.
func TestMain(m *testing.M) {
	if name := os.Getenv(scenarioEnv); name != "" {
		Main("levee-test", scenarios[name])
	}
	goleak.VerifyTestMain(m)
}

// child is the test binary run as a daemon.
type child struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.Closer
	lines  chan string // ends with the child
	stderr *syncBuffer
}

// startChild runs a scenario with env added to a clean environment. edit may
// change the command before it starts.
func startChild(t *testing.T, scenario string, env []string, edit func(*exec.Cmd)) *child {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	c := &child{t: t, cmd: exec.CommandContext(ctx, os.Args[0]), lines: make(chan string, 100), stderr: &syncBuffer{}}
	c.cmd.Env = append([]string{
		scenarioEnv + "=" + scenario,
		"PATH=" + os.Getenv("PATH"),
		"GORACE=atexit_sleep_ms=0", // the race detector would wait a second
		"GOCOVERDIR=" + t.TempDir(),
	}, env...)
	c.cmd.Stderr = c.stderr
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, w := io.Pipe()
	c.cmd.Stdout, c.stdout = w, w
	if edit != nil {
		edit(c.cmd)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			c.lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill() // gone already, if all went well
		_ = w.Close()
	})
	return c
}

// line returns the next line that the child prints.
func (c *child) line() string {
	c.t.Helper()
	select {
	case l, ok := <-c.lines:
		if ok {
			return l
		}
	case <-time.After(patience):
	}
	c.t.Fatalf("no more lines from the child; stderr:\n%s", c.stderr)
	return ""
}

func (c *child) expect(want string) {
	c.t.Helper()
	if got := c.line(); got != want {
		c.t.Fatalf("the child printed %q, want %q; stderr:\n%s", got, want, c.stderr)
	}
}

func (c *child) signal(s os.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
}

// tell writes a line to the child's standard input.
func (c *child) tell(line string) {
	c.t.Helper()
	if _, err := fmt.Fprintln(c.stdin, line); err != nil {
		c.t.Fatal(err)
	}
}

// exits waits for the end and checks the exit code.
func (c *child) exits(code int) {
	c.t.Helper()
	err := c.cmd.Wait()
	_ = c.stdout.Close() // a pipe in memory
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	if got := c.cmd.ProcessState.ExitCode(); got != code {
		c.t.Fatalf("exit code %d (%s), want %d; stderr:\n%s", got, c.cmd.ProcessState, code, c.stderr)
	}
}

// syncBuffer is a buffer that one goroutine writes while another reads.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// testLog returns a text log without times, and what it writes.
func testLog() (*slog.Logger, *syncBuffer) {
	b := &syncBuffer{}
	return slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	})), b
}

// datagrams is a real unixgram socket, as systemd and journald have them.
type datagrams struct {
	t    *testing.T
	path string
	conn *net.UnixConn
}

func listenDatagrams(t *testing.T) *datagrams {
	t.Helper()
	d := &datagrams{t: t, path: filepath.Join(t.TempDir(), "s")}
	var err error
	if d.conn, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: d.path, Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.conn.Close() })
	return d
}

// next returns the next datagram.
func (d *datagrams) next() string {
	d.t.Helper()
	got, err := d.within(patience)
	if err != nil {
		d.t.Fatalf("no datagram: %v", err)
	}
	return got
}

func (d *datagrams) expect(want ...string) {
	d.t.Helper()
	for _, w := range want {
		if got := d.next(); got != w {
			d.t.Fatalf("datagram %q, want %q", got, w)
		}
	}
}

// empty checks that no datagram waits.
func (d *datagrams) empty() {
	d.t.Helper()
	if got, err := d.within(time.Millisecond); err == nil {
		d.t.Fatalf("unexpected datagram %q", got)
	}
}

func (d *datagrams) within(limit time.Duration) (string, error) {
	if err := d.conn.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return "", err
	}
	b := make([]byte, 64<<10)
	n, err := d.conn.Read(b)
	return string(b[:n]), err
}

// wantContains checks that text has each part.
func wantContains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("missing %q in:\n%s", p, text)
		}
	}
}
