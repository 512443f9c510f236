#!/usr/bin/env bash
# Makes signed repositories out of packages, for apt and for dnf or yum.
#
#   repo.sh PACKAGES DIRECTORY
#
# DIRECTORY is made anew: apt/, yum/, the key, and what a host needs to use them,
# levee.sources and levee.repo. REPO_URL is where the directory will be served;
# unless it is given, the files name the directory itself.
#
# SIGNING_KEY is the id of a key in the caller's key ring. Without it the
# repositories are signed with a key that is made now and thrown away.
set -euo pipefail

from=$(realpath "$1")
out=$(realpath -m "$2")
url=${REPO_URL:-file://$out}
umask 022
export LC_ALL=C GPG_TTY=none

work=$(mktemp -d)
leave() {
  [ -n "${SIGNING_KEY:-}" ] || gpgconf --kill all 2>/dev/null || true
  rm -rf "$work"
}
trap leave EXIT

key=${SIGNING_KEY:-}
if [ -z "$key" ]; then
  export GNUPGHOME=$work/gnupg
  mkdir -m 700 "$GNUPGHOME"
  gpg --batch --quiet --passphrase '' --quick-generate-key 'Levee test repository' rsa3072 sign 7d 2>/dev/null
  key=$(gpg --list-keys --with-colons | awk -F: '$1 == "fpr" {print $10; exit}')
  echo "signing with a key that is thrown away; SIGNING_KEY=ID names a real one"
fi

sign() { # ARGUMENTS OF GPG...
  gpg --batch --yes --quiet --local-user "$key" "$@"
}

# apt_suite: dists/stable, with each index also under its hash, so that an update
# never sees half of a new one.
apt_suite() {
  local arch index sum suite=dists/stable
  for arch in amd64 arm64; do
    index=$suite/main/binary-$arch
    mkdir -p "$index/by-hash/SHA256"
    apt-ftparchive --arch "$arch" packages pool >"$index/Packages"
    gzip -9nk "$index/Packages"
    xz -9k "$index/Packages"
  done
  apt-ftparchive -o APT::FTPArchive::Release::Origin=Levee -o APT::FTPArchive::Release::Label=Levee \
    -o APT::FTPArchive::Release::Suite=stable -o APT::FTPArchive::Release::Codename=stable \
    -o APT::FTPArchive::Release::Components=main -o APT::FTPArchive::Release::Architectures='amd64 arm64' \
    -o APT::FTPArchive::Release::Acquire-By-Hash=yes release "$suite" >"$work/Release"
  mv "$work/Release" "$suite/Release"
  for index in "$suite"/main/binary-*/Packages*; do
    sum=$(sha256sum <"$index")
    cp "$index" "${index%/*}/by-hash/SHA256/${sum%% *}"
  done
  sign --clearsign --output "$suite/InRelease" "$suite/Release"
  sign --armor --detach-sign --output "$suite/Release.gpg" "$suite/Release"
}

# yum_tree ARCHITECTURE: one repository with its packages and its index signed.
yum_tree() {
  local file
  mkdir -p "$1"
  for file in "$from"/*."$1".rpm "$from"/*.noarch.rpm; do
    [ -e "$file" ] || continue
    cp "$file" "$1/"
    rpmsign --define "_gpg_name $key" --define "__gpg $(command -v gpg)" --addsign "$1/${file##*/}" >/dev/null
  done
  createrepo_c --quiet --no-database "$1"
  sign --armor --detach-sign --output "$1/repodata/repomd.xml.asc" "$1/repodata/repomd.xml"
}

rm -rf "$out"
mkdir -p "$out/apt/pool" "$out/yum"
find "$from" -name '*.deb' -exec cp -t "$out/apt/pool" {} +
(cd "$out/apt" && apt_suite)
(cd "$out/yum" && yum_tree x86_64 && yum_tree aarch64)

sign --armor --export "$key" >"$out/levee.asc"
cat >"$out/levee.sources" <<TEXT
Types: deb
URIs: $url/apt
Suites: stable
Components: main
Signed-By: /usr/share/keyrings/levee.asc
TEXT
cat >"$out/levee.repo" <<TEXT
[levee]
name=Levee
baseurl=$url/yum/\$basearch
enabled=1
gpgcheck=1
repo_gpgcheck=1
gpgkey=$url/levee.asc
TEXT
