package daemon

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// Set when a release is linked, from a source tree that has no history:
//
//	go build -ldflags "-X github.com/levee-project/levee/internal/daemon.version=0.1.0
//	                   -X github.com/levee-project/levee/internal/daemon.commit=0123abc"
//
// Both are optional: a build from a checkout knows its commit, and its version
// too when the commit has a tag.
var version, commit string

const (
	// unversioned is the version of a build that nobody gave one.
	unversioned = "0.0.0-dev"
	// unknownCommit is the commit of a build outside version control.
	unknownCommit = "unknown"
	// shortCommit is how many digits of a commit are shown.
	shortCommit = 12
)

// Build says what this binary was made from.
type Build struct {
	// Version is the release without a leading v: 0.1.0, or 0.0.0-dev.
	Version string
	// Commit is the abbreviated commit, with -dirty after it when the tree had
	// changes that were not committed; "unknown" outside version control.
	Commit string
	// GoVersion is the tool chain: go1.26.8.
	GoVersion string
}

// ReadBuild returns what this binary was made from.
func ReadBuild() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return newBuild(info, version, commit)
}

// Version returns the answer to --version: "0.1.0 (commit 0123abcdef01, go1.26.8)".
func Version() string { return ReadBuild().String() }

// String returns b as --version prints it.
func (b Build) String() string {
	return fmt.Sprintf("%s (commit %s, %s)", b.Version, b.Commit, b.GoVersion)
}

// newBuild puts together what the linker was told, which wins, and what the
// tool chain has recorded.
func newBuild(info *debug.BuildInfo, version, commit string) Build {
	b := Build{Version: version, Commit: commit, GoVersion: info.GoVersion}
	if b.Version == "" && info.Main.Version != "(devel)" {
		b.Version = info.Main.Version
	}
	b.Version = strings.TrimPrefix(b.Version, "v")
	if b.Version == "" {
		b.Version = unversioned
	}
	if b.Commit == "" {
		b.Commit = recordedCommit(info)
	}
	return b
}

// recordedCommit is the commit that the tool chain found in the checkout.
func recordedCommit(info *debug.BuildInfo) string {
	revision, dirty := unknownCommit, ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(len(s.Value), shortCommit)]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	return revision + dirty
}
