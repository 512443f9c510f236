#!/usr/bin/env bash
# Generates the protobuf code that is committed, with pinned tools.
#
#   generate.sh         writes it
#   generate.sh check   fails and shows the difference if it is not up to date
#
# The version of protoc, which the distribution gives, makes no difference but
# for the line that names it.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
bin=$top/.cache/bin
source=internal/topologyrpc/topologyv1
import=levee/topology/v1 # as importers would name it, whatever our directories are

if ! command -v protoc >/dev/null; then
  echo "installing protobuf-compiler"
  as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" apt-get install -y -qq --no-install-recommends protobuf-compiler
fi

# plugin PACKAGE: built once from the version pinned in test/tools/go.mod.
plugin() {
  local binary=$bin/${1##*/}
  [ "$binary" -nt "$top/test/tools/go.mod" ] && return
  (cd "$top/test/tools" && CGO_ENABLED=0 go build -o "$binary" "$1" && touch "$binary")
}
plugin google.golang.org/protobuf/cmd/protoc-gen-go
plugin google.golang.org/grpc/cmd/protoc-gen-go-grpc

generate() { # DIRECTORY
  PATH=$bin:$PATH protoc -I "$import=$top/$source" \
    --go_out="$1" --go_opt="module=github.com/levee-project/levee" \
    --go-grpc_out="$1" --go-grpc_opt="module=github.com/levee-project/levee" \
    "$import/topology.proto"
}

if [ "${1:-}" != check ]; then
  generate "$top"
  exit
fi

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
generate "$fresh"
for file in topology.pb.go topology_grpc.pb.go; do
  diff -u -I '^// .*protoc  *v' "$top/$source/$file" "$fresh/$source/$file" || {
    echo "$source/$file is not what topology.proto says; run: make generate" >&2
    exit 1
  }
done
