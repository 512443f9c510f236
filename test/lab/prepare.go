package lab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// stepTime bounds one step of a preparation, without warm caches.
const stepTime = 20 * time.Minute

// Step runs a script of a preparation with bash in a directory, with more variables in
// its environment, and returns what it wrote. It has 20 minutes.
func Step(dir string, env []string, script string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), stepTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", append([]string{"-euc", script, "bash"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", script, err, out)
	}
	return string(out), nil
}

// Commit returns the variables by which packaging/build.sh knows the commit of the
// product in a directory; a copy of its sources does not tell.
func Commit(root string) ([]string, error) {
	const script = `echo COMMIT=$(git describe --always --dirty --exclude='*' --abbrev=12); echo SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)`
	text, err := Step(root, nil, script)
	return strings.Fields(text), err
}
