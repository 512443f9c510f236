package ctl

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/levee-project/levee/internal/ctl/load"
)

// showProgress has a load tell every second what it does, if a person watches:
// on one line, which end takes away.
func (t *tool) showProgress(p *load.Plan) (end func()) {
	f, ok := t.notes.(*os.File)
	if !ok || !isTerminal(f) {
		return func() {}
	}
	var last load.Part
	p.Progress = func(at time.Duration, sofar *load.Tally) {
		now := load.Part{Took: at, Answers: sofar.Answers(), Accepted: sofar.Accepted}
		_, _ = fmt.Fprintf(f, "\r\x1b[K%.0f of %.0f s: %s", at.Seconds(), p.Duration.Seconds(), progress(last, now, sofar))
		last = now
	}
	return func() { _, _ = fmt.Fprint(f, "\r\x1b[K") }
}

// progress is what happened from one moment to another.
func progress(from, to load.Part, sofar *load.Tally) string {
	seconds := (to.Took - from.Took).Seconds()
	text := fmt.Sprintf("%.0f/s, %.0f/s accepted, p99 %s", float64(to.Answers-from.Answers)/seconds,
		float64(to.Accepted-from.Accepted)/seconds, shortTime(sofar.Times.Quantile(.99)))
	if sofar.Lost > 0 {
		text += fmt.Sprintf(", %d without an answer", sofar.Lost)
	}
	return text
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
