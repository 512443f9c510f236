package ansible

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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

// repoURL is where the tests serve the repository.
var repoURL = "http://" + lab.Gateway + ":8088"

// built is the path of what prepare built under a name.
func built(name string) string { return filepath.Join(lab.Work(), name) }

// steps are scripts of the preparation. $1 is the product's directory.
var steps = []string{
	`mkdir -p sources/.cache && ln -s "$1/.cache/bin" sources/.cache/bin
	cp -a "$1"/{cmd,configs,internal,keepalived,packaging,systemd,CHANGELOG.md,LICENSE,go.mod,go.sum} sources`,
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
	commit, err := lab.Commit(root)
	if err != nil {
		return err
	}
	env := append(slices.Clone(commit), "ARCHITECTURES="+runtime.GOARCH, "CGO_ENABLED=0", "REPO_URL="+repoURL)
	for _, script := range steps {
		if _, err := lab.Step(lab.Work(), env, script, root); err != nil {
			return err
		}
	}
	fmt.Fprintf(os.Stderr, "ansible: built in %v\n", time.Since(began).Round(time.Second))
	return nil
}
