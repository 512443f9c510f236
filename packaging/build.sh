#!/usr/bin/env bash
# Builds the packages: deb and rpm, of each program, for each architecture, and
# levee-vrrp, which has no program.
#
#   build.sh VERSION DIRECTORY      all of it, into DIRECTORY
#   build.sh stage VERSION          only what goes into them beside the programs,
#                                   into .cache/packages (goreleaser does the rest)
#
# PACKAGES and ARCHITECTURES narrow it down; CONFIGS names another directory with
# the configuration that is installed, for tests of upgrades.
#
# The same commit and version give the same bytes: every time in them is the
# commit's. COMMIT and SOURCE_DATE_EPOCH stand for those of git, where there is
# none.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
out=$(realpath -m "$2") # of no meaning when only staging
cd "$top"
stage=.cache/packages # the nfpm files name it
packages=${PACKAGES:-levee-limiter levee-observer levee-client-proxy leveectl levee-vrrp}
architectures=${ARCHITECTURES:-amd64 arm64}
host=$stage/bin/$(go env GOHOSTARCH) # programs that run here
configs=${CONFIGS:-configs/packaged}
nfpm=$top/.cache/bin/nfpm

export LC_ALL=C TZ=UTC CGO_ENABLED=0
umask 022 # whatever the caller's
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
commit=${COMMIT:-$(git describe --always --dirty --exclude='*' --abbrev=12)}

# program PACKAGE ARCHITECTURE: the binary.
program() {
  GOOS=linux GOARCH=$2 go build -trimpath -buildvcs=false -o "$stage/bin/$2/$1" -ldflags "-s -w -buildid= \
    -X github.com/levee-project/levee/internal/daemon.version=$version \
    -X github.com/levee-project/levee/internal/daemon.commit=$commit" "./cmd/$1"
}

# licences PACKAGE: the licence of each module that the program is made of.
licences() {
  local path release directory
  printf 'This program is made of the modules below.\n'
  {
    printf 'std %s %s\n' "$(go env GOVERSION)" "$(go env GOROOT)"
    GOOS=linux go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' \
      "./cmd/$1" | sort -u
  } | while read -r path release directory; do
    printf '\n==== %s %s\n' "$path" "$release"
    find "$directory" -maxdepth 1 \( -iname 'LICENSE*' -o -iname 'COPYING*' -o -iname 'NOTICE*' \) -type f -print0 |
      sort -z | xargs -0 -r cat
  done
  vendored "$1" internal/console web/uplot.js web/uplot.LICENSE
}

# vendored PACKAGE DIRECTORY FILE LICENCE: that of a file that is not a module, if
# the program has the Go package in the directory. The file's first line names it.
vendored() {
  local packages
  packages=$(go list -deps "./cmd/$1")
  grep -qxF "github.com/levee-project/levee/$2" <<<"$packages" || return 0
  printf '\n==== %s\n' "$(head -n 1 "$2/$3")"
  cat "$2/$4"
}

# manuals PACKAGE: its pages. leveectl writes those of all programs, from the same
# definitions as --help.
manuals() {
  local all=$stage/manuals to=$stage/$1/man
  if ! [ -d "$all" ]; then
    program leveectl "$(go env GOHOSTARCH)"
    mkdir "$all"
    "$host/leveectl" man "$all"
  fi
  mkdir "$to"
  if [ "$1" = leveectl ]; then # and those that are about no program
    cp "$all"/*.1 "$all"/*.5 "$to"
  else
    cp "$all/$1.8" "$to"
  fi
  gzip -9n "$to"/*
}

# completions PACKAGE: for the shells that the program knows.
completions() {
  local options shell
  if [ "$1" = leveectl ]; then
    for shell in bash zsh fish; do
      "$host/$1" completion "$shell" >"$stage/$1/completion.$shell"
    done
    return
  fi
  options=$("$host/$1" --help | grep -oE '^ +(-[a-z], )?--[a-z][a-z0-9-]*' | grep -oE -- '--.*' | tr '\n' ' ')
  printf "# bash completion of %s\ncomplete -o default -W '%s' %s\n" "$1" "${options% }" "$1" >"$stage/$1/completion.bash"
}

# render FILE PACKAGE: FILE with what differs between the packages filled in.
render() {
  local units=$2.service at_install=leave config=${2#levee-}
  local welcome="$2 is installed; configure it in /etc/levee/$config.yaml, then: systemctl enable --now $2"
  if [ "$2" = levee-limiter ]; then
    units="$2.service $2.socket" at_install=start
    welcome="$2 serves alone on 0.0.0.0:5454, for whoever can reach this host; its quotas are in /etc/levee/storage.yaml"
  fi
  sed -e "s|@PACKAGE@|$2|g" -e "s|@CONFIG@|$config|g" -e "s|@UNITS@|$units|g" -e "s|@AT_INSTALL@|$at_install|g" \
    -e "s|@WELCOME@|$welcome|g" -e "s|@VERSION@|$version|g" \
    -e "s|@DATE@|$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)|g" "$1"
}

# stage_package PACKAGE: everything of it but the program.
stage_package() {
  local to=$stage/$1 script
  mkdir -p "$to/deb" "$to/rpm"
  if [ "$1" != levee-vrrp ]; then
    program "$1" "$(go env GOHOSTARCH)"
    manuals "$1"
    completions "$1"
    licences "$1" | gzip -9n >"$to/licences.gz"
  fi
  gzip -9nc CHANGELOG.md >"$to/changelog.gz"
  render packaging/changelog.yaml "$1" >"$to/changelog.yaml"
  render packaging/copyright "$1" >"$to/copyright"
  render packaging/lintian-overrides "$1" >"$to/lintian-overrides"
  case $1 in
  leveectl)
    return
    ;;
  levee-vrrp)
    sed -i '/^Comment:/,$d' "$to/copyright" # there is no program, nor a module in it
    sed -i '/statically-linked\|Static by design/d' "$to/lintian-overrides"
    cp packaging/vrrp/deb/* "$to/deb"
    cp packaging/vrrp/rpm/* "$to/rpm"
    return
    ;;
  esac
  render packaging/environment "$1" >"$to/environment"
  for script in packaging/deb/* packaging/rpm/*; do
    render "$script" "$1" >"$to/${script#packaging/}"
  done
}

if [ "$1" = stage ]; then
  version=${2#v}
else
  version=${1#v}
fi
mkdir -p .cache
exec 9>.cache/packages.lock # one build at a time
flock 9
rm -rf "$stage"
mkdir -p "$stage"
cp -r "$configs" "$stage/configs"
for package in $packages; do
  stage_package "$package"
done
[ "$1" = stage ] && exit

# Built once from the version pinned in packaging/tools/go.mod.
if ! [ "$nfpm" -nt packaging/tools/go.mod ]; then
  (cd packaging/tools && go build -o "$nfpm" github.com/goreleaser/nfpm/v2/cmd/nfpm && touch "$nfpm")
fi
mkdir -p "$out"
# In packages a hyphen would begin the release: 1.2.0-rc1 comes before 1.2.0, and
# 1.2.0-3-g0123abc, as git describes it, after.
in_packages=$(sed -E 's/-([0-9]+)-g([0-9a-f]+)$/+\1.g\2/; s/-/~/g' <<<"$version")
for architecture in $architectures; do
  for package in $packages; do
    [ "$package" = levee-vrrp ] || program "$package" "$architecture"
    for format in deb rpm; do
      VERSION=$in_packages ARCH=$architecture "$nfpm" package -f "packaging/nfpm/$package.yaml" \
        -p "$format" -t "$out" >/dev/null
    done
  done
done
