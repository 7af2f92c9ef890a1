#!/bin/sh
# Damaged checkpoints, traces, channels and recorded trees, behind right checksums, under the sanitizers: see formats.c.
# Arguments: COUNT SEED. COUNT cases of each seed file; three times as many for checkpoints.
cd "$(dirname "$0")/../.." || exit 2
count=${1:-500} seed=${2:-1}
work=$(mktemp -d "${TMPDIR:-/tmp}/mazurka-formats-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
cat > "$work/errors.c" << 'END'
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static _Atomic int x, y;
static int plain;
static void *w(void *a)
{
    int v = x;
    x = v + 1;
    y++;
    assert(v != 1);
    plain++;
    if (y == 2) free(malloc(4));
    return a;
}
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, w, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    assert(x == 3);
    return 0;
}
END
unset MAZURKA_MUST_REPLAY
./mazurka check -q --max-executions=300 --checkpoint="$work/open" -DN=12 tests/papers/lastzero.c > "$work/out" 2>&1
./mazurka check -q --keep-going --max-executions=40 --checkpoint="$work/found" --trace="$work/trace" "$work/errors.c" > "$work/out" 2>&1
[ -s "$work/open" ] && [ -s "$work/found" ] && [ -s "$work/trace" ] || { cat "$work/out"; exit 1; }
./mazurka check -q --record-tree="$work/tree" --algorithm=optimal -DN=6 tests/papers/lastzero.c > "$work/out" 2>&1
./mazurka check -q --record-tree="$work/tree2" --algorithm=source --max-executions=200 -DN=5 tests/papers/lastzero.c \
    > "$work/out" 2>&1
[ -s "$work/tree" ] && [ -s "$work/tree2" ] || { cat "$work/out"; exit 1; }
passed=0 failed=0
export ASAN_OPTIONS=detect_leaks=0
try() { # KIND FILE COUNT
    if build/asan/mz-fuzz-formats "$1" "$work/$2" "$3" "$seed" > "$work/log" 2>&1; then
        tail -n 1 "$work/log"
        passed=$((passed + 1))
    else
        echo "FAIL formats: $1 $2, $3 cases from $seed: $(grep -m 1 -e ERROR -e 'runtime error' -e MZ_BUG "$work/log")"
        failed=$((failed + 1))
    fi
}
try checkpoint open $((count * 3 / 2))
try checkpoint found $((count * 3 / 2))
try trace trace "$count"
try channel trace "$count"
try rank0 trace "$count"
try agent trace "$count"
try tree tree "$count"
try tree tree2 "$count"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
