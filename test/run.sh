#!/usr/bin/env bash
# Runs a whole cluster on this machine, and says what to try. Ctrl-C ends it.
# Arguments are options of levee-dev.
set -euo pipefail
cd "$(dirname "$0")/.."
exec bin/levee-dev "$@"
