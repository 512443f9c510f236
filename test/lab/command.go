package lab

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// commandTime bounds a command in a machine.
const commandTime = 3 * time.Minute

// forbidden is what commands in a machine must not be able to do, since it
// would be done to the host: nsenter(1) keeps the capabilities of its caller.
const forbidden = "-sys_time,-sys_module,-sys_rawio,-syslog,-wake_alarm,-block_suspend,-mac_admin,-mac_override,-bpf,-perfmon,-checkpoint_restore"

// Command returns a command that runs in the machine, as root.
func (m *Machine) Command(ctx context.Context, args ...string) *exec.Cmd {
	enter := []string{
		"--bounding-set=" + forbidden, "nsenter", "-t", strconv.Itoa(m.leader), "-m", "-u", "-i", "-n", "-p", "-C", "--",
		"/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "TERM=dumb", "LANG=C.UTF-8",
		"DEBIAN_FRONTEND=noninteractive",
	}
	return exec.CommandContext(ctx, "setpriv", append(enter, args...)...)
}

// Try runs a command in the machine, and returns what it wrote to stdout, without
// the white space around it. The error has what it wrote to stderr.
func (m *Machine) Try(args ...string) (string, error) {
	if m.leader == 0 {
		return "", fmt.Errorf("%s does not run", m.Name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	cmd := m.Command(ctx, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		err = fmt.Errorf("%s: %s: %w: %s", m.Name, strings.Join(args, " "), err, lastLines(stderr.String(), 20))
		return strings.TrimSpace(stdout.String()), err
	}
	return strings.TrimSpace(stdout.String()), nil
}

// Run is Try for commands that must succeed.
func (m *Machine) Run(t testing.TB, args ...string) string {
	t.Helper()
	out, err := m.Try(args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, lastLines(out, 40))
	}
	return out
}

// Shell runs a script of sh(1) in the machine, which must succeed.
func (m *Machine) Shell(t testing.TB, script string) string {
	t.Helper()
	return m.Run(t, "sh", "-euc", script)
}

// Property returns a property of a unit, such as ActiveState.
func (m *Machine) Property(t testing.TB, unit, name string) string {
	t.Helper()
	return m.Run(t, "systemctl", "show", "--property", name, "--value", unit)
}

// Entry is an entry of a journal: text by field, such as MESSAGE.
type Entry map[string]string

// Journal returns what the machine's journal has of a unit, the oldest first.
func (m *Machine) Journal(t testing.TB, unit string) []Entry {
	t.Helper()
	return m.Entries(t, "-u", unit)
}

// Entries returns what the machine's journal has that journalctl finds with
// arguments, the oldest first.
func (m *Machine) Entries(t testing.TB, args ...string) []Entry {
	t.Helper()
	var entries []Entry
	text := m.Run(t, append([]string{"journalctl", "--no-pager", "-o", "json"}, args...)...)
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var fields map[string]any
		if err := json.Unmarshal(lines.Bytes(), &fields); err != nil {
			t.Fatalf("entry of the journal %q: %v", lines.Text(), err)
		}
		entry := Entry{}
		for name, value := range fields {
			entry[name] = fmt.Sprint(value)
		}
		entries = append(entries, entry)
	}
	return entries
}

// WriteFile writes a file on the machine's disk, which a person would do with an
// editor: a new file takes the place of the old one.
func (m *Machine) WriteFile(t testing.TB, path, text string, mode fs.FileMode) {
	t.Helper()
	disk, name := m.open(t, path)
	defer disk.Close()
	next := name + ".next"
	err := disk.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = disk.WriteFile(next, []byte(text), mode)
	}
	if err == nil {
		err = errors.Join(disk.Chmod(next, mode), disk.Rename(next, name)) // whatever the umask
	}
	if err != nil {
		t.Fatalf("%s: write %s: %v", m.Name, path, err)
	}
}

// ReadFile reads a file of the machine's disk.
func (m *Machine) ReadFile(t testing.TB, path string) string {
	t.Helper()
	disk, name := m.open(t, path)
	defer disk.Close()
	text, err := disk.ReadFile(name)
	if err != nil {
		t.Fatalf("%s: read %s: %v", m.Name, path, err)
	}
	return string(text)
}

// Exists reports whether something is at a path on the machine's disk, be it a
// link that leads nowhere.
func (m *Machine) Exists(t testing.TB, path string) bool {
	t.Helper()
	disk, name := m.open(t, path)
	defer disk.Close()
	_, err := disk.Lstat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s: look for %s: %v", m.Name, path, err)
	}
	return err == nil
}

// open opens the disk, out of which no link leads, and returns the path in it.
func (m *Machine) open(t testing.TB, path string) (disk *os.Root, name string) {
	t.Helper()
	disk, err := os.OpenRoot(m.Root)
	if err != nil {
		t.Fatal(err)
	}
	return disk, strings.TrimPrefix(filepath.Clean(path), "/")
}
