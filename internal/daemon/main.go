package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Main is a program's whole main function: it calls run with the command-line
// arguments, prints the error, one line each when errors were joined, as
// "name: error" to stderr, and ends the process.
//
// The exit code is 0 without an error, else what an ExitCode() int method in the
// error's chain says (78, EX_CONFIG of sysexits.h, for a configuration that
// cannot work: systemd can be told not to restart on it), else 1.
func Main(name string, run func(ctx context.Context, args []string) error) {
	err := run(context.Background(), os.Args[1:])
	reported := make(chan struct{})
	go func() {
		defer close(reported)
		report(os.Stderr, name, err)
	}()
	within(reportTime, reported)
	os.Exit(exitCode(err))
}

// reportTime is how long the end of the process waits for a stderr that takes
// nothing.
const reportTime = time.Second

// report prints err to w, each of its lines after the program's name. Joined
// errors are one line each already.
func report(w io.Writer, name string, err error) {
	if err == nil {
		return
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			_, _ = fmt.Fprintf(w, "%s: %s\n", name, line) // nowhere is left to report that
		}
	}
}

// exitCode is the exit code that err asks for. A code that a process cannot
// end with, or that would say that all is well, becomes 1.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	var coder interface{ ExitCode() int }
	if errors.As(err, &coder) {
		if code := coder.ExitCode(); code > 0 && code < 256 {
			return code
		}
	}
	return 1
}
