#!/usr/bin/env bash
# Installs what `make bench` compares Levee with and that is missing: Debian's or
# Ubuntu's nginx and haproxy. Neither starts as a service.
set -euo pipefail

packages=()
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || packages+=(nginx-light:nginx)
command -v haproxy >/dev/null || [ -x /usr/sbin/haproxy ] || packages+=(haproxy:haproxy)
exec bash "$(dirname "$0")/../servers.sh" "${packages[@]}"
