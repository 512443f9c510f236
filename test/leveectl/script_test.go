package leveectl

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/levee-project/levee/internal/storage/file"
	"github.com/levee-project/levee/test/etcdtest"
	"github.com/levee-project/levee/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// wait bounds what a test waits for beside a script.
const wait = 30 * time.Second

// setup gives a script the tool, and no options but those that it sets.
func setup(t *testing.T, more func(env *testscript.Env) error) func(env *testscript.Env) error {
	bin := filepath.Dir(harness.Binary(t, "leveectl"))
	return func(env *testscript.Env) error {
		env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
		env.Setenv("LEVEE_CONFIG", filepath.Join(env.WorkDir, "leveectl.yaml"))
		config := filepath.Join(env.WorkDir, "leveectl.yaml")
		if _, err := os.Stat(config); errors.Is(err, fs.ErrNotExist) {
			if err := os.WriteFile(config, nil, 0o600); err != nil {
				return err
			}
		}
		return more(env)
	}
}

func run(t *testing.T, dir string, prepare func(env *testscript.Env) error, cmds map[string]func(*testscript.TestScript, bool, []string)) {
	t.Helper()
	all := map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "waitfor": waitFor}
	for name, cmd := range cmds {
		all[name] = cmd
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", dir), Setup: setup(t, prepare), Cmds: all,
		UpdateScripts: os.Getenv("LEVEE_TEST_UPDATE") != "",
	})
}

// exits runs a command and wants an exit code. What goes wrong is told in lines
// that name the program.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	switch err := ts.Exec(args[1], args[2:]...); {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
	for line := range strings.Lines(ts.ReadFile("stderr")) {
		if !strings.HasPrefix(line, "leveectl: ") {
			ts.Fatalf("the line on stderr does not say where it comes from: %s", line)
		}
	}
}

// waitFor waits until a file has a line that matches.
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(wait)
	for {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && pattern.Match(text) {
			return
		}
		select {
		case <-late:
			ts.Fatalf("no line of %s matches %s within %v:\n%s", args[0], args[1], wait, text)
		case <-tick.C:
		}
	}
}

// TestAlone has what needs no store.
func TestAlone(t *testing.T) {
	run(t, "alone", func(*testscript.Env) error { return nil }, nil)
}

// onFile gives each script an empty storage file, unless it brings one.
func onFile(env *testscript.Env) error {
	path := filepath.Join(env.WorkDir, "storage.yaml")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return err
		}
	}
	env.Setenv("LEVEE_STORAGE_ADDRS", "file://"+path)
	return nil
}

func rawFile(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	ts.Check(os.WriteFile(ts.MkAbs("storage.yaml"), []byte(text), 0o600))
}

func TestFile(t *testing.T) {
	run(t, "file", onFile, nil)
}

func TestBothOnFile(t *testing.T) {
	run(t, "both", onFile, map[string]func(*testscript.TestScript, bool, []string){"raw": rawFile})
}

// onEtcd gives each script a tree of its own in one server.
func onEtcd(t *testing.T, dir string) {
	s := etcdtest.Start(t, etcdtest.Options{})
	client := s.Client()
	root := func(workDir string) string { return "/" + filepath.Base(workDir) + "/" }
	prepare := func(env *testscript.Env) error {
		env.Setenv("LEVEE_STORAGE_ADDRS", s.Endpoint())
		env.Setenv("LEVEE_STORAGE_PREFIX", strings.TrimSuffix(root(env.WorkDir), "/"))
		return nil
	}
	raw := func(ts *testscript.TestScript, _ bool, args []string) {
		entries, err := file.Parse([]byte(ts.ReadFile(args[0])))
		ts.Check(err)
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		defer cancel()
		prefix := root(ts.Getenv("WORK"))
		_, err = client.Delete(ctx, prefix, clientv3.WithPrefix())
		ts.Check(err)
		for key, value := range entries {
			_, err := client.Put(ctx, prefix+key, value)
			ts.Check(err)
		}
	}
	run(t, dir, prepare, map[string]func(*testscript.TestScript, bool, []string){"raw": raw})
}

func TestBothOnEtcd(t *testing.T) { onEtcd(t, "both") }

func TestEtcd(t *testing.T) { onEtcd(t, "etcd") }

// TestAuth has a server of its own: it changes how one logs in.
func TestAuth(t *testing.T) { onEtcd(t, "auth") }

// TestLimiter has a limiter whose quotas the scripts change.
func TestLimiter(t *testing.T) {
	store := harness.NewFileStore(t, map[string]string{
		"limit/key/one/quota": `{"rate": 0.001, "burst": 0}`, "limit/key/none/quota": `{"rate": 0, "burst": 0}`,
		"limit/key/load/quota": `{"rate": 100, "burst": 20}`, "limit/key_default": `{"rate": 1e6, "burst": 1e6}`,
	})
	l := harness.StartLimiter(t, "--storage-addrs="+store.Addr(), "--response-headers=ratelimit")
	run(t, "limiter", func(env *testscript.Env) error {
		env.Setenv("LEVEE_STORAGE_ADDRS", store.Addr())
		env.Setenv("LEVEE_ATTEMPT_ADDR", l.Addr)
		env.Setenv("ADMIN", l.MetricsAddr)
		env.Setenv("PORT", l.Addr[strings.LastIndex(l.Addr, ":")+1:])
		return nil
	}, nil)
}
