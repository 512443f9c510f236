package daemon

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

func TestNewBuild(t *testing.T) {
	vcs := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "0123456789abcdef0123"}}
	dirty := append([]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}}, vcs...)
	clean := append([]debug.BuildSetting{{Key: "vcs.modified", Value: "false"}}, vcs...)
	tests := []struct {
		name            string
		main            string
		settings        []debug.BuildSetting
		version, commit string
		want            string
	}{
		{name: "nothing known", want: "0.0.0-dev (commit unknown, go1.26)"},
		{name: "devel", main: "(devel)", want: "0.0.0-dev (commit unknown, go1.26)"},
		{name: "checkout", main: "(devel)", settings: clean, want: "0.0.0-dev (commit 0123456789ab, go1.26)"},
		{name: "changed checkout", main: "(devel)", settings: dirty, want: "0.0.0-dev (commit 0123456789ab-dirty, go1.26)"},
		{name: "tagged checkout", main: "v0.2.0", settings: clean, want: "0.2.0 (commit 0123456789ab, go1.26)"},
		{name: "linked", main: "v0.2.0", version: "0.3.0", commit: "fedcba", settings: clean, want: "0.3.0 (commit fedcba, go1.26)"},
		{name: "linked with a v", version: "v0.3.0", want: "0.3.0 (commit unknown, go1.26)"},
		{
			name: "short revision", settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}},
			want: "0.0.0-dev (commit abc, go1.26)",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			info := &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: tt.main}, Settings: tt.settings}
			if got := newBuild(info, tt.version, tt.commit).String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestVersionOfABuiltBinary builds a program as releases are built: what the
// linker is told must reach the variables, and a checkout tells its commit.
func TestVersionOfABuiltBinary(t *testing.T) {
	const symbol = "github.com/levee-project/levee/internal/daemon.version"
	head := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD")
	commit, vcs := unknownCommit, "-buildvcs=false" // a source archive
	if out, err := head.Output(); err == nil {
		commit, vcs = string(out[:shortCommit]), "-buildvcs=true"
	}
	bin := filepath.Join(t.TempDir(), "version")
	command(t, "go", "build", vcs, "-ldflags", "-X "+symbol+"=9.8.7", "-o", bin, "./testdata/version")
	got := command(t, bin)
	if want := "9.8.7 (commit " + commit; !strings.HasPrefix(got, want) {
		t.Errorf("--version says %q, want %q...", got, want)
	}
	if !strings.Contains(got, ", go1.") {
		t.Errorf("--version says %q, without the tool chain", got)
	}
}

func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*patience) // a cold build cache
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0") // only look at the checkout
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}
