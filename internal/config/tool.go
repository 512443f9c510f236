package config

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/pflag"
)

// ToolFile is the file that leveectl reads where no other is named, if it is
// there.
const ToolFile = "/etc/levee/leveectl.yaml"

// Tool is the configuration of leveectl.
type Tool struct {
	// Storage is where the shared configuration is. Addrs may be empty: not every
	// command needs it.
	Storage Storage
	// Timeout bounds each wait for an answer.
	Timeout time.Duration
	// Output is the form of what is printed.
	Output Output
	// AttemptAddr is the limiter or client-proxy that attempts are sent to,
	// host:port.
	AttemptAddr string
}

// Output is the form of what leveectl prints.
type Output string

// The forms of output.
const (
	OutputTable Output = "table"
	OutputJSON  Output = "json"
	OutputYAML  Output = "yaml"
)

func (t *Tool) define(s *set) {
	s.group("Tool")
	define(s, "timeout", &t.Timeout, 5*time.Second, duration(time.Millisecond), restart,
		"Time to wait for each answer of etcd, a limiter or an observer.")
	define(s, "output", &t.Output, OutputTable, oneOf(OutputTable, OutputJSON, OutputYAML), restart,
		"Form of what is printed: table, json or yaml.")
	define(s, "attempt-addr", &t.AttemptAddr, "127.0.0.1:5454", serverAddress(), restart,
		"Limiter or client-proxy to send attempts to, host:port.")
	t.Storage.defineAccess(s)
}

// serverAddress is where a server can be reached.
func serverAddress() kind[string] {
	return words("HOST:PORT", "host:port such as 127.0.0.1:5454", dialable)
}

func (t *Tool) resolve() {}

func (t *Tool) combinations(s *set) {
	if len(t.Storage.Addrs) > 0 {
		t.Storage.combinations(s, "")
	}
}

func defineToolFile(s *set, file *string) {
	define(s, "config", file, ToolFile, path(), notInFile,
		`YAML file with options, each a line such as "output: json". Empty = none; the default may be missing.`)
}

// ToolOptions are the options of leveectl as flags, for a command line that has
// commands too.
type ToolOptions struct {
	flags *pflag.FlagSet
	given []given // as the command line has them
	seen  map[string]bool
}

// NewToolOptions returns the options, none of them given.
func NewToolOptions() *ToolOptions {
	o := &ToolOptions{seen: map[string]bool{}}
	s := newToolSet(new(Tool), new(string))
	o.flags = s.flags
	o.flags.VisitAll(func(f *pflag.Flag) { f.Value = &noted{f.Value.(setting), f.Name, o} })
	return o
}

func newToolSet(t *Tool, file *string) *set {
	s := newSet(toolBinary)
	defineToolFile(s, file)
	t.define(s)
	return s
}

// noted is a flag that is written down as it comes, and understood by Load:
// the sources under the command line have to be applied first.
type noted struct {
	setting
	name    string
	options *ToolOptions
}

// Set writes down one occurrence of the flag.
func (n *noted) Set(text string) error {
	o := n.options
	o.given = append(o.given, given{name: n.name, value: text, where: spellFlag(n.name), more: o.seen[n.name]})
	o.seen[n.name] = true
	return nil
}

// Flags returns the flags, to be parsed before Load.
func (o *ToolOptions) Flags() *pflag.FlagSet { return o.flags }

// Load reads file and environment, as os.Environ gives it, and applies the
// flags over them. The error joins everything that is wrong, one *Error a line,
// and matches ErrInvalid.
func (o *ToolOptions) Load(env []string) (*Tool, error) {
	t, file := new(Tool), ""
	s := newToolSet(t, &file)
	variables := s.readEnviron(env)
	aboutRun := func(f *pflag.Flag) bool { return f.Name == "config" }
	s.apply(variables, aboutRun)
	s.apply(o.given, aboutRun)
	if file != "" && (s.from["config"] != "" || exists(file)) {
		s.applyFile(file)
	}
	others := func(f *pflag.Flag) bool { return !aboutRun(f) }
	s.apply(variables, others)
	s.apply(o.given, others)
	if err := s.err(); err != nil {
		return nil, err
	}
	return t, s.validate(t)
}

// exists says whether there is a file, readable or not.
func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
