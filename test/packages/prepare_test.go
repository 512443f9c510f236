package packages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/levee-project/levee/test/harness"
	"github.com/levee-project/levee/test/lab"
)

func TestMain(m *testing.M) { lab.Main(m, prepare) }

// The versions that are built.
const (
	oldVersion = "0.1.0"
	newVersion = "0.2.0"
)

// names are the packages with a program, and withoutProgram the one that has none, and
// so is the same for all architectures.
var names = []string{"levee-limiter", "levee-observer", "levee-client-proxy", "leveectl"}

const withoutProgram = "levee-vrrp"

// built is the directory of what prepare built under a name.
func built(name string) string { return filepath.Join(lab.Work(), name) }

// prepare builds packages and repositories, all from one copy of the sources.
func prepare() error {
	began := time.Now()
	root, err := harness.Root()
	if err != nil {
		return err
	}
	if err := otherDefaults(filepath.Join(root, "configs", "packaged"), built("configs")); err != nil {
		return err
	}
	commit, err := lab.Commit(root)
	if err != nil {
		return err
	}
	steps := []struct {
		env    []string
		script string
	}{
		{nil, `mkdir -p sources/.cache "$1/.cache/bin" && ln -s "$1/.cache/bin" sources/.cache/bin
			cp -a "$1"/{cmd,configs,internal,keepalived,packaging,systemd,CHANGELOG.md,LICENSE,go.mod,go.sum} sources && cp -a sources elsewhere`},
		{nil, `sources/packaging/build.sh ` + oldVersion + ` first`},
		{[]string{"TZ=Asia/Tokyo", "LANG=C.UTF-8"}, `umask 077; elsewhere/packaging/build.sh ` + oldVersion + ` again`},
		{[]string{"ARCHITECTURES=" + runtime.GOARCH, "CONFIGS=" + built("configs")}, `sources/packaging/build.sh ` + newVersion + ` second`},
		{[]string{"REPO_URL=file://" + built("repo")}, `mkdir both; cp first/* second/* both; sources/packaging/repo.sh both repo`},
		{nil, `sources/.cache/bin/nfpm package -f "$2" -p rpm -t stub.rpm`},
	}
	stub, err := filepath.Abs("testdata/distribution.yaml")
	if err != nil {
		return err
	}
	for _, s := range steps {
		env := append(slices.Clone(commit), s.env...)
		if _, err := lab.Step(lab.Work(), env, s.script, root, stub); err != nil {
			return err
		}
	}
	fmt.Fprintf(os.Stderr, "packages: built in %v\n", time.Since(began).Round(time.Second))
	return nil
}

// otherDefaults copies the installed configuration, with a line more in each
// file, as a later version has it.
func otherDefaults(from, to string) error {
	files, err := filepath.Glob(filepath.Join(from, "*.yaml"))
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		text = append(text, "\n# New in this version.\n"...)
		if err := os.WriteFile(filepath.Join(to, filepath.Base(file)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// output runs a command on the host and returns what it wrote to stdout.
func output(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}

// file is the path of the only file in a directory that matches.
func file(t testing.TB, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: found %v, error %v", pattern, found, err)
	}
	return found[0]
}
