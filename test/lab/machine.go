package lab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/levee-project/levee/test/harness"
)

const (
	bootTime     = 60 * time.Second // it takes one or two
	shutdownTime = 60 * time.Second
)

// Machine is a machine with a disk and an address.
type Machine struct {
	// Name is its host name.
	Name string
	// Addr is its IP address.
	Addr string
	// Root is its root directory, as this process sees it. What is mounted inside,
	// such as /tmp and /run, does not show.
	Root string

	binds  []string
	nspawn *exec.Cmd     // while it runs
	ended  chan struct{} // closed when nspawn has ended
	leader int           // its process 1, as this process sees it
}

// New makes a machine with a fresh disk, which ends with the test. Directories of
// this process can be seen in it, read only: "/here:/there".
func New(t testing.TB, name, addr string, directories ...string) *Machine {
	t.Helper()
	m := &Machine{Name: name, Addr: addr, Root: filepath.Join(here.disks(), name, "root"), binds: directories}
	m.makeDisk(t)
	if err := connect(name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() && m.nspawn != nil {
			m.show(t)
		}
		m.Kill(t)
		if err := errors.Join(m.removeDisk(), disconnect(name)); err != nil {
			t.Errorf("clear %s away: %v", name, err)
		}
	})
	return m
}

// Reinstall cuts the machine's power and gives it a fresh disk, as if it had been
// set up anew. Name and address stay. It can be started then.
func (m *Machine) Reinstall(t testing.TB) {
	t.Helper()
	m.Kill(t)
	if err := m.removeDisk(); err != nil {
		t.Fatalf("reinstall %s: %v", m.Name, err)
	}
	m.makeDisk(t)
}

// makeDisk makes a disk on which nothing but the root file system is.
func (m *Machine) makeDisk(t testing.TB) {
	t.Helper()
	dir := filepath.Dir(m.Root)
	upper, work := filepath.Join(dir, "upper"), filepath.Join(dir, "work")
	for _, d := range []string{m.Root, upper, work} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	layers := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", rootDir(), upper, work)
	if err := unix.Mount("overlay", m.Root, "overlay", 0, layers); err != nil {
		t.Fatalf("the disk of %s: %v", m.Name, err)
	}
	m.WriteFile(t, "/etc/hostname", m.Name+"\n", 0o644)
}

func (m *Machine) removeDisk() error {
	return errors.Join(unix.Unmount(m.Root, unix.MNT_DETACH), os.RemoveAll(filepath.Dir(m.Root)))
}

// Start boots the machine from its disk, and waits until all that starts at the
// boot has started, or failed.
func (m *Machine) Start(t testing.TB) {
	t.Helper()
	StartTogether(t, m)
}

// StartTogether is Start for machines that boot at the same time.
func StartTogether(t testing.TB, machines ...*Machine) {
	t.Helper()
	for _, m := range machines {
		m.powerOn(t)
	}
	for _, m := range machines {
		took := harness.Eventually(t, bootTime, m.Name+" has booted", func() bool { return m.booted(t) })
		t.Logf("%s has booted in %v", m.Name, took.Round(10*time.Millisecond))
	}
}

// powerOn begins the boot.
func (m *Machine) powerOn(t testing.TB) {
	t.Helper()
	groups, err := makeCgroups(m.Name)
	if err == nil {
		err = linkUp(m.Name, m.Addr)
	}
	if err != nil {
		t.Fatal(err)
	}
	m.nspawn = exec.Command("sh", m.boot(groups)...) //nolint:noctx // ends with the test
	m.nspawn.Env = append(os.Environ(), "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1", "SYSTEMD_NSPAWN_API_VFS_WRITABLE=network")
	m.nspawn.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	console, err := os.Create(filepath.Join(filepath.Dir(m.Root), "console"))
	if err != nil {
		t.Fatal(err)
	}
	defer console.Close()
	m.nspawn.Stdout, m.nspawn.Stderr = console, console
	if err := m.nspawn.Start(); err != nil {
		t.Fatalf("boot %s: %v", m.Name, err)
	}
	ended := make(chan struct{})
	m.ended = ended
	go func(cmd *exec.Cmd) {
		defer close(ended)
		_ = cmd.Wait() // how it ended does not matter
	}(m.nspawn)
	m.leader = 0
}

// boot is the command line, for a shell, that goes into the machine's cgroups
// and becomes systemd-nspawn. The filter allows bpf, or IPAddressDeny= and the
// like would silently have no effect in the machine.
func (m *Machine) boot(groups []string) []string {
	const enter = `for procs in $GROUPS_OF_MACHINE; do echo 0 >"$procs"; done; exec systemd-nspawn "$@"`
	args := []string{
		"-c", strings.ReplaceAll(enter, "$GROUPS_OF_MACHINE", strings.Join(groups, " ")), "sh",
		"--quiet", "--boot", "--register=no", "--keep-unit", "--console=pipe", "--kill-signal=SIGRTMIN+3",
		"--system-call-filter=bpf", "--capability=CAP_NET_ADMIN", "--resolv-conf=off", "--timezone=off",
		"--directory=" + m.Root, "--machine=" + m.Name, "--network-namespace-path=" + m.Namespace(),
	}
	for _, b := range m.binds {
		args = append(args, "--bind-ro="+b)
	}
	return args
}

// booted reports whether systemd in the machine is through with the boot.
func (m *Machine) booted(t testing.TB) bool {
	select {
	case <-m.ended:
		m.show(t)
		t.Fatalf("%s has ended instead of booting", m.Name)
	default:
	}
	if m.leader == 0 {
		if m.leader = childOf(m.nspawn.Process.Pid); m.leader == 0 {
			return false
		}
	}
	state, _ := m.Try("systemctl", "is-system-running") // fails unless all is well
	return state == "running" || state == "degraded"
}

// childOf returns the process that nspawn has started as the machine's process
// 1, or 0 when it has not come so far.
func childOf(nspawn int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", nspawn, nspawn))
	if err != nil {
		return 0
	}
	for _, child := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(child)
		if err != nil {
			continue
		}
		comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if err == nil && strings.TrimSpace(string(comm)) == "systemd" {
			return pid
		}
	}
	return 0
}

// PowerOff shuts the machine down in order. It can be started again.
func (m *Machine) PowerOff(t testing.TB) {
	t.Helper()
	if err := m.nspawn.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatalf("power %s off: %v", m.Name, err)
	}
	m.waitEnd(t)
	if err := linkDown(m.Name); err != nil {
		t.Fatal(err)
	}
}

// Kill cuts the machine's power, if it runs. It can be started again.
func (m *Machine) Kill(t testing.TB) {
	t.Helper()
	if m.nspawn == nil {
		return
	}
	if err := linkDown(m.Name); err != nil {
		t.Error(err)
	}
	if m.leader != 0 {
		_ = syscall.Kill(m.leader, syscall.SIGKILL) // with it goes all that runs in the machine
	} else {
		_ = m.nspawn.Process.Kill()
	}
	m.waitEnd(t)
}

func (m *Machine) waitEnd(t testing.TB) {
	t.Helper()
	select {
	case <-m.ended:
		m.nspawn, m.leader = nil, 0
	case <-time.After(shutdownTime):
		t.Errorf("%s has not ended within %v", m.Name, shutdownTime)
	}
}

// show writes the end of the machine's journal, or of its console, into the
// test's log.
func (m *Machine) show(t testing.TB) {
	t.Helper()
	const lines = 60
	text := ""
	if m.leader != 0 {
		text, _ = m.Try("journalctl", "--no-pager", "-o", "short-precise", "-n", strconv.Itoa(lines))
	}
	if text == "" {
		console, err := os.ReadFile(filepath.Join(filepath.Dir(m.Root), "console"))
		if err != nil {
			return
		}
		text = lastLines(string(console), lines)
	}
	t.Logf("%s:\n%s", m.Name, text)
}
