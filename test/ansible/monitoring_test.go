package ansible

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/levee-project/levee/test/harness"
)

// A host that only watches, which this one stands for, gets what Prometheus needs:
// all of the inventory as targets, under the names of jobs that the rules know.
// Nothing else is put there, and a second run changes nothing.
func TestMonitoring(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	inventory, err := os.ReadFile(filepath.Join(collection(t), "inventories", "small", "hosts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	hosts := write("hosts.yml", string(inventory)+`
    levee_monitoring:
      hosts:
        watcher: {ansible_connection: local, ansible_host: 127.0.0.1}
`)
	play := write("watch.yml", `
- hosts: levee_monitoring
  gather_facts: false
  vars:
    levee_monitoring_rules_dir: `+dir+`/rules
    levee_monitoring_targets_dir: `+dir+`/targets
    levee_monitoring_dashboards_dir: `+dir+`/dashboards
    levee_monitoring_reload: ""
  roles: [levee_monitoring]
`)
	if out := playHere(t, hosts, play); !strings.Contains(out, "changed=3 ") {
		t.Errorf("the first run says\n%s", out)
	}
	if out := playHere(t, hosts, play); !strings.Contains(out, "changed=0 ") {
		t.Errorf("the second run says\n%s", out)
	}

	text, err := os.ReadFile(filepath.Join(dir, "targets", "levee.json"))
	if err != nil {
		t.Fatal(err)
	}
	var targets []struct {
		Targets []string
		Labels  map[string]string
	}
	if err := json.Unmarshal(text, &targets); err != nil {
		t.Fatal(err)
	}
	jobs := map[string]int{}
	for _, group := range targets {
		jobs[group.Labels["job"]] = len(group.Targets)
	}
	for _, job := range []string{"levee-limiter", "levee-observer", "levee-client-proxy", "levee-etcd"} {
		if jobs[job] != 3 {
			t.Errorf("%d targets of the job %s, want 3: %s", jobs[job], job, text)
		}
	}
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	for copied, original := range map[string]string{
		"rules/levee.rules.yml": "configs/prometheus/levee.rules.yml", "dashboards/levee.json": "configs/grafana/levee.json",
	} {
		got, err := os.ReadFile(filepath.Join(dir, copied))
		if err != nil {
			t.Error(err)
		}
		want, err := os.ReadFile(filepath.Join(root, original))
		if err != nil {
			t.Error(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s is not %s", copied, original)
		}
	}
}

// playHere runs a playbook that knows only this host, with the roles of the
// collection, and returns what it says.
func playHere(t *testing.T, inventory, playbook string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), lintTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ansible-playbook", "-i", inventory, playbook)
	cmd.Dir = collection(t)
	cmd.Env = append(os.Environ(), "ANSIBLE_HOME="+t.TempDir(), "LC_ALL=C.UTF-8", "ANSIBLE_NOCOLOR=1",
		"ANSIBLE_ROLES_PATH="+filepath.Join(collection(t), "roles"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}
