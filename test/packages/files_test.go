package packages

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// updateVariable has the tests write testdata instead of comparing with it.
const updateVariable = "LEVEE_TEST_UPDATE"

// Each package has exactly the files that it is known to have, with their modes
// and owners. What an operator may edit is marked.
func TestFiles(t *testing.T) {
	for _, name := range names {
		for _, arch := range []string{"amd64", "arm64"} {
			golden(t, name+".deb.txt", debFiles(t, file(t, built("first")+"/"+name+"_*_"+arch+".deb")))
		}
		for _, arch := range []string{"x86_64", "aarch64"} {
			golden(t, name+".rpm.txt", rpmFiles(t, file(t, built("first")+"/"+name+"-"+oldVersion+"-*."+arch+".rpm")))
		}
	}
	golden(t, withoutProgram+".deb.txt", debFiles(t, file(t, built("first")+"/"+withoutProgram+"_*_all.deb")))
	golden(t, withoutProgram+".rpm.txt", rpmFiles(t, file(t, built("first")+"/"+withoutProgram+"-"+oldVersion+"-*.noarch.rpm")))
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv(updateVariable) != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%swant\n%sIf it is meant to be so: %s=1", name, got, want, updateVariable)
	}
}

// debFiles lists what dpkg unpacks, without the directories that every system
// has.
func debFiles(t *testing.T, path string) string {
	t.Helper()
	conffiles := strings.Fields(output(t, "dpkg-deb", "-I", path, "conffiles"))
	archive := tar.NewReader(strings.NewReader(output(t, "dpkg-deb", "--fsys-tarfile", path)))
	var lines []string
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		at := strings.TrimSuffix(strings.TrimPrefix(h.Name, "."), "/")
		if h.Typeflag == tar.TypeDir && !strings.Contains(at, "levee") {
			continue
		}
		line := fmt.Sprintf("%v %d:%d %s", h.FileInfo().Mode(), h.Uid, h.Gid, at)
		if slices.Contains(conffiles, at) {
			line += " (configuration)"
		}
		lines = append(lines, line)
	}
	slices.SortFunc(lines, byPath)
	return strings.Join(lines, "\n") + "\n"
}

// rpmFiles lists what rpm unpacks: c is configuration, cn kept as it is at an
// upgrade, d documentation, l a licence.
func rpmFiles(t *testing.T, path string) string {
	t.Helper()
	out := output(t, "rpm", "-qp", "--nosignature", "--qf",
		`[%{FILEMODES:perms} %{FILEUSERNAME}:%{FILEGROUPNAME} %{FILENAMES} (%{FILEFLAGS:fflags})\n]`, path)
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(out, " ()", "")), "\n")
	slices.SortFunc(lines, byPath)
	return strings.Join(lines, "\n") + "\n"
}

func byPath(a, b string) int {
	return strings.Compare(strings.Fields(a)[2], strings.Fields(b)[2])
}

// The same commit gives the same bytes.
func TestReproducible(t *testing.T) {
	first, err := filepath.Glob(built("first") + "/*")
	if err != nil || len(first) != 4*len(names)+2 {
		t.Fatalf("built are %v, error %v", first, err)
	}
	for _, path := range first {
		a, errA := os.ReadFile(path)
		b, errB := os.ReadFile(filepath.Join(built("again"), filepath.Base(path)))
		if err := errors.Join(errA, errB); err != nil {
			t.Error(err)
		} else if !bytes.Equal(a, b) {
			t.Errorf("%s differs between two builds", filepath.Base(path))
		}
	}
}

// Those who judge packages find no fault. What they say and is none is written
// down, with the reason, in packaging/lintian-overrides and packaging/rpmlint.toml.
func TestLint(t *testing.T) {
	debs, _ := filepath.Glob(built("first") + "/*_a[ml][dl]*.deb") // amd64 and all; TestReproducible counts them
	out, err := exec.CommandContext(t.Context(), "lintian",
		append([]string{"--allow-root", "--tag-display-limit", "0", "--fail-on", "error,warning"}, debs...)...).CombinedOutput()
	if err != nil {
		t.Errorf("lintian: %v\n%s", err, out)
	}
	rpms, _ := filepath.Glob(built("first") + "/*.[xn][8o]*.rpm") // x86_64 and noarch
	out, err = exec.CommandContext(t.Context(), "rpmlint",
		append([]string{"--strict", "-c", "../../packaging/rpmlint.toml"}, rpms...)...).CombinedOutput()
	if err != nil || bytes.Contains(out, []byte(": E: ")) || bytes.Contains(out, []byte(": W: ")) {
		t.Errorf("rpmlint: %v\n%s", err, out)
	}
}

// The scripts that packages run are sound, in the form that they get.
func TestScripts(t *testing.T) {
	var scripts []string
	for _, name := range append(slices.Clone(names), withoutProgram) {
		dir := t.TempDir()
		output(t, "dpkg-deb", "-e", file(t, built("first")+"/"+name+"_*_a[ml][dl]*.deb"), dir)
		found, err := filepath.Glob(dir + "/p[or]*") // preinst, postinst, prerm, postrm
		if err != nil {
			t.Fatal(err)
		}
		scripts = append(scripts, found...)
	}
	rpm, err := filepath.Glob(built("sources") + "/.cache/packages/*/rpm/*")
	if err != nil {
		t.Fatal(err)
	}
	scripts = append(scripts, rpm...)
	if len(scripts) != 4*(3+3) {
		t.Errorf("found %v", scripts)
	}
	builders, err := filepath.Glob("../../packaging/*.sh")
	if err != nil {
		t.Fatal(err)
	}
	output(t, append(append([]string{"shellcheck"}, scripts...), builders...)...)
	for _, path := range scripts {
		if text, err := os.ReadFile(path); err != nil || bytes.ContainsRune(text, '@') {
			t.Errorf("%s: error %v, or something is not filled in:\n%s", path, err, text)
		}
	}
}
