#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages that `make run` and `make test` need
# and that are missing. It touches nothing when none is.
#
#   setup.sh run    what a limiter to play with needs
#   setup.sh test   what the tests need, too
set -euo pipefail

packages=()

# need COMMAND PACKAGE: the command may be there without the package.
need() {
  command -v "$1" >/dev/null || packages+=("$2")
}

need curl curl
need git git
if [ "${1:-test}" = test ]; then
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
