#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages that `make run` and `make test` need
# and that are missing. It touches nothing when none is.
set -euo pipefail

packages=(ca-certificates curl gcc git libc6-dev) # gcc and libc6-dev: the race detector
missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [ "$status" = 'install ok installed' ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "installing ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"
