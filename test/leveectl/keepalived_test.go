package leveectl

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/levee-project/levee/test/harness"
)

// checkConf has keepalived itself check a configuration, in a network namespace with
// the interfaces that the examples name, and returns its report, empty if it finds
// no fault. Its exit status is not to be relied on.
func checkConf(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keepalived.conf")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	const script = `set -e
ip link add eth0 type veth peer name peer0
ip link add bond0.100 type veth peer name peer1
keepalived --config-test --use-file "$1" && echo checked || echo checked`
	out, err := exec.CommandContext(ctx, "unshare", "--net", "sh", "-c", script, "sh", path).CombinedOutput()
	report, checked := strings.CutSuffix(strings.TrimSpace(string(out)), "checked")
	if err != nil || !checked {
		t.Fatalf("keepalived --config-test: %v\n%s", err, out)
	}
	return strings.TrimSpace(report)
}

// program is a copy of leveectl where only root can change it, as keepalived wants
// of what it runs.
func program(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("this test makes a network namespace, and needs root for that")
	}
	dir, err := os.MkdirTemp("/run", "levee-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(harness.Binary(t, "leveectl"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "leveectl")
	if err := os.WriteFile(path, text, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestKeepalivedTakesWhatIsRendered has each example rendered by the binary and
// checked by keepalived.
func TestKeepalivedTakesWhatIsRendered(t *testing.T) {
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Glob(filepath.Join(root, "keepalived", "testdata", "*.yaml"))
	if err != nil || len(examples) == 0 {
		t.Fatal("no examples", err)
	}
	leveectl := program(t)
	for _, example := range examples {
		out, err := exec.CommandContext(t.Context(), leveectl, "keepalived", "render", "--file", example, "--program", leveectl).Output()
		if err != nil {
			t.Fatalf("%s: %v", example, err)
		}
		if report := checkConf(t, string(out)); report != "" {
			t.Errorf("%s: keepalived says\n%s\nof\n%s", filepath.Base(example), report, out)
		}
	}
}

// TestKeepalivedSeesFaults: the check above would not pass whatever is rendered.
func TestKeepalivedSeesFaults(t *testing.T) {
	leveectl := program(t)
	good, err := exec.CommandContext(t.Context(), leveectl, "keepalived", "render", "--interface", "eth0", "--address", "10.0.0.1",
		"--peer", "10.0.0.2", "--rank", "1", "--vip", "10.0.0.10/24", "--program", leveectl).Output()
	if err != nil {
		t.Fatal(err)
	}
	bad := strings.Replace(string(good), "nopreempt", "nopremept", 1)
	if report := checkConf(t, bad); !strings.Contains(report, "nopremept") {
		t.Errorf("of a keyword that there is not, keepalived says %q", report)
	}
	if err := os.Chmod(leveectl, 0o777); err != nil {
		t.Fatal(err)
	}
	if report := checkConf(t, string(good)); report == "" {
		t.Error("keepalived would run as root what anybody can change")
	}
}
