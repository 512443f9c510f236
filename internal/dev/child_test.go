package dev

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// buffer is a writer that can be read meanwhile.
type buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// waitFor waits until the log has a text.
func (b *buffer) waitFor(t *testing.T, text string) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(b.String(), text); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("no %q in the log:\n%s", text, b)
		}
	}
}

// script keeps a script of the shell running until stop, which returns when it
// has ended.
func script(t *testing.T, restart time.Duration, text string) (log *buffer, deaths *int, stop func()) {
	t.Helper()
	log, deaths = &buffer{}, new(int)
	c := &child{
		process: &process{name: "script", args: []string{"-c", text}}, path: "/bin/sh",
		log: newMergedLog(log, 6), restart: restart, died: func(error) { *deaths++ },
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { c.keep(ctx, context.WithoutCancel(ctx)) })
	stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(stop)
	return log, deaths, stop
}

func TestKeepRestarts(t *testing.T) {
	log, deaths, stop := script(t, time.Millisecond, `echo started; echo "to stderr" >&2; printf unended; exit 3`)
	log.waitFor(t, "script runs again")
	stop()
	const life = "script | started\nscript | to stderr\nscript | unended\n" +
		"levee-dev | script has ended by itself: exit status 3; it is started again in 1ms\n"
	if got := log.String(); !strings.HasPrefix(got, life) || *deaths == 0 {
		t.Errorf("%d deaths, log:\n%s", *deaths, got)
	}
}

func TestKeepGivesUp(t *testing.T) {
	for _, c := range []struct {
		restart time.Duration
		code    int
	}{{0, 0}, {time.Millisecond, configCode}} {
		log, deaths, stop := script(t, c.restart, fmt.Sprintf("exit %d", c.code))
		log.waitFor(t, fmt.Sprintf("exit status %d; it is not started again", c.code))
		stop()
		if strings.Contains(log.String(), "runs again") || *deaths != 1 {
			t.Errorf("%+v: %d deaths, log:\n%s", c, *deaths, log)
		}
	}
}

// A stop is waited for, also when the process had been halted, and is no death.
func TestKeepStops(t *testing.T) {
	log, deaths, stop := script(t, time.Millisecond, `trap 'echo ending; exit 0' TERM; echo started; kill -STOP $$; while :; do sleep 0.01; done`)
	log.waitFor(t, "started")
	stop()
	if got := log.String(); got != "script | started\nscript | ending\n" || *deaths != 0 {
		t.Errorf("%d deaths, log:\n%s", *deaths, got)
	}
}

func TestLongLinesAreCut(t *testing.T) {
	var got []int
	w := &lines{each: func(line []byte) { got = append(got, len(line)) }}
	for range 3 {
		if _, err := w.Write(make([]byte, longestLine/2)); err != nil {
			t.Fatal(err)
		}
	}
	w.end()
	if len(got) != 2 || got[0] != longestLine || got[1] != longestLine/2 {
		t.Errorf("lines of %v bytes", got)
	}
}

func TestColours(t *testing.T) {
	log := &buffer{}
	l := newMergedLog(log, 2)
	l.colour = true
	l.line("a", []byte("1"))
	l.line("b", []byte("2"))
	l.line("a", []byte("3"))
	const want = "\x1b[31ma  | \x1b[0m1\n\x1b[32mb  | \x1b[0m2\n\x1b[31ma  | \x1b[0m3\n"
	if log.String() != want {
		t.Errorf("got %q", log)
	}
}
