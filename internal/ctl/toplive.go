package ctl

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// live shows the hot keys again and again, until ctx ends: in place on a terminal,
// else one table after the other.
func (p *top) live(ctx context.Context) error {
	s := newScreen(p.out)
	tick := time.NewTicker(p.interval)
	defer tick.Stop()
	for first := true; ; first = false {
		l, err := p.look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && first:
			return err
		}
		if err := s.show(p.frame(l, err)); err != nil {
			return fmt.Errorf("output: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// frame is a table, under what went wrong.
func (p *top) frame(l *look, err error) []byte {
	var b bytes.Buffer
	if err != nil {
		_, _ = fmt.Fprintf(&b, "%s: %s\n", time.Now().Format(time.TimeOnly), oneLine(err)) // a buffer takes everything
		return b.Bytes()
	}
	for _, fault := range l.Faults {
		_, _ = fmt.Fprintln(&b, oneLineText(fault)) // a buffer takes everything
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	l.table(w)
	_ = w.Flush() // a buffer takes everything
	return trimmed(b.Bytes())
}

// screen is where tables are shown.
type screen struct {
	out      io.Writer
	terminal *os.File // nil if it is none
	began    bool
}

func newScreen(out io.Writer) *screen {
	s := &screen{out: out}
	if f, ok := out.(*os.File); ok && isTerminal(f) {
		s.terminal = f
	}
	return s
}

// show replaces what was shown before, on a terminal.
func (s *screen) show(text []byte) error {
	var b bytes.Buffer
	switch {
	case s.terminal != nil:
		if !s.began {
			b.WriteString("\x1b[2J")
		}
		b.WriteString("\x1b[H")
		inPlace(&b, text, sizeOf(s.terminal))
	case s.began:
		b.WriteByte('\n')
		b.Write(text)
	default:
		b.Write(text)
	}
	s.began = true
	_, err := s.out.Write(b.Bytes())
	return err
}

// extent is that of a terminal, in characters.
type extent struct{ rows, columns int }

func sizeOf(f *os.File) extent {
	w, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil || w.Row == 0 || w.Col == 0 {
		return extent{24, 80}
	}
	return extent{int(w.Row), int(w.Col)}
}

// inPlace writes the lines that fit over those that are there, and clears the rest.
// The last row is left for the cursor.
func inPlace(b *bytes.Buffer, text []byte, room extent) {
	n := 0
	for line := range bytes.Lines(text) {
		if n++; n >= room.rows {
			break
		}
		line = bytes.TrimRight(line, "\n")
		for utf8.RuneCount(line) > room.columns {
			_, last := utf8.DecodeLastRune(line)
			line = line[:len(line)-last]
		}
		b.Write(line)
		b.WriteString("\x1b[K\r\n")
	}
	b.WriteString("\x1b[J")
}
