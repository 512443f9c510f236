package lab

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// rootTime bounds the making of the root file system.
const rootTime = 20 * time.Minute

// recipe makes the root file system that all machines start from: Debian in its
// smallest variant, and what the suites use. $1 is the directory. The sources of
// packages are those of this machine.
const recipe = `
set -eu
. /etc/os-release
sources=$(mktemp)
cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list >"$sources" 2>/dev/null || true
if ! grep -q '^deb' "$sources"; then
  cat /etc/apt/sources.list.d/*.sources >"$sources"
fi
mmdebstrap --quiet --mode=root --variant=minbase --format=directory \
  --aptopt='Acquire::Languages "none"' --aptopt='Acquire::Check-Valid-Until "false"' \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' \
  --include=systemd-sysv,dbus,libpam-systemd,openssh-server,sudo,python3-minimal,python3-apt \
  --include=iproute2,iputils-ping,nftables,keepalived,procps,kmod,curl,ca-certificates,gnupg,less,dnf,rpm \
  "$VERSION_CODENAME" "$1" - <"$sources"
rm -f "$sources"

# Each machine is one of its own, and has no mirror to reach.
rm -f "$1"/etc/apt/sources.list "$1"/etc/apt/sources.list.d/* "$1"/etc/ssh/ssh_host_* \
  "$1/etc/hostname" "$1/etc/resolv.conf" "$1/var/lib/dbus/machine-id"
: >"$1/etc/machine-id"
printf '127.0.0.1 localhost\n::1 localhost ip6-localhost\n' >"$1/etc/hosts"

# What makes no sense on a machine that lives for a minute.
for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer; do
  ln -sf /dev/null "$1/etc/systemd/system/$unit"
done
rm -f "$1/etc/systemd/system/multi-user.target.wants/keepalived.service" \
  "$1/etc/systemd/system/multi-user.target.wants/ssh.service" "$1/etc/systemd/system/sshd.service"
`

// rootDir is the root file system. Its name has the recipe in it, so another
// recipe makes another one.
func rootDir() string {
	sum := sha256.Sum256([]byte(recipe))
	return filepath.Join(string(here), fmt.Sprintf("root-%x", sum[:6]))
}

// makeRoot makes the root file system unless it is there already.
func makeRoot() error {
	root := rootDir()
	if _, err := os.Stat(root); err == nil {
		return nil
	}
	old, err := filepath.Glob(filepath.Join(string(here), "root-*"))
	if err != nil {
		return fmt.Errorf("look for earlier root file systems: %w", err)
	}
	for _, dir := range old {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove an earlier root file system: %w", err)
		}
	}
	fmt.Fprintln(os.Stderr, "lab: making the root file system of the machines, once")
	ctx, cancel := context.WithTimeout(context.Background(), rootTime)
	defer cancel()
	half := root + ".half" // a glob of root-* finds it
	out, err := exec.CommandContext(ctx, "sh", "-c", recipe, "sh", half).CombinedOutput()
	if err != nil {
		return fmt.Errorf("make the root file system: %w\n%s", err, lastLines(string(out), 20))
	}
	if err := os.Rename(half, root); err != nil {
		return errors.Join(err, os.RemoveAll(half))
	}
	return nil
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
