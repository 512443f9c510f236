package lab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/levee-project/levee/test/harness"
)

const (
	// siteVariable tells the process that runs the tests where its site is.
	siteVariable = "LEVEE_LAB_SITE"
	// cacheVariable names another directory for what the lab keeps, instead of
	// .cache/lab beside the product.
	cacheVariable = "LEVEE_LAB_CACHE"
	// lockTime is how long one suite waits for another.
	lockTime = 30 * time.Minute
)

// site is the directory of the lab.
type site string

// here is the site of this process, set by Main.
var here site

// runs is what exists during a run only.
func (s site) runs() string { return filepath.Join(string(s), "run") }

// work holds what a suite prepares.
func (s site) work() string { return filepath.Join(s.runs(), "work") }

// disks holds the disks of the machines, in memory.
func (s site) disks() string { return filepath.Join(s.runs(), "disks") }

// Work is a directory for what a suite prepares for its tests. It is on disk,
// and is removed after the run.
func Work() string { return here.work() }

// Main runs the tests of a package in a lab. Before that, with the network and
// the processes of the host still in reach, it calls prepare, which can build
// what the tests need into [Work]. It does not return.
func Main(m *testing.M, prepare func() error) {
	runtime.LockOSThread() // a process dies with the thread that started it
	here = site(os.Getenv(siteVariable))
	var code int
	var err error
	switch {
	case here == "":
		code, err = outside(prepare)
	case os.Getpid() == 1:
		code, err = first()
	default:
		_ = os.Unsetenv(siteVariable) // what tests start need not know
		code = m.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		code = 1
	}
	os.Exit(code)
}

// outside makes the lab ready, runs the tests as a process of their own, and
// clears up. It returns their exit code.
func outside(prepare func() error) (code int, err error) {
	if os.Geteuid() != 0 {
		return 0, errors.New("machines need root: run the tests as root, or with sudo -E")
	}
	if here, err = findSite(); err != nil {
		return 0, err
	}
	unlock, err := lock(filepath.Join(string(here), "lock"))
	if err != nil {
		return 0, err
	}
	defer unlock()
	if err := clearUp(); err != nil { // after a run that was killed
		return 0, err
	}
	defer func() { err = errors.Join(err, clearUp()) }()
	if err := raiseInotify(); err != nil {
		return 0, err
	}
	if err := makeRoot(); err != nil {
		return 0, err
	}
	if err := os.MkdirAll(here.work(), 0o755); err != nil {
		return 0, fmt.Errorf("directory of the suite: %w", err)
	}
	if err := os.Mkdir(here.disks(), 0o755); err != nil {
		return 0, fmt.Errorf("directory of the disks: %w", err)
	}
	if prepare != nil {
		if err := prepare(); err != nil {
			return 0, err
		}
	}
	return runTests()
}

// raiseInotify makes room for the watches of all machines: the limit is one for all
// processes of root, whichever machine they are on, and systemd alone has ten of 128.
// It stays raised until the host is started again.
func raiseInotify() error {
	const path, enough = "/proc/sys/fs/inotify/max_user_instances", 1024
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if now, err := strconv.Atoi(strings.TrimSpace(string(text))); err != nil || now >= enough {
		return err
	}
	return os.WriteFile(path, []byte(strconv.Itoa(enough)), 0o644)
}

func findSite() (site, error) {
	if dir := os.Getenv(cacheVariable); dir != "" {
		return site(dir), os.MkdirAll(dir, 0o755)
	}
	root, err := harness.Root()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, ".cache", "lab")
	return site(dir), os.MkdirAll(dir, 0o755)
}

// lock waits until this process is the only one with a lab here. The lock ends
// with the process.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("the lab's lock: %w", err)
	}
	for began := time.Now(); ; time.Sleep(time.Second) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if time.Since(began) > lockTime {
			return nil, errors.Join(fmt.Errorf("another suite has held %s for %v: %w", path, lockTime, err), f.Close())
		}
	}
}

// runTests runs this program again, as process 1 of namespaces of its own. They
// end with it, and it ends with us.
func runTests() (code int, err error) {
	cmd := again()
	cmd.Env = append(os.Environ(), siteVariable+"="+string(here))
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET,
		Pdeathsig:  syscall.SIGKILL,
	}
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		return 0, fmt.Errorf("run the tests in namespaces of their own: %w", err)
	}
	if code = cmd.ProcessState.ExitCode(); code < 0 { // by a signal
		code = 1
	}
	return code, nil
}

// again is this program with the same arguments.
func again() *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...) //nolint:noctx // go test bounds it
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd
}

// first is process 1: it furnishes the namespaces, runs the tests, and waits for
// all that have lost their parents. Without that, a machine would not end before
// somebody has.
func first() (code int, err error) {
	if err := furnish(); err != nil {
		return 0, err
	}
	tests := again()
	if err := tests.Start(); err != nil {
		return 0, fmt.Errorf("run the tests: %w", err)
	}
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, fmt.Errorf("wait for the tests: %w", err)
		case pid == tests.Process.Pid && status.Exited():
			return status.ExitStatus(), nil
		case pid == tests.Process.Pid:
			return 1, nil
		}
	}
}

// furnish makes the namespaces usable: nothing mounted here is seen outside.
func furnish() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to ourselves: %w", err)
	}
	mounts := []struct{ kind, at string }{
		{"proc", "/proc"},
		{"tmpfs", "/run"},
		{"tmpfs", here.disks()},
	}
	for _, mount := range mounts {
		if err := unix.Mount(mount.kind, mount.at, mount.kind, 0, ""); err != nil {
			return fmt.Errorf("mount %s on %s: %w", mount.kind, mount.at, err)
		}
	}
	return makeBridge()
}

// clearUp removes what a run leaves behind, also one that was killed.
func clearUp() error {
	return errors.Join(removeCgroups(), os.RemoveAll(here.runs()))
}
