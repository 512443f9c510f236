package limiter

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/levee-project/levee/test/etcdtest"
	"github.com/levee-project/levee/test/harness"
)

// systemd is told that the service is ready when it is: the tree is loaded.
func TestNotifyReady(t *testing.T) {
	t.Parallel()
	for name, addr := range map[string]func(t *testing.T) (addr string, appear func()){
		"file": func(t *testing.T) (string, func()) {
			path := filepath.Join(t.TempDir(), "storage.yaml")
			return "file://" + path, func() {
				if err := os.WriteFile(path, []byte("limit: {}\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		},
		"etcd": func(t *testing.T) (string, func()) {
			s := etcdtest.Start(t, etcdtest.Options{Down: true})
			return s.Endpoint(), s.Start
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, appear := addr(t)
			systemd := harness.NewNotifySocket(t)
			l := harness.LaunchLimiter(t, harness.Command{
				Args: []string{"--storage-addrs=" + store},
				Env:  []string{"NOTIFY_SOCKET=" + systemd.Path},
			})
			c := l.Client(t, harness.HTTP1)
			for until := time.Now().Add(time.Second); time.Now().Before(until); { // it serves, and is not ready
				want(t, c.Attempt(t, "r"), http.StatusInternalServerError)
				time.Sleep(50 * time.Millisecond)
			}
			if systemd.Count("READY=1") != 0 {
				t.Error("READY=1 before the tree was loaded")
			}
			appear()
			systemd.Wait(t, caughtUp, "READY=1")
			want(t, c.Attempt(t, "r"), http.StatusOK)

			if systemd.Count("STOPPING=1") != 0 {
				t.Error("STOPPING=1 before the stop")
			}
			l.Signal(t, syscall.SIGTERM)
			systemd.Wait(t, time.Second, "STOPPING=1") // at the drain, not after it
			select {
			case <-l.Exited():
				t.Error("STOPPING=1 came when all was over")
			default:
			}
			if code := l.WaitExit(t, 5*time.Second); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if n := systemd.Count("READY=1"); n != 1 {
				t.Errorf("READY=1 was said %d times", n)
			}
		})
	}
}

// The watchdog is fed while the process serves, at least twice in its time.
func TestWatchdog(t *testing.T) {
	t.Parallel()
	systemd := harness.NewNotifySocket(t)
	s := harness.NewFileStore(t, nil)
	l := harness.LaunchLimiter(t, harness.Command{
		Args:   []string{"--storage-addrs=" + s.Addr()},
		Env:    []string{"NOTIFY_SOCKET=" + systemd.Path, "WATCHDOG_USEC=400000"},
		OwnPID: []string{"WATCHDOG_PID"},
	})
	systemd.Wait(t, caughtUp, "READY=1")
	systemd.Wait(t, caughtUp, "WATCHDOG=1")
	first := systemd.Count("WATCHDOG=1")
	took := harness.Eventually(t, 5*time.Second, "ten more", func() bool { return systemd.Count("WATCHDOG=1") >= first+10 })
	if took > 10*400*time.Millisecond {
		t.Errorf("ten feedings took %v, want each within 400 ms", took)
	}
	l.Signal(t, syscall.SIGSTOP) // a process that hangs does not feed it
	defer l.Signal(t, syscall.SIGCONT)
	time.Sleep(100 * time.Millisecond) // what was sent has arrived
	hung := systemd.Count("WATCHDOG=1")
	time.Sleep(time.Second)
	if n := systemd.Count("WATCHDOG=1"); n != hung {
		t.Errorf("a stopped process fed the watchdog %d times", n-hung)
	}
}

// Another process's watchdog is not this one's business.
func TestWatchdogOfAnotherProcess(t *testing.T) {
	t.Parallel()
	systemd := harness.NewNotifySocket(t)
	s := harness.NewFileStore(t, nil)
	harness.LaunchLimiter(t, harness.Command{
		Args: []string{"--storage-addrs=" + s.Addr()},
		Env:  []string{"NOTIFY_SOCKET=" + systemd.Path, "WATCHDOG_USEC=100000", "WATCHDOG_PID=1"},
	})
	systemd.Wait(t, caughtUp, "READY=1")
	time.Sleep(500 * time.Millisecond)
	if n := systemd.Count("WATCHDOG=1"); n != 0 {
		t.Errorf("fed %d times", n)
	}
}

// A reload is announced, and its end as well.
func TestNotifyReload(t *testing.T) {
	t.Parallel()
	systemd := harness.NewNotifySocket(t)
	s := harness.NewFileStore(t, nil)
	l := harness.LaunchLimiter(t, harness.Command{
		Args: []string{"--storage-addrs=" + s.Addr()},
		Env:  []string{"NOTIFY_SOCKET=" + systemd.Path},
	})
	systemd.Wait(t, caughtUp, "READY=1")
	l.Signal(t, syscall.SIGHUP)
	systemd.Wait(t, logTime, "RELOADING=1")
	harness.Eventually(t, logTime, "the reload is over", func() bool { return systemd.Count("READY=1") == 2 })
}

// A socket that systemd has opened is served instead of listen-addr, and a
// connection that came before the process is answered.
func TestSocketActivation(t *testing.T) {
	t.Parallel()
	for name, env := range map[string][]string{"unnamed": nil, "named": {"LISTEN_FDNAMES=levee"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, addr := listeningFile(t)
			early := harness.Dial(t, addr)
			early.Put(t, string(harness.AttemptText("r")))

			s := harness.NewFileStore(t, entries{keyDefault: fits(2)})
			l := harness.LaunchLimiter(t, harness.Command{
				Args:   []string{"--storage-addrs=" + s.Addr()},
				Env:    append([]string{"LISTEN_FDS=1"}, env...),
				OwnPID: []string{"LISTEN_PID"},
				Files:  []*os.File{socket},
			})
			l.WaitReady(t)
			if l.Addr != addr {
				t.Errorf("serves %s, not the socket that was passed, %s", l.Addr, addr)
			}
			// It may have come before the tree was loaded.
			if a := early.Answer(t); a.Status != http.StatusOK && a.Status != http.StatusInternalServerError {
				t.Errorf("got %v", a)
			}
			early.WantOpen(t)
			want(t, l.Client(t, harness.H2C).Attempt(t, "r"), http.StatusOK)
		})
	}
}

// listeningFile is a listening TCP socket to hand to another process.
func listeningFile(t *testing.T) (socket *os.File, addr string) {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	socket, err = l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	return socket, l.Addr().String()
}

// Sockets for another process are left alone.
func TestSocketOfAnotherProcess(t *testing.T) {
	t.Parallel()
	socket, addr := listeningFile(t)
	s := harness.NewFileStore(t, nil)
	l := harness.LaunchLimiter(t, harness.Command{
		Args:  []string{"--storage-addrs=" + s.Addr()},
		Env:   []string{"LISTEN_FDS=1", "LISTEN_PID=1"},
		Files: []*os.File{socket},
	})
	l.WaitReady(t)
	if l.Addr == addr {
		t.Errorf("serves the socket of another process, %s", addr)
	}
}
