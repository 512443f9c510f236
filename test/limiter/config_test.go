package limiter

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

// exitTime bounds a run that only checks.
const exitTime = 10 * time.Second

// exConfig is EX_CONFIG of sysexits.h.
const exConfig = 78

// configFile writes a configuration file.
func configFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "limiter.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs the limiter to its end and returns its exit code and what it said.
func run(t *testing.T, env []string, args ...string) (code int, said string) {
	t.Helper()
	p := harness.Start(t, harness.Command{Binary: "levee-limiter", Args: args, Env: env})
	code = p.WaitExit(t, exitTime)
	for _, l := range p.Log() {
		said += l.Raw + "\n"
	}
	return code, said
}

// goodFile is a configuration that works.
const goodFile = "standalone: true\nstorage-addrs: [\"file:///etc/levee/storage.yaml\"]\n"

// A wrong configuration stops the start, with a line that says where it is wrong
// and what was meant.
func TestWrongConfiguration(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file string // after goodFile, so on line 3
		env  []string
		args []string
		says []string // in one line
	}{
		"unknown key in the file":   {file: "gc-perod: 1h\n", says: []string{"limiter.yaml:3", "gc-perod", "gc-period"}},
		"key of another daemon":     {file: "observer-name: obs-1\n", says: []string{"limiter.yaml:3", "observer-name"}},
		"underscore for dash":       {file: "listen_addr: 127.0.0.1:0\n", says: []string{"limiter.yaml:3", "listen_addr", "listen-addr"}},
		"number expected":           {file: "gc-max-keys: many\n", says: []string{"limiter.yaml:3", "gc-max-keys", "many"}},
		"negative number":           {file: "gc-max-keys: -1\n", says: []string{"limiter.yaml:3", "gc-max-keys", "-1"}},
		"duration without a unit":   {file: "gc-period: 15\n", says: []string{"limiter.yaml:3", "gc-period", "15"}},
		"switch expected":           {file: "verbose: loud\n", says: []string{"limiter.yaml:3", "verbose", "loud"}},
		"list expected":             {file: "listen-addr: [a, b]\n", says: []string{"limiter.yaml:3", "listen-addr"}},
		"key twice":                 {file: "verbose: true\nverbose: true\n", says: []string{"limiter.yaml:4", "verbose"}},
		"no YAML":                   {file: "verbose: {\n", says: []string{"limiter.yaml"}},
		"word that is none":         {file: "on-partition: sometimes\n", says: []string{"limiter.yaml:3", "on-partition", "available"}},
		"address without a port":    {file: "listen-addr: 127.0.0.1\n", says: []string{"limiter.yaml:3", "listen-addr", "127.0.0.1"}},
		"bad environment value":     {env: []string{"LEVEE_GC_MAX_KEYS=many"}, says: []string{"LEVEE_GC_MAX_KEYS", "many"}},
		"unknown variable":          {env: []string{"LEVEE_LISTEN_ADR=127.0.0.1:0"}, says: []string{"LEVEE_LISTEN_ADR", "LEVEE_LISTEN_ADDR"}},
		"unknown option":            {args: []string{"--listen-adr=127.0.0.1:0"}, says: []string{"--listen-adr", "--listen-addr"}},
		"bad option value":          {args: []string{"--gc-period=often"}, says: []string{"--gc-period", "often"}},
		"file store in a cluster":   {args: []string{"--standalone=false", "--gossip-addr=127.0.0.1:7373"}, says: []string{"storage-addrs", "standalone"}},
		"cluster without an addr":   {args: []string{"--standalone=false", "--storage-addrs=http://127.0.0.1:2379"}, says: []string{"gossip-addr"}},
		"stores of two kinds":       {args: []string{"--storage-addrs=http://127.0.0.1:2379,file:///x.yaml"}, says: []string{"storage-addrs"}},
		"user without a password":   {args: []string{"--storage-addrs=http://127.0.0.1:2379", "--storage-username=levee"}, says: []string{"storage-username", "storage-password-file"}},
		"bound below the collector": {args: []string{"--max-keys=10", "--gc-max-keys=10"}, says: []string{"max-keys", "gc-max-keys"}},
		"store of an unknown kind":  {args: []string{"--storage-addrs=redis://127.0.0.1:6379"}, says: []string{"storage-addrs", "redis"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"--config=" + configFile(t, goodFile+c.file)}, c.args...)
			for _, more := range [][]string{nil, {"--check-config"}} {
				code, said := run(t, c.env, append(args, more...)...)
				if code != exConfig || !sayIn(said, c.says) {
					t.Errorf("%v: exit code %d, want %d and a line with %q; it said\n%s", more, code, exConfig, c.says, said)
				}
			}
		})
	}
}

// sayIn reports whether one line, in the form of errors, has all the words.
func sayIn(said string, words []string) bool {
	for line := range strings.Lines(said) {
		if strings.HasPrefix(line, "levee-limiter: ") && (harness.Line{Raw: line}).Mentions(words...) {
			return true
		}
	}
	return false
}

// A file that cannot be read is a wrong configuration, not none.
func TestMissingConfigurationFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "missing.yaml")
	if code, said := run(t, nil, "--config="+path); code != exConfig || !sayIn(said, []string{path}) {
		t.Errorf("exit code %d; it said\n%s", code, said)
	}
}

// All that is wrong is said at once.
func TestAllMistakesAreNamed(t *testing.T) {
	t.Parallel()
	code, said := run(t, []string{"LEVEE_VERBOSE=perhaps"},
		"--config="+configFile(t, "gc-perod: 1h\ngc-max-keys: many\n"), "--gc-collect=x")
	if code != exConfig {
		t.Errorf("exit code %d", code)
	}
	for _, words := range [][]string{{"limiter.yaml:1", "gc-perod"}, {"limiter.yaml:2", "gc-max-keys"}, {"LEVEE_VERBOSE"}, {"--gc-collect"}} {
		if !sayIn(said, words) {
			t.Errorf("nothing about %q in\n%s", words, said)
		}
	}
}

// The manual's own example passes as it is.
func TestManualConfiguration(t *testing.T) {
	t.Parallel()
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, "configs", "manual", "limiter.yaml")
	if code, said := run(t, nil, "--config", file, "--check-config"); code != 0 || strings.Contains(said, "levee-limiter:") {
		t.Errorf("exit code %d; it said\n%s", code, said)
	}
}

// The file goes before the defaults, the environment before the file, and the
// command line before both.
func TestOrderOfSources(t *testing.T) {
	t.Parallel()
	s := harness.NewFileStore(t, nil)
	file := "--config=" + configFile(t, `
listen-addr: "127.0.0.2:0"
metrics-addr: "127.0.0.2:0"
instance-id: from-file
standalone: true
log-format: json
storage-addrs: ["`+s.Addr()+`"]
`)
	env := []string{"LEVEE_LISTEN_ADDR=127.0.0.3:0", "LEVEE_METRICS_ADDR=127.0.0.3:0"}
	for _, c := range []struct {
		env, args        []string
		attempts, metric string
	}{
		{nil, []string{file}, "127.0.0.2", "127.0.0.2"},
		{env[:1], []string{file}, "127.0.0.3", "127.0.0.2"},
		{env, []string{file, "--listen-addr", "127.0.0.4:0"}, "127.0.0.4", "127.0.0.3"},
		{env, []string{"--metrics-addr=127.0.0.4:0", file}, "127.0.0.3", "127.0.0.4"},
	} {
		l := harness.AttachLimiter(t, harness.Command{Args: c.args, Env: c.env})
		l.WaitReady(t)
		if host(t, l.Addr) != c.attempts || host(t, l.MetricsAddr) != c.metric {
			t.Errorf("%v %v: serves attempts at %s and metrics at %s", c.env, c.args, l.Addr, l.MetricsAddr)
		}
		l.Kill()
	}
}

// Addresses are IPv6 as well.
func TestIPv6(t *testing.T) {
	t.Parallel()
	s := harness.NewFileStore(t, entries{keyDefault: fits(1)})
	l := harness.StartLimiter(t, "--listen-addr=[::1]:0", "--metrics-addr=[::1]:0", "--storage-addrs="+s.Addr())
	if host(t, l.Addr) != "::1" || host(t, l.MetricsAddr) != "::1" {
		t.Errorf("serves attempts at %s and metrics at %s", l.Addr, l.MetricsAddr)
	}
	each(t, l, func(t *testing.T, c *harness.Client) { want(t, c.Attempt(t, string(c.Protocol)), 200) })
}

func host(t *testing.T, addr string) string {
	t.Helper()
	h, _, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// SIGHUP reads the file again, applies what can change, and names what needs a
// restart.
func TestReload(t *testing.T) {
	t.Parallel()
	s := harness.NewFileStore(t, entries{keyDefault: fits(1)})
	file := configFile(t, "no-quota: accept\n")
	l := harness.StartLimiter(t, "--config="+file, "--storage-addrs="+s.Addr())
	c := l.Client(t, harness.HTTP1)
	wantAccepted(t, c, 2, 1, "r")
	if got := c.Attempt(t, "r").Header.Get("RateLimit"); got != "" {
		t.Fatalf("RateLimit %q", got)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		l.Signal(t, syscall.SIGHUP)
	}
	write("no-quota: accept\nresponse-headers: ratelimit\ngossip-addr: 127.0.0.1:1\nstate-file: /nowhere/state\n")
	l.WaitLog(t, logTime, "what needs a restart", func(line harness.Line) bool { return line.Mentions("restart", "state-file") })
	harness.Eventually(t, logTime, "the new option is in force", func() bool {
		return c.Attempt(t, "r").Header.Get("RateLimit") != ""
	})

	write("response-headres: none\n") // a file that is wrong changes nothing
	l.WaitLog(t, logTime, "what is wrong with the file", func(line harness.Line) bool { return line.Mentions("response-headres") })
	if got := c.Attempt(t, "r"); got.Header.Get("RateLimit") == "" || got.Status != 429 {
		t.Errorf("got %v", got)
	}
}

// --version and --help are answered, and end well.
func TestVersionAndHelp(t *testing.T) {
	t.Parallel()
	for _, option := range []string{"--version", "--help"} {
		if code, said := run(t, nil, option); code != 0 || said != "" {
			t.Errorf("%s: exit code %d, said %q on stderr", option, code, said)
		}
	}
}
