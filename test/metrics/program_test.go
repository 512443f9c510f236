package metrics

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/levee-project/levee/test/etcdtest"
	"github.com/levee-project/levee/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// patience bounds what is waited for, on a machine that does other things, too.
const patience = 60 * time.Second

// entries are a shared tree, raw value by key without the root prefix.
type entries = map[string]string

// plenty is a quota that no test exceeds.
const plenty = `{"rate": 1e9, "burst": 1e9}`

// host returns a loopback address of a test's own.
func host() string {
	return fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
}

// start starts a cluster with a store of its own.
func start(t *testing.T, o harness.ClusterOptions, e entries) *harness.Cluster {
	t.Helper()
	return harness.StartCluster(t, etcdtest.Start(t, etcdtest.Options{}), o, e)
}

// program is somebody else's program that runs.
type program struct {
	cmd   *exec.Cmd
	ended chan struct{}

	mu  sync.Mutex // guards out
	out bytes.Buffer
}

// Write keeps what the program says, for a test that fails.
func (p *program) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

// launch starts a program that is killed at the end of the test at the latest.
func launch(t *testing.T, name string, args ...string) *program {
	t.Helper()
	p := &program{cmd: exec.Command(name, args...), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p, p
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // how it ended does not matter
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			p.mu.Lock()
			defer p.mu.Unlock()
			lines := strings.Split(p.out.String(), "\n")
			t.Logf("%s said last:\n%s", name, strings.Join(lines[max(0, len(lines)-40):], "\n"))
		}
	})
	return p
}

// kill ends the program and waits for its end.
func (p *program) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// promtool runs Prometheus's own tool to its end, which is to be a good one.
func promtool(t *testing.T, input string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "promtool", args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
