#!/bin/sh
# Builds a program that Debian or Ubuntu packages, unmodified, for `mazurka bench packaged`.
#
#   sh bench/packaged.sh [pbzip2]
#
# The source comes from `apt-get source`, from the servers that this machine uses already. The lists of sources are private to
# this script, so no file of the system changes and root is not needed. The result is build/packaged/pbzip2, built with
# `mazurka c++`. Needs: apt-get, dpkg-source (dpkg-dev), libbz2 with its headers (libbz2-dev), and the network.
cd "$(dirname "$0")/.." || exit 2
name=${1:-pbzip2}
mazurka=${MAZURKA:-$PWD/mazurka}
place=$PWD/build/packaged

stop() {
    echo "packaged: $1" >&2
    exit 2
}

[ "$name" = pbzip2 ] && [ $# -le 1 ] || stop "the only package is pbzip2"
for tool in apt-get dpkg-source; do
    command -v $tool >/dev/null || stop "$tool is not installed (Debian, Ubuntu: apt install dpkg-dev)"
done
[ -x "$mazurka" ] || stop "$mazurka is not there: run make"

work=$(mktemp -d "${TMPDIR:-/tmp}/mazurka-packaged-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
mkdir -p "$work/lists/partial" "$work/sources.d" "$work/archives/partial" "$place"

# The system's lists with source packages in place of binary ones.
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -f "$file" ] && sed -n 's/^deb /deb-src /p' "$file" >>"$work/sources.list"
done
for file in /etc/apt/sources.list.d/*.sources; do
    [ -f "$file" ] && sed 's/^Types:.*/Types: deb-src/' "$file" >"$work/sources.d/${file##*/}"
done
touch "$work/sources.list"

apt() {
    apt-get -q -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts="$work/sources.d" \
        -o Dir::State::lists="$work/lists" -o Dir::Cache::archives="$work/archives" -o Dir::Cache::pkgcache= \
        -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User= "$@" >"$work/log" 2>&1
}
apt update || stop "apt-get update: $(grep -m 1 '^[EW]:' "$work/log")"
(cd "$work" && apt source --download-only "$name") || stop "apt-get source $name: $(grep -m 1 '^[EW]:' "$work/log")"
(cd "$work" && dpkg-source --no-check -x "$name"_*.dsc source >log 2>&1) || stop "dpkg-source: $(tail -n 1 "$work/log")"

(cd "$work/source" && "$mazurka" c++ -O1 -g -pthread ./*.cpp -o "$place/$name" -lbz2 >"$work/log" 2>&1) ||
    stop "mazurka c++: $(grep -m 1 -E 'error|mazurka' "$work/log") (is libbz2-dev installed?)"
# Two blocks of 100 kB.
i=0
while [ $i -lt 12000 ]; do i=$((i + 1)) && echo "line $i of it"; done >"$place/large.txt"
version=$(sed -n 's/^Version: //p' "$work/$name"_*.dsc | head -n 1)
echo "build/packaged/$name: $name $version"
