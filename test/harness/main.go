package harness

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// parallel is how many tests run beside each other unless the command line says
// otherwise. They wait far more than they compute, whatever the number of cores.
const parallel = "24"

// buildTime bounds the building of one program, without a warm build cache.
const buildTime = 5 * time.Minute

// binariesVariable names a directory with programs to test instead of building
// them: those of a release, for one.
const binariesVariable = "LEVEE_TEST_BINARIES"

// built has the programs built so far in this run, or why they cannot be.
var built = struct {
	sync.Mutex
	dir      string
	programs map[string]program
}{programs: map[string]program{}}

type program struct {
	path string
	err  error
}

// Main runs the tests of a package and removes what was built for them. It is
// all that a TestMain does.
func Main(m *testing.M) {
	if err := flag.Set("test.parallel", parallel); err != nil {
		panic(err) // not in a test binary
	}
	code := m.Run() // parses the command line, which so goes first
	if built.dir != "" {
		_ = os.RemoveAll(built.dir) // in the system's temporary directory
	}
	os.Exit(code)
}

// Binary returns the path of a program of Levee, "levee-limiter" for one, or of
// "etcd", built the first time that it is asked for. All are in one directory.
func Binary(t testing.TB, name string) string {
	t.Helper()
	if dir := os.Getenv(binariesVariable); dir != "" {
		return filepath.Join(dir, name)
	}
	built.Lock()
	defer built.Unlock()
	p, ok := built.programs[name]
	if !ok {
		p.path, p.err = build(name)
		built.programs[name] = p
	}
	if p.err != nil {
		t.Fatal(p.err)
	}
	return p.path
}

// build builds one program; built is locked.
func build(name string) (string, error) {
	if built.dir == "" {
		dir, err := os.MkdirTemp("", "levee-test-")
		if err != nil {
			return "", fmt.Errorf("directory for binaries: %w", err)
		}
		built.dir = dir
	}
	ctx, cancel := context.WithTimeout(context.Background(), buildTime)
	defer cancel()
	path := filepath.Join(built.dir, name)
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path)
	if name == "etcd" {
		cmd.Args = append(cmd.Args, "go.etcd.io/etcd/server/v3") // a tool of this module
	} else {
		root, err := Root()
		if err != nil {
			return "", err
		}
		cmd.Dir, cmd.Args = root, append(cmd.Args, "./cmd/"+name)
	}
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
	}
	return path, nil
}

// Root is the directory of the product's module.
func Root() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), buildTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/levee-project/levee").Output()
	if err != nil {
		return "", fmt.Errorf("find the product's module: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
