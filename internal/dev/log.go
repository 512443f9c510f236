package dev

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// longestLine is how much of a line without an end is kept, in bytes.
const longestLine = 64 << 10

// mergedLog is the log of all processes: whole lines, each after the name of its
// process.
type mergedLog struct {
	colour bool
	width  int // of the longest name

	mu      sync.Mutex // guards what follows
	out     io.Writer
	colours map[string]int // by name, as SGR numbers
}

// newMergedLog returns a log to out, in colours where that is a terminal and
// NO_COLOR is not set.
func newMergedLog(out io.Writer, width int) *mergedLog {
	l := &mergedLog{out: out, width: width, colours: map[string]int{}}
	if f, ok := out.(*os.File); ok && os.Getenv("NO_COLOR") == "" {
		_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
		l.colour = err == nil
	}
	return l
}

// line writes one line of a process.
func (l *mergedLog) line(name string, text []byte) {
	prefix := fmt.Sprintf("%-*s | ", l.width, name)
	if l.colour {
		prefix = fmt.Sprintf("\x1b[%dm%s\x1b[0m", l.colourOf(name), prefix)
	}
	l.print(fmt.Sprintf("%s%s\n", prefix, text))
}

// colourOf gives each name the next of the six colours that can be read on black
// and on white.
func (l *mergedLog) colourOf(name string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.colours[name] == 0 {
		l.colours[name] = 31 + len(l.colours)%6
	}
	return l.colours[name]
}

// say writes a line of levee-dev's own.
func (l *mergedLog) say(format string, args ...any) {
	l.line("levee-dev", fmt.Appendf(nil, format, args...))
}

// print writes text as it is. That nobody reads it is no reason to stop.
func (l *mergedLog) print(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.WriteString(l.out, text)
}

// lines is what a process writes to: it hands on whole lines.
type lines struct {
	each func(line []byte)
	part []byte // of a line that has no end yet
}

// Write implements io.Writer.
func (w *lines) Write(p []byte) (int, error) {
	w.part = append(w.part, p...)
	for {
		line, rest, ended := bytes.Cut(w.part, []byte("\n"))
		if !ended && len(w.part) < longestLine {
			return len(p), nil
		}
		w.each(line)
		w.part = rest
	}
}

// end hands on what has come without an end.
func (w *lines) end() {
	if len(w.part) > 0 {
		w.each(w.part)
	}
}
