#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages that the targets of the Makefile need and
# that are missing. It touches nothing when none is.
#
#   setup.sh run        what a cluster to play with needs
#   setup.sh test       what the tests need, too
#   setup.sh repo       what building packages and repositories needs
#   setup.sh packages   what the tests of packages need, too
#   setup.sh ansible    what the tests of the collection need, and machines with it
#   setup.sh metrics    the collectors of metrics that are tested with
#   setup.sh vrrp       the packages, and what the tests of virtual addresses need
set -euo pipefail

packages=()

# need COMMAND PACKAGE: the command may be there without the package.
need() {
  command -v "$1" >/dev/null || packages+=("$2")
}

case ${1:-test} in
run | test)
  need curl curl
  need git git
  ;;
repo | packages | ansible | vrrp)
  need gpg gnupg
  need apt-ftparchive apt-utils
  need rpmsign rpm
  need createrepo_c createrepo-c
  need xz xz-utils
  ;;
metrics)
  # Servers, which shall not start by themselves.
  command -v prometheus >/dev/null && command -v promtool >/dev/null || packages+=(prometheus:prometheus)
  command -v carbon-cache >/dev/null || packages+=(graphite-carbon:carbon-cache)
  exec bash "$(dirname "$0")/servers.sh" "${packages[@]}"
  ;;
*)
  echo "setup.sh: what is $1?" >&2
  exit 2
  ;;
esac
case ${1:-test} in
test)
  need gcc gcc # with libc6-dev, for the race detector
  [ -e /usr/include/stdlib.h ] || packages+=(libc6-dev)
  need protoc protobuf-compiler
  need ip iproute2
  need nft nftables
  need ab apache2-utils
  need wrk wrk
  need h2load nghttp2-client
  need python3 python3
  need node nodejs
  need valgrind valgrind
  need man man-db
  need chromium chromium
  need keepalived keepalived
  need unshare util-linux
  ;;
packages | vrrp)
  need nft nftables
  need dpkg-deb dpkg
  need lintian lintian
  need rpmlint rpmlint
  need shellcheck shellcheck
  need systemd-analyze systemd
  ;;
ansible)
  need ansible-playbook ansible-core
  [ -d /usr/lib/python3/dist-packages/ansible_collections ] || packages+=(ansible)
  need ansible-lint ansible-lint
  need yamllint yamllint
  need ssh openssh-client
  ;;
esac
case ${1:-test} in
packages | ansible | vrrp) # machines
  need mmdebstrap mmdebstrap
  need systemd-nspawn systemd-container
  need ip iproute2
  need nsenter util-linux
  ;;
esac
[ ${#packages[@]} -gt 0 ] || exit 0

echo "installing ${packages[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends ca-certificates "${packages[@]}"
