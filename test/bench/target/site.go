package target

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Site is where servers are built and run.
type Site struct {
	dir  string // for binaries and configurations
	root string // the product's module
	cpu  int    // the core that servers run on
	runs int
}

const buildTime = 5 * time.Minute

// NewSite makes a site with a directory of its own under the system's temporary
// one. root is the directory of the product's module, cpu the core that servers
// shall run on.
func NewSite(root string, cpu int) (*Site, error) {
	dir, err := os.MkdirTemp("", "levee-bench-")
	if err != nil {
		return nil, fmt.Errorf("directory for the servers: %w", err)
	}
	// NGINX's worker looks into it as another user.
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, fmt.Errorf("directory for the servers: %w", err)
	}
	return &Site{dir: dir, root: root, cpu: cpu}, nil
}

// Close removes the site's directory. Its servers are stopped before.
func (s *Site) Close() error { return os.RemoveAll(s.dir) }

// Build builds those of the servers that are Levee's own, with all cores. It goes
// before [Site.Start].
func (s *Site) Build(ctx context.Context, servers []string) error {
	for _, name := range servers {
		var err error
		switch name {
		case Levee:
			err = s.build(ctx, s.root, "levee-limiter", "./cmd/levee-limiter")
		case NetHTTP:
			err = s.build(ctx, s.tests(), "nethttp", "./bench/nethttp")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Site) build(ctx context.Context, dir, name, pkg string) error {
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", s.binary(name), pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", name, err, out)
	}
	return nil
}

// tests is the directory of the tests' module.
func (s *Site) tests() string { return filepath.Join(s.root, "test") }

func (s *Site) binary(name string) string { return filepath.Join(s.dir, name) }

// room makes a directory for one run of a server.
func (s *Site) room(name string) (string, error) {
	s.runs++
	dir := filepath.Join(s.dir, fmt.Sprintf("%s-%d", name, s.runs))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", fmt.Errorf("directory for %s: %w", name, err)
	}
	return dir, nil
}
