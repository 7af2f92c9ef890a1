#!/bin/sh
# Writes the list of options in man/mazurka.1 anew from ./mazurka, whose table in src/cmd/options.c is the only
# place where options are declared. With --check: says whether the list is up to date, changes nothing.
set -eu
cd "$(dirname "$0")/.."
new=man/mazurka.1.new
trap 'rm -f "$new"' EXIT
{
    sed -n '1,/^\.\\" begin options/p' man/mazurka.1
    ./mazurka help --man-options
    sed -n '/^\.\\" end options/,$p' man/mazurka.1
} > "$new"
if [ "${1:-}" = --check ]; then
    cmp -s "$new" man/mazurka.1 || { echo "man/mazurka.1 is out of date: run man/update.sh" >&2; exit 1; }
elif ! cmp -s "$new" man/mazurka.1; then
    cp "$new" man/mazurka.1
fi
