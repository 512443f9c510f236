package docs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// wait bounds each command.
const wait = 60 * time.Second

// rule is what is to be known of a command beside its text.
type rule struct {
	// why it is not run.
	why string
	// instead is what is run: with something in the place of what people fill in.
	instead string
	// code is what it ends with.
	code int
	// says is part of what it prints.
	says string
	// daemons is how many of a program that goes on are started. They run to the end
	// of the test.
	daemons int
	// before is done before; it may change the rule.
	before func()
}

// daemon is one that goes on.
type daemon struct {
	*harness.Process
	id string // instance-id
}

// session is the shell in which a document is followed.
type session struct {
	t     *testing.T
	dir   string // the work directory, and the root of /etc and /var
	net   string // the first three parts of all addresses
	hosts int    // how many have been given
	env   []string
	last  map[string]*daemon // that was started, by program
	rules map[string]rule
	used  map[string]bool
	real  *strings.Replacer // from what documents say to what is
}

// newSession returns one with an empty work directory, in which leveectl works on a
// store and asks at an address. replace has pairs of what documents say and what
// stands for it here.
func newSession(t *testing.T, rules map[string]rule, store, addr string, replace ...string) *session {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "etc/levee"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := &session{
		t: t, dir: dir, net: fmt.Sprintf("127.%d.%d.", 1+rand.IntN(254), rand.IntN(256)), hosts: 10,
		rules: rules, used: map[string]bool{}, last: map[string]*daemon{},
	}
	bin := filepath.Dir(harness.Binary(t, "leveectl"))
	s.env = []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + dir}
	s.real = strings.NewReplacer(append(replace, "/etc/levee", dir+"/etc/levee", "10.0.0.", s.net)...)
	s.write("leveectl.yaml", fmt.Sprintf("storage-addrs: [%q]\nattempt-addr: %q\n", store, s.real.Replace(addr)))
	return s
}

// write writes a file below the root.
func (s *session) write(path, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, path), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// put writes a file of the repository, with what is real in it, below the root.
func (s *session) put(from, to string) {
	s.t.Helper()
	s.write(to, s.real.Replace(read(s.t, from)))
}

// follow runs commands, and fails the test where one does not do what it should.
func (s *session) follow(list []command) {
	s.t.Helper()
	var exports []string
	block := 0
	for _, c := range list {
		if c.block != block {
			exports, block = nil, c.block
		}
		r := s.rules[c.text]
		s.used[c.text] = true
		switch {
		case r.why != "":
			s.t.Logf("not run: %s: %s", c.text, r.why)
			continue
		case strings.HasPrefix(c.text, "export "):
			exports = append(exports, s.real.Replace(c.text))
			continue
		}
		if r.before != nil {
			r.before()
			r = s.rules[c.text]
		}
		text := c.text
		if r.instead != "" {
			text = r.instead
		}
		text = s.real.Replace(text)
		if r.daemons > 0 {
			for range r.daemons {
				s.start(text)
			}
			continue
		}
		s.run(c, strings.Join(append(exports, text), "\n"), r)
	}
}

// finish fails the test if a rule was for nothing.
func (s *session) finish() {
	s.t.Helper()
	for text := range s.rules {
		if !s.used[text] {
			s.t.Errorf("there is a rule for %q, which no document has", text)
		}
	}
}

func (s *session) run(c command, script string, r rule) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), wait)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-euc", script)
	cmd.Dir, cmd.Env = s.dir, append([]string{"LEVEE_CONFIG=" + filepath.Join(s.dir, "leveectl.yaml")}, s.env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second // for what the shell has left behind
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatalf("%s: %v", c.text, err)
	}
	if code := cmd.ProcessState.ExitCode(); code != r.code || !strings.Contains(out.String(), r.says) {
		s.t.Errorf("%s (run as %s): exit code %d, want %d, and to print %q:\n%s", c.text, script, code, r.code, r.says, &out)
	}
}

// start starts a daemon at an address of its own, and waits until it is ready. What
// makes it another than those on the same machine goes over its file.
func (s *session) start(text string) {
	s.t.Helper()
	words := strings.Fields(text)
	s.hosts++
	host := fmt.Sprint(s.net, s.hosts)
	metrics := net.JoinHostPort(host, "9454")
	var args []string
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") && !filepath.IsAbs(w) {
			w = filepath.Join(s.dir, w)
		}
		args = append(args, w)
	}
	id := fmt.Sprintf("%s-%d", words[0], s.hosts)
	s.last[words[0]] = &daemon{id: id, Process: harness.Start(s.t, harness.Command{
		Binary: words[0], Args: args,
		Env: append([]string{
			"LEVEE_INSTANCE_ID=" + id, "LEVEE_METRICS_ADDR=" + metrics, "LEVEE_HTTP_ADDR=",
			"LEVEE_LISTEN_ADDR=" + net.JoinHostPort(host, "5454"), "LEVEE_GOSSIP_ADDR=" + net.JoinHostPort(host, "7373"),
			"LEVEE_STORAGE_CACHE=", "LEVEE_STATE_FILE=",
		}, s.env...),
	})}
	harness.Eventually(s.t, wait, text+" is ready", func() bool { return ready(s.t, metrics) })
}

// ready asks a daemon.
func ready(t *testing.T, metrics string) bool {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+metrics+"/readyz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}
