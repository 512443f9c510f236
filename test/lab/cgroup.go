package lab

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cgroups is the name of the lab's part of each hierarchy. A lab elsewhere on this
// machine has another, or the one would end the machines of the other.
func cgroups() string {
	sum := sha256.Sum256([]byte(here))
	return fmt.Sprintf("levee-lab-%x", sum[:4])
}

// hierarchies are the mounted hierarchies that systemd in a machine needs. The
// controllers of version 1 are left alone.
func hierarchies() []string {
	const top = "/sys/fs/cgroup"
	if _, err := os.Stat(filepath.Join(top, "cgroup.controllers")); err == nil {
		return []string{top}
	}
	return []string{filepath.Join(top, "unified"), filepath.Join(top, "systemd")}
}

// makeCgroups makes a group for a machine in each hierarchy, and returns the
// files that a process writes to, to get in.
func makeCgroups(machine string) (procs []string, err error) {
	for _, h := range hierarchies() {
		dir := filepath.Join(h, cgroups(), machine)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("cgroup of %s: %w", machine, err)
		}
		procs = append(procs, filepath.Join(dir, "cgroup.procs"))
	}
	return procs, nil
}

// removeCgroups removes the lab's groups. Processes that are still in them have
// lost their parents, and are ended.
func removeCgroups() error {
	const within = 10 * time.Second
	var errs []error
	for _, h := range hierarchies() {
		top := filepath.Join(h, cgroups())
		began := time.Now()
		for {
			err := removeTree(top)
			if err == nil {
				break
			}
			if time.Since(began) > within {
				errs = append(errs, err)
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	return errors.Join(errs...)
}

// removeTree ends what is in a group and in those below it, and removes them,
// the lowest first.
func removeTree(top string) error {
	var dirs []string
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // gone meanwhile
		case err != nil:
			return err
		case entry.IsDir():
			dirs = append(dirs, path)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("look through %s: %w", top, err)
	}
	for _, dir := range slices.Backward(dirs) {
		endProcesses(filepath.Join(dir, "cgroup.procs"))
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func endProcesses(procs string) {
	list, err := os.ReadFile(procs)
	if err != nil {
		return // the group is gone, and so are they
	}
	for _, text := range strings.Fields(string(list)) {
		if pid, err := strconv.Atoi(text); err == nil && pid > 1 {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
}
