#!/bin/sh
# Damaged traces through `mazurka show` and `mazurka replay` themselves, built with sanitizers: a process each.
# Arguments: COUNT SEED. Half of the traces are of a program that is there, and most of these are really replayed; the other
# half are of a source file, which replay vets and takes from the cache.
#
# Each must end within 30 s with a status from 0 to 4 and without a report of a sanitizer; a status of 2 comes with one line
# that says why (notes and the messages of a compiler may come before it).
cd "$(dirname "$0")/../.." || exit 2
count=${1:-40} seed=${2:-1}
top=$PWD
[ -x build/asan/mazurka ] || { echo "build/asan/mazurka is not there: make build/asan/mazurka"; exit 1; }
work=$(mktemp -d "${TMPDIR:-/tmp}/mazurka-commands-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
unset MAZURKA_MUST_REPLAY
export XDG_CACHE_HOME="$work/cache" ASAN_OPTIONS=detect_leaks=0
mkdir "$work/here" "$work/spoiled" "$work/cache"
cp examples/queue.c "$work/here"
cd "$work/here" || exit 2
"$top/mazurka" cc -g -o queue queue.c
"$top/mazurka" check -q --trace="$work/binary" ./queue > "$work/out" 2>&1
"$top/mazurka" check -q --trace="$work/source" queue.c > "$work/out" 2>&1
[ -s "$work/binary" ] && [ -s "$work/source" ] || { cat "$work/out"; exit 1; }
passed=0 failed=0 replayed=0

bad() { # WHAT NUMBER COMMAND STATUS
    failed=$((failed + 1))
    echo "FAIL commands: $1, case $2: $3: status $4: $(head -c 300 "$work/err" | head -n 3)"
}

try() { # WHAT NUMBER COMMAND
    timeout -k 5 30 "$top/build/asan/mazurka" "$3" "$work/spoiled/$2" > "$work/out" 2> "$work/err" < /dev/null
    status=$?
    if [ $status -gt 4 ] || grep -q -e Sanitizer -e 'runtime error' -e 'internal error' "$work/err"; then
        bad "$1" "$2" "$3" $status
    elif [ $status = 2 ] && [ "$(grep -v '^mazurka: note:' "$work/err" | grep -c '^mazurka: ')" != 1 ]; then
        bad "$1" "$2" "$3" "2, without one clear line"
    else
        passed=$((passed + 1))
        [ $status != 1 ] || [ "$3" != replay ] || replayed=$((replayed + 1))
    fi
}

# Make the files in portions, so that there are never many.
spoil() { # WHAT FIRST COUNT
    MZ_FUZZ_OUT=$work/spoiled "$top/build/asan/mz-fuzz-formats" spoil "$work/$1" "$3" "$2" > "$work/out" 2>&1 || {
        cat "$work/out"
        exit 1
    }
    n=$2
    while [ "$n" -lt $(($2 + $3)) ]; do
        try "$1" "$n" show
        try "$1" "$n" replay
        rm -f "$work/spoiled/$n"
        n=$((n + 1))
    done
}

half=$((count / 2)) done=0
while [ $done -lt $half ]; do
    portion=$((half - done < 500 ? half - done : 500))
    spoil binary $((seed + done)) $portion
    spoil source $((seed + half + done)) $portion
    done=$((done + portion))
done
echo "$((2 * half)) damaged traces through show and replay: $replayed replayed with the same outcome"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
