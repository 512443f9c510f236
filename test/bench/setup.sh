#!/usr/bin/env bash
# Installs what `make bench` compares Levee with and that is missing: Debian's or
# Ubuntu's nginx and haproxy. Neither starts as a service, neither is enabled, and
# nothing else on the host changes.
set -euo pipefail

packages=()
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || packages+=(nginx-light)
command -v haproxy >/dev/null || [ -x /usr/sbin/haproxy ] || packages+=(haproxy)
[ ${#packages[@]} -gt 0 ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
  exec sudo bash "$0"
fi

# Packages ask this script before they start a service; 101 says no. One that is
# there already comes back afterwards.
policy=/usr/sbin/policy-rc.d
restore() {
  rm -f "$policy"
  if [ -e "$policy.levee-bench" ]; then
    mv "$policy.levee-bench" "$policy"
  fi
}
[ ! -e "$policy" ] || mv "$policy" "$policy.levee-bench"
trap restore EXIT
printf '#!/bin/sh\nexit 101\n' >"$policy"
chmod 755 "$policy"

echo "installing ${packages[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${packages[@]}"
if command -v systemctl >/dev/null; then
  systemctl disable --quiet "${packages[@]/nginx-light/nginx}" # only what was just installed
fi
