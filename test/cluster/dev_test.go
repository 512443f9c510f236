package cluster

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

// devTool is a levee-dev that runs.
type devTool struct {
	port int
	dir  string // TMPDIR
	cmd  *exec.Cmd

	ended chan struct{} // closed when it has ended
	err   error         // how, then

	mu  sync.Mutex // guards out
	out strings.Builder
}

// startDev starts levee-dev and waits until it says that it is ready.
func startDev(t *testing.T, args ...string) *devTool {
	t.Helper()
	for _, needed := range []string{"etcd", "levee-observer", "levee-limiter", "levee-client-proxy"} {
		harness.Binary(t, needed) // beside levee-dev
	}
	// Below the ports that the system chooses from.
	d := &devTool{port: 10000 + 100*rand.IntN(200), dir: t.TempDir(), ended: make(chan struct{})}
	d.cmd = exec.Command(harness.Binary(t, "levee-dev"), append([]string{fmt.Sprintf("--port=%d", d.port)}, args...)...)
	d.cmd.Env = append(environment(), "TMPDIR="+d.dir)
	d.cmd.Stdout, d.cmd.Stderr = d, d
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(d.ended)
		d.err = d.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill() // it may have ended
		<-d.ended
		if t.Failed() {
			t.Log(d.text())
		}
	})
	d.waitFor(t, `ready in [\d.]+ s`)
	return d
}

// environment is this process's own, without what would be options.
func environment() (env []string) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "LEVEE_") {
			env = append(env, v)
		}
	}
	return env
}

// Write takes output in.
func (d *devTool) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.out.Write(p)
}

func (d *devTool) text() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.out.String()
}

// waitFor waits for a match in the output, and returns its groups.
func (d *devTool) waitFor(t *testing.T, pattern string) (groups []string) {
	t.Helper()
	re := regexp.MustCompile(pattern)
	harness.Eventually(t, time.Minute, pattern, func() bool {
		select {
		case <-d.ended:
			t.Fatalf("levee-dev has ended: %v", d.err)
		default:
		}
		groups = re.FindStringSubmatch(d.text())
		return groups != nil
	})
	return groups
}

func (d *devTool) addr(offset int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(d.port+offset))
}

// levee-dev brings up a cluster that limits, takes a change, starts again who
// dies, and leaves nothing behind.
func TestLeveeDev(t *testing.T) {
	t.Parallel()
	d := startDev(t, "--restart=1s", "--limiters=2")
	t.Log(d.waitFor(t, `ready in [\d.]+ s`)[0])
	one, two := harness.NewClient(t, d.addr(0), harness.HTTP1), harness.NewClient(t, d.addr(1), harness.HTTP1)
	accepted := one.Accepted(t, 6, "demo") + two.Accepted(t, 6, "demo")
	if accepted < 4 || accepted > 8 {
		t.Errorf("%d of 12 attempts were accepted through two proxies, want about 6", accepted)
	}

	set := exec.Command(harness.Binary(t, "leveectl"), "--storage-addrs=http://"+d.addr(90), "limit", "set", "demo", "--rate=0", "--burst=0")
	set.Env = environment()
	if out, err := set.CombinedOutput(); err != nil {
		t.Fatalf("leveectl: %v\n%s", err, out)
	}
	harness.Eventually(t, 5*time.Second, "the change is in force", func() bool {
		a := one.Hits(t, 0, "demo")
		_, later := a.RetryAfter(t)
		return a.Status == http.StatusTooManyRequests && !later
	})

	pid, err := strconv.Atoi(d.waitFor(t, `limiter-1 +(\d+) `)[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	d.waitFor(t, `levee-dev +\| limiter-1 has ended by itself: signal: killed; it is started again in 1s`)
	d.waitFor(t, `levee-dev +\| limiter-1 runs again, pid \d+`)

	second := exec.Command(d.cmd.Path, d.cmd.Args[1])
	second.Env = environment()
	out, err := second.CombinedOutput()
	if taken := fmt.Sprintf("port %d", d.port); err == nil || !strings.Contains(string(out), taken) {
		t.Errorf("a second one on the same ports: %v\n%s", err, out)
	}
	d.stop(t)
}

// stop sends SIGTERM, and looks for what is left.
func (d *devTool) stop(t *testing.T) {
	t.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-d.ended:
		if d.err != nil {
			t.Errorf("levee-dev has ended with %v", d.err)
		}
	case <-time.After(time.Minute):
		t.Fatal("levee-dev has not ended within a minute")
	}
	if left, err := os.ReadDir(d.dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	for _, offset := range []int{0, 1, 10, 11, 90} {
		if l, err := net.Listen("tcp", d.addr(offset)); err != nil {
			t.Errorf("somebody still listens: %v", err)
		} else {
			_ = l.Close()
		}
	}
}
