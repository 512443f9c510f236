package config

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// The widths of --help and of the comments in a rendered file, in columns.
const (
	usageWidth   = 100
	commentWidth = 80
)

// usage writes the text of --help.
func (s *set) usage(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, `Usage: %s [--config FILE] [--option VALUE ...]

Each option can be set in the YAML file (listen-addr: VALUE), over it in the environment
(LEVEE_LISTEN_ADDR=VALUE), and over both on the command line. Durations are written 15s, 10m or 1h.
`, s.binary)
	title := ""
	for line := range strings.Lines(s.flags.FlagUsagesWrapped(usageWidth)) {
		if f := s.flagOf(line); f != nil && groupOf(f) != title {
			title = groupOf(f)
			fmt.Fprintf(&b, "\n%s:\n", title)
		}
		b.WriteString(line)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// flagOf returns the flag that a line of the usage text begins to explain, or
// nil. All flags are laid out as one, so that their explanations are aligned.
func (s *set) flagOf(line string) *pflag.Flag {
	name, ok := strings.CutPrefix(line, "      --")
	if !ok {
		return nil
	}
	return s.flags.Lookup(strings.Fields(name)[0])
}

// RenderLimiter writes a configuration file for a limiter in which every option
// is explained and commented out, with its default.
func RenderLimiter(w io.Writer) error { return render(w, limiterBinary, new(Limiter)) }

// RenderObserver writes a configuration file for an observer, as RenderLimiter
// does.
func RenderObserver(w io.Writer) error { return render(w, observerBinary, new(Observer)) }

// RenderClientProxy writes a configuration file for a client-proxy, as
// RenderLimiter does.
func RenderClientProxy(w io.Writer) error { return render(w, proxyBinary, new(ClientProxy)) }

// RenderTool writes a configuration file for leveectl, as RenderLimiter does.
func RenderTool(w io.Writer) error { return render(w, toolBinary, new(Tool)) }

func render(w io.Writer, binary string, p program) error {
	s := newSet(binary)
	p.define(s)
	var b bytes.Buffer
	comment(&b, "Options of "+binary+", each with its default. Remove the # before an option to set it.")
	title := ""
	s.flags.VisitAll(func(f *pflag.Flag) {
		if groupOf(f) != title {
			title = groupOf(f)
			fmt.Fprintf(&b, "\n# --- %s ---\n", title)
		}
		b.WriteByte('\n')
		comment(&b, f.Usage)
		fmt.Fprintf(&b, "#%s: %s\n", f.Name, f.Value.(setting).yaml())
	})
	_, err := w.Write(b.Bytes())
	return err
}

// comment writes text as lines that start with "# ".
func comment(b *bytes.Buffer, text string) {
	line := "#"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > commentWidth {
			fmt.Fprintln(b, line)
			line = "#"
		}
		line += " " + word
	}
	fmt.Fprintln(b, line)
}
