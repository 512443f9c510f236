package config

import (
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/pflag"
)

var helpers = map[string]func(out io.Writer) (Action, error){
	limiterBinary: func(out io.Writer) (Action, error) {
		_, a, err := LoadLimiter([]string{"--help"}, nil, out)
		return a, err
	},
	observerBinary: func(out io.Writer) (Action, error) {
		_, a, err := LoadObserver([]string{"--help"}, nil, out)
		return a, err
	},
	proxyBinary: func(out io.Writer) (Action, error) {
		_, a, err := LoadClientProxy([]string{"--help"}, nil, out)
		return a, err
	},
}

var renderers = map[string]func(io.Writer) error{
	limiterBinary: RenderLimiter, observerBinary: RenderObserver, proxyBinary: RenderClientProxy,
	toolBinary: RenderTool,
}

func TestHelpExplainsEveryOption(t *testing.T) {
	for binary, help := range helpers {
		var out strings.Builder
		if a, err := help(&out); a != HelpShown || err != nil {
			t.Fatalf("%s: action %d, error %v", binary, a, err)
		}
		text := out.String()
		if !strings.HasPrefix(text, "Usage: "+binary+" ") {
			t.Errorf("%s: --help begins %.40q", binary, text)
		}
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > usageWidth {
				t.Errorf("%s: a line of %d columns: %s", binary, n, line)
			}
		}
		flat := strings.Join(strings.Fields(text), " ")
		fresh(t, binary).flags.VisitAll(func(f *pflag.Flag) {
			entry := "--" + f.Name + " "
			if !isSwitch(f) {
				entry += f.Value.Type() + " "
			}
			if !strings.Contains(flat, entry+f.Usage) {
				t.Errorf("%s: --help has no %q", binary, entry+f.Usage)
			}
			if !strings.Contains(text, "\n"+groupOf(f)+":\n      --") {
				t.Errorf("%s: --help has no group %q", binary, groupOf(f))
			}
		})
	}
}

func isSwitch(f *pflag.Flag) bool { return f.NoOptDefVal != "" }

func TestHelpShowsDefaults(t *testing.T) {
	var out strings.Builder
	if _, err := helpers[limiterBinary](&out); err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"at least 1s. It ends sooner once no attempt has come for 1s. (default 10s)", "(default 0.0.0.0:5454)", "(default retry-after)",
		"(default /levee)", "(default 127.0.0.1:9454)", "(default 1h)", "Empty = the host name.",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("--help does not say %q", want)
		}
	}
}

// The start of the text as a person sees it.
func TestHelpLooks(t *testing.T) {
	var out strings.Builder
	if _, err := helpers[observerBinary](&out); err != nil {
		t.Fatal(err)
	}
	const want = `Usage: levee-observer [--config FILE] [--option VALUE ...]

Each option can be set in the YAML file (listen-addr: VALUE), over it in the environment
(LEVEE_LISTEN_ADDR=VALUE), and over both on the command line. Durations are written 15s, 10m or 1h.

Observer:
      --observer-name NAME           Name under which observer/<NAME> in the shared
                                     configuration holds the addresses to listen on. Empty =
                                     instance-id.
      --http-addr IP:PORT            Address of the console (HTTP, read only). Empty = off.
`
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("got\n%.*s\nwant\n%s", len(want), out.String(), want)
	}
}

// broken is a writer that takes nothing.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestOutputThatFails(t *testing.T) {
	if _, err := helpers[limiterBinary](broken{}); err != io.ErrClosedPipe { //nolint:errorlint // passed on as it is
		t.Errorf("--help: %v", err)
	}
	if err := RenderLimiter(broken{}); err != io.ErrClosedPipe { //nolint:errorlint // passed on as it is
		t.Errorf("RenderLimiter: %v", err)
	}
}

var setting1 = regexp.MustCompile(`(?m)^#([a-z])`)

// A rendered file changes nothing as it is, nor with every line in force: it
// has each option, and each with its default.
func TestRenderedFile(t *testing.T) {
	for binary, render := range renderers {
		var out strings.Builder
		if err := render(&out); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		for line := range strings.Lines(text) {
			if len(line) > commentWidth+1 || line != "\n" && line[0] != '#' {
				t.Errorf("%s: line %q", binary, line)
			}
		}
		s := fresh(t, binary)
		s.applyYAML("rendered", []byte(setting1.ReplaceAllString(text, "$1")))
		if err := s.err(); err != nil {
			t.Errorf("%s: %v", binary, err)
		}
		for _, name := range s.names(true) {
			f := s.flags.Lookup(name)
			if !f.Changed || f.Value.String() != f.DefValue {
				t.Errorf("%s: %s is set: %v, to %q; want %q", binary, name, f.Changed, f.Value, f.DefValue)
			}
		}
		s = fresh(t, binary)
		if s.applyYAML("rendered", []byte(text)); s.err() != nil || len(s.from) != 0 {
			t.Errorf("%s: with all lines commented: %v, set %v", binary, s.err(), s.from)
		}
	}
}

// What yaml spells, setYAML reads.
func TestYAMLSpelling(t *testing.T) {
	for _, in := range []string{"", "a", "true", "5", "null", "~", "a: b", "# a", "[a]", "'", `"`, "2001-01-01", "yes", "a, b", "-", "é", `\n`} {
		s := fresh(t, limiterBinary)
		s.applyYAML("f", []byte("state-file: "+yamlString(in)))
		if got := s.flags.Lookup("state-file").Value.String(); s.err() != nil || got != in {
			t.Errorf("%q, spelled %s, reads back as %q, error %v", in, yamlString(in), got, s.err())
		}
	}
	want := []string{"http://a:1", "file:///a,b"}
	var got []string
	from, to := &list{endpoint(), &want}, &got
	s := newSet("x")
	defineList(s, "l", to, endpoint(), restart, "")
	s.applyYAML("f", []byte("l: "+from.yaml()))
	if s.err() != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s reads back as %q, error %v", from.yaml(), got, s.err())
	}
}
