package target

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Machine says where figures come from, a line for each fact. built is what was
// built here; of each of the programs, the command that tells its version.
func Machine(ctx context.Context, built string, programs ...[]string) []string {
	lines := []string{
		time.Now().UTC().Format("2006-01-02 15:04 UTC"),
		fmt.Sprintf("%s, %d cores, Linux %s", processor(), runtime.NumCPU(), kernel()),
		fmt.Sprintf("%s built with %s", built, runtime.Version()),
	}
	for _, c := range programs {
		if v := firstLine(ctx, c); v != "" {
			lines = append(lines, v)
		}
	}
	return lines
}

func processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "model name"); ok {
			return strings.TrimLeft(name, "\t :")
		}
	}
	return runtime.GOARCH
}

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "of unknown version"
	}
	return unix.ByteSliceToString(u.Release[:])
}

// firstLine is what a program says first, "" if there is no such program.
func firstLine(ctx context.Context, command []string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	path := command[0]
	if found, err := exec.LookPath("/usr/sbin/" + path); err == nil {
		path = found
	}
	out, err := exec.CommandContext(ctx, path, command[1:]...).CombinedOutput()
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return first
}
