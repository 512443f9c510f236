package packages

import (
	"debug/buildinfo"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// maxProgram is how large a program may be, in bytes.
const maxProgram = 25 << 20

// The programs need no library, are small, know their version, and have no part
// of etcd's server in them.
func TestPrograms(t *testing.T) {
	for _, name := range names {
		for _, arch := range []string{"amd64", "arm64"} {
			dir := t.TempDir()
			output(t, "dpkg-deb", "-x", file(t, built("first")+"/"+name+"_*_"+arch+".deb"), dir)
			path := filepath.Join(dir, "usr", "bin", name)
			checkProgram(t, path)
			if arch == runtime.GOARCH {
				if out := output(t, path, "--version"); !strings.HasPrefix(out, name+" "+oldVersion+" ") {
					t.Errorf("%s --version: %s", name, out)
				}
			}
		}
	}
}

func checkProgram(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxProgram {
		t.Errorf("%s has %d bytes", path, info.Size())
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("%s is not static: %v", path, p.Type)
		}
	}
	build, err := buildinfo.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, dep := range build.Deps {
		if strings.HasPrefix(dep.Path, "go.etcd.io/etcd/server") || strings.HasPrefix(dep.Path, "go.etcd.io/bbolt") {
			t.Errorf("%s has %s in it", path, dep.Path)
		}
	}
}

// The installed defaults are sound, and the shell understands the completions.
func TestDefaults(t *testing.T) {
	for _, name := range names {
		dir := t.TempDir()
		output(t, "dpkg-deb", "-x", file(t, built("first")+"/"+name+"_*_"+runtime.GOARCH+".deb"), dir)
		if daemon, ok := strings.CutPrefix(name, "levee-"); ok {
			output(t, "env", "-i", filepath.Join(dir, "usr/bin", name), "--check-config", "--config", filepath.Join(dir, "etc/levee", daemon+".yaml"))
		}
		output(t, "bash", "-n", filepath.Join(dir, "usr/share/bash-completion/completions", name))
	}
}

// unitScore is the highest exposure that systemd-analyze may find, in tenths.
const unitScore = "15"

// The sandbox is a tight one.
func TestSandbox(t *testing.T) {
	units, err := filepath.Glob("../../systemd/*.service")
	if err != nil || len(units) != 4 {
		t.Fatalf("found %v, error %v", units, err)
	}
	for _, unit := range units {
		out, err := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--no-pager", "--offline=true", "--threshold="+unitScore, unit).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", unit, err, out)
		}
	}
}
