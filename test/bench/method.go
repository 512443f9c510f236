package main

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

// machine says where the figures come from.
func machine(ctx context.Context) []string {
	lines := []string{
		time.Now().UTC().Format("2006-01-02 15:04 UTC"),
		fmt.Sprintf("%s, %d cores, Linux %s", processor(), runtime.NumCPU(), kernel()),
		fmt.Sprintf("Levee and net/http built with %s", runtime.Version()),
	}
	for _, c := range [][]string{{"nginx", "-v"}, {"haproxy", "-v"}} {
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

// method says how they were taken.
func method(o *options) []string {
	return []string{
		fmt.Sprintf("each server alone on one core, the load on another: %d connections over loopback, %d keys drawn evenly, POST /attempt with X-Resource, X-Prefix, X-Method and X-Req-Id, closed loop", connections, keys),
		fmt.Sprintf("%d interleaved rounds of %v s on each server after %v to warm up; medians; ratios are taken within a round", o.rounds, o.seconds, warm),
		"every attempt is accepted; before, each server has been seen to refuse",
		"CPU time is the servers' own, user and kernel, from /proc; a figure is fair where the server's core is busy and the load's is not",
	}
}
