package ansible

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
)

// playTime bounds one run of a playbook.
const playTime = 15 * time.Minute

// run is what came of a run of a playbook.
type run struct {
	// output is all that it printed.
	output string
	// ok is whether it succeeded.
	ok bool
	// hosts has the counts of each host.
	hosts map[string]counts
}

// counts are those of a host in the recap, by name: ok, changed, failed...
type counts map[string]int

// try runs a playbook of the collection.
func (s *site) try(t testing.TB, playbook string, args ...string) run {
	t.Helper()
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), playTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ansible-playbook", append([]string{"-i", s.write(t), playbook}, args...)...)
	cmd.Dir = filepath.Join(root, "ansible")
	cmd.Env = append(os.Environ(), controller...)
	cmd.WaitDelay = 10 * time.Second // for what it has started
	began := time.Now()
	out, err := cmd.CombinedOutput()
	r := run{output: string(out), ok: err == nil, hosts: recap(string(out))}
	t.Logf("%s took %v, and %v of a processor for the controller", strings.Join(append([]string{playbook}, args...), " "),
		time.Since(began).Round(time.Second), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(time.Second))
	return r
}

// play is try for runs that must succeed.
func (s *site) play(t testing.TB, playbook string, args ...string) run {
	t.Helper()
	r := s.try(t, playbook, args...)
	if !r.ok {
		t.Fatalf("%s has failed:\n%s", playbook, r.output)
	}
	return r
}

// controller is the environment of ansible-playbook: nothing of it is kept, and
// machines may change their keys.
var controller = []string{
	"ANSIBLE_HOME=" + home, "ANSIBLE_LOCAL_TEMP=" + home + "/tmp", "ANSIBLE_SSH_CONTROL_PATH_DIR=" + home + "/cp",
	"ANSIBLE_HOST_KEY_CHECKING=False", "ANSIBLE_SSH_COMMON_ARGS=-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR",
	"ANSIBLE_NOCOLOR=1", "ANSIBLE_FORCE_COLOR=0", "ANSIBLE_RETRY_FILES_ENABLED=0", "LC_ALL=C.UTF-8",
}

// home is in /run, which the tests have for themselves: the paths of sockets are
// short.
const home = "/run/ansible"

var hostLine = regexp.MustCompile(`(?m)^(\S+)\s+: (ok=\d+ .*)$`)

// recap reads the lines at the end of a run.
func recap(output string) map[string]counts {
	hosts := map[string]counts{}
	_, lines, _ := strings.Cut(output, "PLAY RECAP")
	for _, line := range hostLine.FindAllStringSubmatch(lines, -1) {
		c := counts{}
		for _, field := range strings.Fields(line[2]) {
			name, value, _ := strings.Cut(field, "=")
			c[name], _ = strconv.Atoi(value)
		}
		hosts[line[1]] = c
	}
	return hosts
}

// wantUnchanged fails the test if the run has changed something, or has skipped a
// host.
func (r run) wantUnchanged(t testing.TB, hosts int) {
	t.Helper()
	n := 0
	for host, c := range r.hosts {
		if c["changed"] > 0 || c["failed"] > 0 || c["unreachable"] > 0 {
			t.Errorf("%s: %v\n%s", host, c, changes(r.output))
		}
		if host != "localhost" {
			n++
		}
	}
	if n != hosts {
		t.Errorf("the run was about %d hosts, want %d", n, hosts)
	}
}

// changes are the tasks of a run that changed something.
func changes(output string) string {
	var b strings.Builder
	task := ""
	for line := range strings.Lines(output) {
		switch {
		case strings.HasPrefix(line, "TASK ["), strings.HasPrefix(line, "RUNNING HANDLER ["):
			task = line
		case strings.HasPrefix(line, "changed: "), strings.HasPrefix(line, "fatal: "):
			b.WriteString(task + "    " + line)
		}
	}
	return b.String()
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
