package ansible

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

// buildTime bounds one step of the preparation, without warm caches.
const buildTime = 20 * time.Minute

// repoURL is where the tests serve the repository.
var repoURL = "http://" + lab.Gateway + ":8088"

// built is the path of what prepare built under a name.
func built(name string) string { return filepath.Join(lab.Work(), name) }

// steps are scripts of the preparation. $1 is the product's directory.
var steps = []string{
	`mkdir -p sources/.cache && ln -s "$1/.cache/bin" sources/.cache/bin
	cp -a "$1"/{cmd,configs,internal,packaging,systemd,CHANGELOG.md,LICENSE,go.mod,go.sum} sources
	if [ -d "$1/keepalived" ]; then cp -a "$1/keepalived" sources; fi`,
	`sources/packaging/build.sh ` + oldVersion + ` packages`,
	`sources/packaging/build.sh ` + newVersion + ` packages`,
	`rm packages/*.rpm; sources/packaging/repo.sh packages repo`,
	`mkdir etcd; here=$PWD; cd "$1/test"
	go build -trimpath -ldflags '-s -w' -o "$here/etcd/etcd" go.etcd.io/etcd/server/v3
	go build -trimpath -ldflags '-s -w' -o "$here/etcd/etcdctl" go.etcd.io/etcd/etcdctl/v3`,
	`ssh-keygen -q -t ed25519 -N '' -f key`,
}

// prepare builds everything with the network of the host still in reach.
func prepare() error {
	began := time.Now()
	root, err := harness.Root()
	if err != nil {
		return err
	}
	const commit = `echo COMMIT=$(git describe --always --dirty --exclude='*' --abbrev=12); echo SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)`
	identity, err := step(root, nil, commit, root)
	if err != nil {
		return err
	}
	env := append(strings.Fields(identity), "ARCHITECTURES="+runtime.GOARCH, "CGO_ENABLED=0", "REPO_URL="+repoURL)
	for _, script := range steps {
		if _, err := step(lab.Work(), env, script, root); err != nil {
			return err
		}
	}
	fmt.Fprintf(os.Stderr, "ansible: built in %v\n", time.Since(began).Round(time.Second))
	return nil
}

// step runs a script of the preparation, and returns what it wrote.
func step(dir string, env []string, script, root string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), buildTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euc", script, "bash", root)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", script, err, out)
	}
	return string(out), nil
}
