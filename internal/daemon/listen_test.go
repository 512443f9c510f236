package daemon

import (
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestBindErrorsNameOptionAddressAndCause(t *testing.T) {
	taken, err := Bind(t.Context(), "listen-addr", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	tests := []struct {
		addr  string
		is    error
		parts []string
	}{
		{taken.Addr().String(), syscall.EADDRINUSE, []string{"another process listens there"}},
		{"192.0.2.1:0", syscall.EADDRNOTAVAIL, []string{"no interface of this host has the address"}},
		{"localhost", nil, []string{"missing port"}},
		{"127.0.0.1:99999", nil, []string{"invalid port"}},
	}
	for _, tt := range tests {
		t.Run(tt.addr, func(t *testing.T) {
			_, err := Bind(t.Context(), "metrics-addr", tt.addr)
			if err == nil {
				t.Fatal("no error")
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%v is not %v", err, tt.is)
			}
			if strings.Contains(err.Error(), "listen tcp") {
				t.Errorf("the library says again what is said already: %q", err)
			}
			wantContains(t, err.Error(), append(tt.parts, "metrics-addr: cannot listen on "+strconv.Quote(tt.addr)+": ")...)
		})
	}
}

func TestBindErrorForAPrivilegedPort(t *testing.T) {
	// Root, who often runs tests, may bind any port.
	denied := &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", syscall.EACCES)}
	err := bindError("listen-addr", ":80", denied)
	want := `listen-addr: cannot listen on ":80": bind: permission denied; ports below 1024 need CAP_NET_BIND_SERVICE, or choose a higher one`
	if err.Error() != want || !errors.Is(err, syscall.EACCES) {
		t.Errorf("got %q, want %q", err, want)
	}
}

// socket is a bound socket to pass to a child, and its address.
func socket(t *testing.T, network, addr string) (*os.File, string) {
	t.Helper()
	var lc net.ListenConfig
	ln, err := lc.Listen(t.Context(), network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	f, err := ln.(interface{ File() (*os.File, error) }).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, ln.Addr().String()
}

// startActivated starts a child as systemd does for a socket unit.
func startActivated(t *testing.T, names string, files ...*os.File) *child {
	t.Helper()
	env := []string{"LISTEN_FDS=" + strconv.Itoa(len(files)), "LISTEN_FDNAMES=" + names}
	return startChild(t, "listen", env, func(cmd *exec.Cmd) {
		// A shell's process id is that of the program it becomes.
		cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `LISTEN_PID=$$ exec "$0"`, os.Args[0]}
		cmd.ExtraFiles = files
	})
}

func TestListenTakesThePassedSocket(t *testing.T) {
	tcp, addr := socket(t, "tcp", "127.0.0.1:0")
	other, _ := socket(t, "tcp", "127.0.0.1:0")
	tests := []struct {
		name  string
		names string
		files []*os.File
	}{
		{"the only one", "levee-limiter.socket", []*os.File{tcp}},
		{"the only one, unnamed", "", []*os.File{tcp}},
		{"by name", "metrics:levee", []*os.File{other, tcp}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := startActivated(t, tt.names, tt.files...)
			c.expect(addr)
			c.expect("left: ")
			get(t, http.MethodGet, "http://"+addr, nil)
			c.exits(0)
		})
	}
}

func TestListenBindsWhenNothingIsPassed(t *testing.T) {
	tcp, passed := socket(t, "tcp", "127.0.0.1:0")
	c := startChild(t, "listen", []string{"LISTEN_FDS=1", "LISTEN_PID=1"}, func(cmd *exec.Cmd) {
		cmd.ExtraFiles = []*os.File{tcp} // meant for another process
	})
	addr := c.line()
	if addr == passed {
		t.Errorf("listens on %s, the socket of another process", addr)
	}
	c.expect("left: ")
	get(t, http.MethodGet, "http://"+addr, nil)
	c.exits(0)
}

func TestListenRefusesWhatItCannotServe(t *testing.T) {
	tcp, _ := socket(t, "tcp", "127.0.0.1:0")
	other, _ := socket(t, "tcp", "127.0.0.1:0")
	unix, _ := socket(t, "unix", filepath.Join(t.TempDir(), "s"))
	plain, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = plain.Close() }()
	tests := []struct {
		name  string
		names string
		files []*os.File
		want  string
	}{
		{"which", "a:b", []*os.File{tcp, other}, "systemd passed 2 sockets (a, b), of which 0 are named levee"},
		{"both", "levee:levee", []*os.File{tcp, other}, "systemd passed 2 sockets (levee, levee), of which 2 are named levee"},
		{"unix", "levee", []*os.File{unix}, `the socket "levee" passed by systemd listens on unix`},
		{"file", "levee", []*os.File{plain}, `the socket "levee" passed by systemd: `},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := startActivated(t, tt.names, tt.files...)
			c.exits(1)
			wantContains(t, c.stderr.String(), "levee-test: listen-addr: "+tt.want)
		})
	}
}
