#!/bin/sh
# The simulator: recorded trees of real programs and of a model, what it makes of them, and what it refuses. Prints a
# line for each test that fails, at the end "N passed, M failed". Takes ./mazurka and build/mz-simulate.
cd "$(dirname "$0")/../.." || exit 2
simulate=build/mz-simulate
work=$(mktemp -d "${TMPDIR:-/tmp}/mazurka-simulate-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
passed=0
failed=0

test_that() { # what, command...
    what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $what"
    fi
}

says() { # FILE TEXT
    grep -qF -- "$2" "$1" && return 0
    echo "  no \"$2\" in:"
    head -n 4 "$1" | sed 's/^/  /'
    return 1
}

refuses() { # TEXT COMMAND...: status 2 and one line
    text=$1
    shift
    if "$@" >"$work/out" 2>"$work/err"; then return 1; fi
    [ "$(wc -l <"$work/err")" = 1 ] && says "$work/err" "$text"
}

record() { # TREE ARGUMENTS...
    to=$1
    shift
    ./mazurka check --quiet --progress=never --record-tree="$work/$to" "$@" >"$work/out" 2>&1
}

speed() { # WORKERS ARGUMENTS...: the speed-up
    n=$1
    shift
    rm -f "$work/tsv"
    $simulate --workers="$n" --tsv="$work/tsv" "$@" >"$work/out" && tail -n 1 "$work/tsv" | cut -f 4
}

column() { # NUMBER: of the last row
    tail -n 1 "$work/tsv" | cut -f "$1"
}

between() { # LOW VALUE HIGH
    awk "BEGIN { exit !($2 + 0 >= $1 && $2 + 0 <= $3) }" && return 0
    echo "  $2 is not between $1 and $3"
    return 1
}

# ---- recording ----

for a in optimal source dpor 'dpor --update=all'; do
    # shellcheck disable=SC2086
    test_that "file system under $a is recorded" record fs.tree --algorithm=$a -DN=20 tests/papers/filesystem.c
    $simulate --workers=2 "$work/fs.tree" >"$work/out" 2>&1
    test_that "the file system has 128 executions under $a" says "$work/out" ' 128 executions (0 blocked)'
done
test_that "aget is recorded" record aget.tree -DT=4 tests/papers/aget.c
test_that "aget is recorded, dpor" record lazy.tree --algorithm=dpor -DT=4 tests/papers/aget.c
test_that "aget is recorded, all updates" record eager.tree --algorithm=dpor --update=all -DT=4 tests/papers/aget.c
test_that "a tree is small" between 1 "$(wc -c <"$work/aget.tree")" $((24 * 2520))
# Twice the same: nothing depends on the time or on addresses.
record again.tree -DT=4 tests/papers/aget.c
test_that "a tree is the same each time" cmp -s "$work/aget.tree" "$work/again.tree"
for a in optimal source dpor dpor-all; do
    test_that "a model is recorded, $a" $simulate --record="$work/m-$a" --algorithm=$a tests/simulate/fig7.model
    $simulate --workers=2 "$work/m-$a" >"$work/out" 2>&1
    test_that "three threads take a mutex in 6 orders, $a" says "$work/out" ' 6 executions (0 blocked)'
done

# ---- simulating ----

# 2007, Fig. 8 and 10: two workers, of which both find the third thread's branch at the root; not if it is found at once.
free='--step=0 --execution=1ms --latency=0 --start=0 --task=0 --done=0 --split=0 --update=0 --alone=0 --least=0 --quiet=0 --round=0 --poll=0'
# shellcheck disable=SC2086
speed 2 --protocol=paper $free "$work/m-dpor" >/dev/null
test_that "2007, Fig. 8: two executions are run twice" [ "$(column 9)" = 2 ]
# shellcheck disable=SC2086
speed 2 --protocol=paper $free "$work/m-dpor-all" >/dev/null
test_that "2007, Fig. 10: none is" [ "$(column 9)" = 0 ]

# The shape of Fig. 12 and 13, on four threads.
paper='--protocol=paper --step=0 --execution=50ms --latency=100us --start=0'
# shellcheck disable=SC2086
test_that "the original update: little speed-up" between 0.9 "$(speed 16 $paper "$work/lazy.tree")" 2
# shellcheck disable=SC2086
test_that "the modified update: nearly linear" between 14 "$(speed 16 $paper "$work/eager.tree")" 16
test_that "ours: nearly linear" between 15 "$(speed 16 --step=0 --execution=50ms --latency=100us --start=0 "$work/aget.tree")" 16
test_that "ours: nothing is redundant" [ "$(column 9)" = 0 ]
# A balancer that needs as long for a message as a worker for an execution: more workers do not help.
test_that "a slow balancer is the limit" between 0.1 "$(speed 64 --step=0 --execution=1ms --task=1ms --split=1ms \
    --update=1ms --done=1ms "$work/aget.tree")" 16
test_that "it is busy" between 0.9 "$(column 12)" 1

# Choices, searches that start over, timeouts, blocked executions: that every execution is run, and none before it is
# known or twice, is asserted within.
for m in signal-choice choose-then-race section-late timedwait-two rwlock-two-writers lastzero-5 example-2005; do
    for a in optimal source dpor dpor-all; do
        $simulate --record="$work/m" --algorithm=$a tests/random/corpus/$m.model
        # shellcheck disable=SC2086
        test_that "$m, $a: three workers, ours" $simulate $free --workers=3 "$work/m" >/dev/null
        # shellcheck disable=SC2086
        [ $a = optimal ] || test_that "$m, $a: three workers, paper" $simulate $free --protocol=paper --workers=3 "$work/m" >/dev/null
    done
done

# The balancer itself, in simulated time, and what is made of the tree: 10,584 executions, as real as they get.
test_that "a buffer is recorded" $simulate --record="$work/buffer.tree" tests/simulate/buffer.model
for n in 2 4 8 16; do
    guess=$(speed $n "$work/buffer.tree")
    tasks=$(column 6)
    rm -f "$work/tsv"
    $simulate --live --workers=$n --tsv="$work/tsv" tests/simulate/buffer.model >"$work/out" 2>&1
    is=$(column 4)
    test_that "$n workers: the speed-up is that of the balancer itself" between "$(awk "BEGIN { print 0.95 * $is }")" \
        "$guess" "$(awk "BEGIN { print 1.05 * $is }")"
    test_that "$n workers: and the tasks, more or less" between "$(awk "BEGIN { print $(column 6) / 2 }")" "$tasks" \
        "$(awk "BEGIN { print 2 * $(column 6) }")"
done

# Two real processes: nothing is run twice, and there are about as many tasks as are foreseen, not many times as many.
record five.tree tests/papers/aget.c
speed 2 "$work/five.tree" >/dev/null
./mazurka check -j2 --quiet --progress=never --json="$work/json" tests/papers/aget.c >"$work/out" 2>&1
tasks=$(sed -n 's/^ *"tasks": \([0-9]*\).*/\1/p' "$work/json")
test_that "-j2 runs 113,400 executions" says "$work/json" '"executions": 113400,'
test_that "-j2 runs none twice" says "$work/json" '"redundant": 0,'
test_that "-j2 has about as many tasks as foreseen" between 1 "$tasks" $((10 * $(column 6)))

# The paper's benchmarks with its times for a run: at least 60 with 64 workers. With SLOW=1 also the bounded buffer, and
# ten million executions with 1024 workers (four minutes).
goal() { # LEAST WORKERS TREE EXECUTION
    test_that "$3: at least $1 with $2 workers" between "$1" "$(speed "$2" --step=0 --execution="$4" --latency=100us "$work/$3.tree")" "$2"
}
record filesystem.tree -DN=26 tests/papers/filesystem.c
record indexer.tree -DN=16 tests/papers/indexer.c
goal 60 64 filesystem 35.6ms
goal 60 64 indexer 36.3ms
goal 60 64 five 49.9ms
if [ -n "$SLOW" ]; then
    record buffer4.tree -DFIFO tests/papers/bbuf.c
    record large.tree tests/papers/bbuf.c
    goal 60 64 buffer4 20.5ms
    goal 900 1024 large 20ms
fi

# ---- refusing ----

head -c 2000 "$work/aget.tree" >"$work/cut"
test_that "a tree that was cut off" refuses 'is not complete' $simulate "$work/cut"
{ head -c 1000 "$work/aget.tree" && printf 'xyz' && tail -c +1004 "$work/aget.tree"; } >"$work/damaged"
test_that "a damaged tree" refuses 'damaged' $simulate "$work/damaged"
test_that "something else" refuses 'is no recorded tree' $simulate tests/simulate/fig7.model
test_that "nothing" refuses 'No such file' $simulate "$work/none"
test_that "the paper's protocol on optimal" refuses 'backtrack sets' $simulate --protocol=paper "$work/aget.tree"
test_that "no time" refuses 'not a time' $simulate --latency=5 "$work/aget.tree"
test_that "no workers" refuses 'not a number' $simulate --workers=0 "$work/aget.tree"
record part.tree --max-executions=10 tests/papers/aget.c
test_that "a search that was ended: said" says "$work/out" 'is not complete'
test_that "a search that was ended: refused" refuses 'is not complete' $simulate "$work/part.tree"
test_that "no tree of states" refuses 'not with s-por' ./mazurka check --algorithm=s-por --record-tree="$work/x" tests/papers/aget.c
test_that "no tree of several workers" refuses 'one worker' ./mazurka check -j2 --record-tree="$work/x" tests/papers/aget.c
test_that "all updates are dpor's" refuses '--algorithm=dpor' ./mazurka check --update=all tests/papers/aget.c
test_that "nowhere to write" refuses 'cannot write' ./mazurka check --record-tree="$work/no/x" tests/papers/aget.c
if [ -c /dev/full ]; then
    ./mazurka check --quiet --record-tree=/dev/full -DT=3 tests/papers/aget.c >"$work/out" 2>&1
    test_that "a full disk" says "$work/out" 'could not be written'
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
