#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages of servers, named on the command line as
# PACKAGE:SERVICE, that the tests or benchmarks start by themselves: none starts as a
# service, none is enabled, and nothing else on the host changes.
set -euo pipefail

[ $# -gt 0 ] || exit 0
if [ "$(id -u)" -ne 0 ]; then
  exec sudo bash "$0" "$@"
fi

# Packages ask this script before they start a service; 101 says no. One that is
# there already comes back afterwards.
policy=/usr/sbin/policy-rc.d
restore() {
  rm -f "$policy"
  if [ -e "$policy.levee-test" ]; then
    mv "$policy.levee-test" "$policy"
  fi
}
[ ! -e "$policy" ] || mv "$policy" "$policy.levee-test"
trap restore EXIT
printf '#!/bin/sh\nexit 101\n' >"$policy"
chmod 755 "$policy"

echo "installing ${*%%:*}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends ca-certificates "${@%%:*}"
if command -v systemctl >/dev/null; then
  systemctl disable --quiet "${@##*:}" # only what was just installed
fi
