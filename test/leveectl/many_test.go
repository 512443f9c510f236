package leveectl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/levee-project/levee/test/etcdtest"
	"github.com/levee-project/levee/test/harness"
)

// many is how many entries are applied to etcd.
const many = 100_000

// TestManyEntries applies a large tree, interrupts that, and wants diff to tell
// exactly what is missing, and the next apply to finish.
func TestManyEntries(t *testing.T) {
	s := etcdtest.Start(t, etcdtest.Options{})
	var text bytes.Buffer
	wanted := map[string]string{}
	text.WriteString("limit:\n  key:\n")
	for i := range many {
		fmt.Fprintf(&text, "    r%d: {quota: {rate: %d, burst: 1}}\n", i, i)
		wanted[fmt.Sprintf("limit/key/r%d/quota", i)] = fmt.Sprintf(`{"rate": %d, "burst": 1}`, i)
	}
	tree := filepath.Join(t.TempDir(), "tree.yaml")
	if err := os.WriteFile(tree, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	client := s.Client()
	stored := func() int64 {
		resp, err := client.Get(t.Context(), "/levee/", clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err != nil {
			t.Fatal(err)
		}
		return resp.Count
	}
	tool := func(args ...string) (stdout, stderr string, code int) {
		return execute(t, start(t, s, args...))
	}

	cmd := start(t, s, "apply", "-f", tree)
	harness.Eventually(t, wait, "a part of the entries is written", func() bool { return stored() > 1000 })
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := execute(t, cmd)
	written := stored()
	m := regexp.MustCompile(`^leveectl: interrupted; (\d+) of 100000 changes are made, and the rest is not: .*\n$`).FindStringSubmatch(stderr)
	if code != 1 || m == nil || written >= many {
		t.Fatalf("interrupted: code %d, %d written, %q", code, written, stderr)
	}
	t.Logf("interrupted when %s were confirmed and %d written", m[1], written)

	stdout, _, code := tool("diff", "-f", tree, "--output", "json")
	var steps []struct{ Op, Key, New string }
	if err := json.Unmarshal([]byte(stdout), &steps); err != nil || code != 1 {
		t.Fatalf("diff: code %d, %v", code, err)
	}
	if int64(len(steps)) != many-written {
		t.Errorf("diff has %d steps, %d entries are missing", len(steps), many-written)
	}
	for _, step := range steps {
		if step.Op != "add" || wanted[step.Key] != step.New {
			t.Fatalf("diff has %+v", step)
		}
	}

	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	if _, err := client.Delete(ctx, "/levee/", clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, stderr, code := tool("apply", "-f", tree); code != 0 {
		t.Fatalf("apply: code %d, %s", code, stderr)
	}
	t.Logf("%d entries took %v", many, time.Since(began).Round(10*time.Millisecond))
	if stdout, _, code := tool("diff", "-f", tree); code != 0 {
		t.Errorf("diff afterwards: %.200s", stdout)
	}
}

// start starts the tool on an etcd.
func start(t *testing.T, s *etcdtest.Server, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), harness.Binary(t, "leveectl"), append([]string{"--config="}, args...)...)
	cmd.Env = []string{"LEVEE_STORAGE_ADDRS=" + s.Endpoint()}
	cmd.Stdout, cmd.Stderr = new(strings.Builder), new(strings.Builder)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// execute waits for the tool's end.
func execute(t *testing.T, cmd *exec.Cmd) (stdout, stderr string, code int) {
	t.Helper()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return fmt.Sprint(cmd.Stdout), fmt.Sprint(cmd.Stderr), cmd.ProcessState.ExitCode()
}
