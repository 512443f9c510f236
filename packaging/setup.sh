#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages that building packages and repositories
# needs and that are missing. It touches nothing when none is.
#
#   setup.sh repo   what `make repo` needs
#   setup.sh test   what the tests of packages need, too
set -euo pipefail

packages=()

# need COMMAND PACKAGE: the command may be there without the package.
need() {
  command -v "$1" >/dev/null || packages+=("$2")
}

need gpg gnupg
need apt-ftparchive apt-utils
need rpmsign rpm
need createrepo_c createrepo-c
need xz xz-utils
if [ "${1:-test}" = test ]; then
  need dpkg-deb dpkg
  need lintian lintian
  need rpmlint rpmlint
  need shellcheck shellcheck
  need mmdebstrap mmdebstrap
  need systemd-nspawn systemd-container
  need systemd-analyze systemd
  need ip iproute2
  need nsenter util-linux
fi
[ ${#packages[@]} -gt 0 ] || exit 0

echo "installing ${packages[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends ca-certificates "${packages[@]}"
