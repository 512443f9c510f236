package vrrp

import (
	"context"
	"fmt"
	"os"
	"os/exec"
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

// buildTime bounds the build of one version, without warm caches.
const buildTime = 20 * time.Minute

// built is the directory with the packages of a version.
func built(version string) string { return filepath.Join(lab.Work(), version) }

// prepare builds the packages in both versions, for this architecture.
func prepare() error {
	began := time.Now()
	root, err := harness.Root()
	if err != nil {
		return err
	}
	for _, version := range []string{oldVersion, newVersion} {
		ctx, cancel := context.WithTimeout(context.Background(), buildTime)
		cmd := exec.CommandContext(ctx, filepath.Join(root, "packaging", "build.sh"), version, built(version))
		cmd.Env = append(os.Environ(), "PACKAGES="+strings.Join(packages, " "), "ARCHITECTURES="+runtime.GOARCH)
		out, err := cmd.CombinedOutput()
		cancel()
		if err != nil {
			return fmt.Errorf("build the packages of %s: %w\n%s", version, err, out)
		}
	}
	fmt.Fprintf(os.Stderr, "vrrp: built in %v\n", time.Since(began).Round(time.Second))
	return nil
}
