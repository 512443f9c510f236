package target

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/levee-project/levee/test/bench/load"
	"github.com/levee-project/levee/test/harness"
)

func newSite(t *testing.T) (site *Site, cpu int) {
	t.Helper()
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	cpu, _, err = TwoCPUs()
	if err != nil {
		t.Fatal(err)
	}
	site, err = NewSite(root, cpu)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := site.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(site.dir); !os.IsNotExist(err) {
			t.Errorf("the directory is still there: %v", err)
		}
	})
	return site, cpu
}

// Levee's own servers start, limit, run on their core, use it when asked, and
// end.
func TestOwnServers(t *testing.T) {
	t.Parallel()
	site, cpu := newSite(t)
	servers := []string{Levee, NetHTTP}
	if err := site.Build(t.Context(), servers); err != nil {
		t.Fatal(err)
	}
	for _, name := range servers {
		s, err := site.Start(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Stop)
		onlyOn(t, s, cpu)
		before, err := s.CPU()
		if err != nil {
			t.Fatal(err)
		}
		tally, err := load.Plan{Addr: s.Addr(load.H2C), Protocol: load.H2C, Connections: 2, InFlight: 8, Keys: 100, For: 200 * time.Millisecond}.Run(t.Context())
		if err != nil || tally.Accepted() != tally.Requests {
			t.Fatalf("%s: %v, %v", name, tally, err)
		}
		if after, err := s.CPU(); err != nil || after <= before {
			t.Errorf("%s: %v of CPU before, %v after %d requests, %v", name, before, after, tally.Requests, err)
		}
		if rss, err := s.RSS(); err != nil || rss < 1<<20 || rss > 1<<30 {
			t.Errorf("%s: RSS is %d, %v", name, rss, err)
		}
		if name == Levee {
			if n, err := s.Mallocs(t.Context()); err != nil || n < 1000 {
				t.Errorf("%v mallocs, %v", n, err)
			}
		}
		s.Stop()
		if _, err := s.CPU(); err == nil {
			t.Errorf("%s goes on", name)
		}
	}
}

func onlyOn(t *testing.T, s *Server, cpu int) {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(s.proc.cmd.Process.Pid, &set); err != nil || set.Count() != 1 || !set.IsSet(cpu) {
		t.Errorf("%s may use %d cores, %v", s.Name, set.Count(), err)
	}
	if err := unix.SchedGetaffinity(0, &set); err != nil || set.Count() < 2 {
		t.Errorf("the test is left with %d cores, %v", set.Count(), err)
	}
}

func TestUnknownServer(t *testing.T) {
	t.Parallel()
	site, _ := newSite(t)
	if _, err := site.Start(t.Context(), "apache"); err == nil || !strings.Contains(err.Error(), "haproxy") {
		t.Errorf("got %v", err)
	}
}

// The configurations of the others get ports of their own.
func TestConfigured(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"nginx.conf", "haproxy.cfg"} {
		server, path, err := configured(t.Context(), t.TempDir(), name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []load.Protocol{load.HTTP1, load.H2C} {
			if addr := server.Addr(p); addr.Port() == 0 || strings.Count(string(text), addr.String()) != 1 {
				t.Errorf("%s: %v is not where it should be:\n%s", name, addr, text)
			}
		}
		if server.Addr(load.HTTP1) == server.Addr(load.H2C) {
			t.Errorf("%s: one port for both", name)
		}
	}
}

// served is a Server that this process serves.
func served(t *testing.T, handler http.HandlerFunc) *Server {
	t.Helper()
	web := httptest.NewUnstartedServer(handler)
	web.Config.Protocols = new(http.Protocols)
	web.Config.Protocols.SetHTTP1(true)
	web.Config.Protocols.SetUnencryptedHTTP2(true)
	web.Start()
	t.Cleanup(web.Close)
	addr := netip.MustParseAddrPort(web.Listener.Addr().String())
	return &Server{
		Name: "fake", addrs: map[load.Protocol]netip.AddrPort{load.HTTP1: addr, load.H2C: addr}, admin: addr, tight: "/tight",
		proc: &process{exited: make(chan struct{})},
	}
}

func TestProve(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		h    func(w http.ResponseWriter, r *http.Request)
		want string // of the error; "" for none
	}{
		{"limits", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/tight" && r.Header.Get("X-Resource") == "tight" {
				w.WriteHeader(http.StatusTooManyRequests)
			}
		}, ""},
		{"does not limit", func(http.ResponseWriter, *http.Request) {}, "HTTP/1.1 at once on a key for 6 were all accepted"},
		{"limits over HTTP/1.1 only", func(w http.ResponseWriter, r *http.Request) {
			if r.ProtoMajor == 1 && r.URL.Path == "/tight" {
				w.WriteHeader(http.StatusTooManyRequests)
			}
		}, "h2c at once"},
		{"refuses everything", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }, "status 429"},
		{"is broken", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/tight" {
				w.WriteHeader(http.StatusBadGateway)
			}
		}, "answered with 502"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			if c.want != "status 429" {
				ctx, cancel = context.WithTimeout(t.Context(), 10*time.Second)
			}
			defer cancel()
			err := served(t, c.h).prove(ctx)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestMetric(t *testing.T) {
	t.Parallel()
	s := served(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, "# HELP go_memstats_mallocs_total Heap objects.\ngo_memstats_mallocs_total 1.234567e+06\n"+
			"n{a=\"x y\",b=\"1\"} 3\nn{a=\"z\",b=\"1\"} 4.5\nn{a=\"z\",b=\"2\"} 10\nn_more 1000\nbad{} many\n")
	})
	if n, err := s.Mallocs(t.Context()); err != nil || n != 1234567 {
		t.Errorf("%v, %v", n, err)
	}
	for _, c := range []struct {
		name, labels string
		want         float64 // -1 for an error
	}{
		{"n", "", 17.5},
		{"n", `b="1"`, 7.5},
		{"n", `a="z",b="2"`, 10},
		{"n_more", "", 1000},
		{"n", `b="3"`, -1},
		{"n_mor", "", -1},
		{"nothing", "", -1},
		{"bad", "", -1},
	} {
		if n, err := s.Metric(t.Context(), c.name, c.labels); (c.want < 0) != (err != nil) || err == nil && n != c.want {
			t.Errorf("%s{%s}: %v, %v", c.name, c.labels, n, err)
		}
	}
}

// shell starts a script.
func shell(t *testing.T, script string) *process {
	t.Helper()
	p, err := start(exec.Command("sh", "-c", script), 0) //nolint:noctx // ends by stop
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.stop(time.Millisecond) })
	return p
}

func TestServes(t *testing.T) {
	t.Parallel()
	p := shell(t, `echo noise >&2; echo '{"msg":"serving","what":"attempts","addr":"127.0.0.1:7"}' >&2; exec sleep 60`)
	if addr, err := p.serves(t.Context()); err != nil || addr.String() != "127.0.0.1:7" {
		t.Errorf("%v, %v", addr, err)
	}
	p = shell(t, "echo out of luck >&2; exit 3")
	if _, err := p.serves(t.Context()); err == nil || !strings.Contains(err.Error(), "out of luck") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := shell(t, "exec sleep 60").serves(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// A process that does not want to end is made to, with those it has started.
func TestStopByForce(t *testing.T) {
	t.Parallel()
	p := shell(t, `trap '' TERM; sh -c 'trap "" TERM; sleep 60; :' & echo '{"msg":"serving","what":"attempts","addr":"127.0.0.1:7"}' >&2; wait`)
	if _, err := p.serves(t.Context()); err != nil {
		t.Fatal(err)
	}
	var family []int
	harness.Eventually(t, 10*time.Second, "the script's child has a child", func() bool {
		family, _ = p.family()
		return len(family) == 3
	})
	p.stop(10 * time.Millisecond)
	for _, pid := range family {
		harness.Eventually(t, 10*time.Second, fmt.Sprintf("process %d of %v ends", pid, family), func() bool {
			return ended(pid)
		})
	}
}

// ended says whether a process is gone, or waits for whoever adopted it.
func ended(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ") || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

func TestReadsProc(t *testing.T) {
	t.Parallel()
	if got, err := schedstat([]byte("123456789 42 7\n")); err != nil || got != 123456789 {
		t.Errorf("schedstat: %v, %v", got, err)
	}
	if _, err := schedstat([]byte("\n")); err == nil {
		t.Error("schedstat: empty, and no error")
	}
	stat := "4711 (a) b (c) S 1 1 1 0 -1 4194560 1 2 3 4 150 50 9 9 20 0 1 0 100 200 300"
	if got, err := ticks([]byte(stat)); err != nil || got != 2*time.Second {
		t.Errorf("stat: %v, %v", got, err)
	}
	if _, err := ticks([]byte("4711 (x) S 1")); err == nil {
		t.Error("stat: cut short, and no error")
	}
	if got, err := rssOf("Name:\tx\nVmHWM:\t  200 kB\nVmRSS:\t  100 kB\nThreads:\t1\n"); err != nil || got != 100<<10 {
		t.Errorf("status: %v, %v", got, err)
	}
	if _, err := rssOf("Name:\tx\n"); err == nil {
		t.Error("status: no VmRSS, and no error")
	}
	if got, err := cpuOf(os.Getpid()); err != nil || got <= 0 {
		t.Errorf("this process: %v, %v", got, err)
	}
	if _, err := cpuOf(1 << 30); err == nil {
		t.Error("a process that is none has a CPU time")
	}
}
