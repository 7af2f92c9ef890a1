#!/bin/sh
# Runs the tests of the command: what a user types, sees and gets back. Each theme is a script of its own; two run at a time.
# Prints a line for each test, at the end "N passed, M failed".
#
#   sh tests/cli/run.sh [TEST...]    default: all; JOBS=N themes at a time, default 2
cd "$(dirname "$0")/../.." || exit 2
logs=$(mktemp -d "${TMPDIR:-/tmp}/mazurka-cli-logs-XXXXXX") || exit 2
trap 'rm -rf "$logs"' EXIT
trap 'exit 2' HUP INT TERM

# The themes: every script here that runs tests. The longest come first, so that both processors are busy to the end.
themes() {
    longest='checkpoint workers signals'
    for theme in $longest; do echo "$theme"; done
    grep -l '^run_tests' tests/cli/*.sh | sed 's|.*/||; s|\.sh$||' | grep -vxE "$(echo "$longest" | tr ' ' '|')"
}

# One line for each script to run: its name, then the names of its tests (none: all).
plan() { # TEST...
    for name in "$@"; do
        grep -q "^test_$name()" tests/cli/*.sh || { echo "no such test: $name" >&2 && exit 2; }
    done
    for theme in $(themes); do
        here=''
        for name in "$@"; do ! grep -q "^test_$name()" "tests/cli/$theme.sh" || here="$here $name"; done
        [ $# -gt 0 ] && [ -z "$here" ] || echo "$theme$here"
    done
}

plan "$@" >"$logs/.plan" || exit 2
export logs
xargs -P "${JOBS:-2}" -d '\n' -n 1 sh -c 'set -- $1
    theme=$1
    shift
    sh "tests/cli/$theme.sh" "$@" >"$logs/$theme" 2>&1 </dev/null' theme <"$logs/.plan"
status=$?
cat "$logs"/* 2>/dev/null | grep -v '^[0-9]* passed, [0-9]* failed$'
cat "$logs"/* 2>/dev/null | awk '/^[0-9]+ passed, [0-9]+ failed$/ { p += $1; f += $3 } END { print p + 0 " passed, " f + 0 " failed" }'
exit $status
