package vrrp

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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

// packages are what a machine of a pair has.
var packages = []string{"levee-limiter", "leveectl", "levee-vrrp"}

// built is the directory with the packages of a version.
func built(version string) string { return filepath.Join(lab.Work(), version) }

// prepare builds the packages in both versions, for this architecture.
func prepare() error {
	began := time.Now()
	root, err := harness.Root()
	if err != nil {
		return err
	}
	env := []string{"PACKAGES=" + strings.Join(packages, " "), "ARCHITECTURES=" + runtime.GOARCH}
	for _, version := range []string{oldVersion, newVersion} {
		if _, err := lab.Step(root, env, `packaging/build.sh "$1" "$2"`, version, built(version)); err != nil {
			return err
		}
	}
	fmt.Fprintf(os.Stderr, "vrrp: built in %v\n", time.Since(began).Round(time.Second))
	return nil
}
