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
    "$@" >"$work/out" 2>"$work/err"
    [ $? = 2 ] && [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" = 1 ] && says "$work/err" "$text"
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
# Two recordings are the same: nothing depends on the time or on addresses.
record again.tree -DT=4 tests/papers/aget.c
test_that "a tree is the same each time" cmp -s "$work/aget.tree" "$work/again.tree"
for a in optimal source dpor dpor-all; do
    test_that "a model is recorded, $a" $simulate --record="$work/m-$a" --algorithm=$a tests/simulate/fig7.model
    $simulate --workers=2 "$work/m-$a" >"$work/out" 2>&1
    test_that "three threads take a mutex in 6 orders, $a" says "$work/out" ' 6 executions (0 blocked)'
done

# ---- simulating ----

# 2007, Fig. 8 and 10: two workers both find the third thread's branch at the root, unless the first execution finds it.
free='--step=0 --execution=1ms --latency=0 --start=0 --task=0 --done=0'
all_free="$free --split=0 --update=0 --alone=0 --least=0 --quiet=0 --round=0 --poll=0 --far=0"
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

# Choices, searches that start over, timeouts, blocked executions. The simulator itself checks that it runs every execution
# once, and none before it is known.
for m in signal-choice choose-then-race section-late timedwait-two rwlock-two-writers lastzero-5 example-2005; do
    for a in optimal source dpor dpor-all; do
        $simulate --record="$work/m" --algorithm=$a tests/random/corpus/$m.model
        # shellcheck disable=SC2086
        test_that "$m, $a: three workers, ours" $simulate $all_free --workers=3 "$work/m" >/dev/null
        # shellcheck disable=SC2086
        [ $a = optimal ] || test_that "$m, $a: three workers, paper" $simulate $free --protocol=paper --workers=3 "$work/m" >/dev/null
    done
done

# Compare the real balancer in simulated time (--live) with the simulation on the recorded tree, on 10,584 executions.
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

# Two real processes: no execution is run twice, and the number of tasks is about the simulated one, not many times that.
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

# ---- what is printed ----

narrow() { # COMMAND...: all of it in 80 columns, and no exponents
    "$@" >"$work/out" 2>&1 && awk 'length > 80 || /[0-9]e[+-]?[0-9]/ { print "  " $0; bad = 1 } END { exit bad }' "$work/out"
}
test_that "the help is narrow" narrow $simulate --help
test_that "tables are narrow" narrow $simulate --name=aget --workers=2,64,65536 "$work/aget.tree"
test_that "the paper's tables are narrow" narrow $simulate --name=aget --protocol=paper --workers=2,64 "$work/lazy.tree"
test_that "tables of live are narrow" narrow $simulate --live --workers=2,64 tests/simulate/buffer.model
test_that "long times have no exponents" narrow $simulate --name=five --execution=1s --workers=2,4 "$work/five.tree"
test_that "113,400 executions of a second each" says "$work/out" 'one worker: 113400 s;'

# ---- refusing ----

head -c 2000 "$work/aget.tree" >"$work/cut"
test_that "a tree that was cut off" refuses 'is not complete' $simulate "$work/cut"
{ head -c 1000 "$work/aget.tree" && printf 'xyz' && tail -c +1004 "$work/aget.tree"; } >"$work/damaged"
test_that "a damaged tree" refuses 'damaged' $simulate "$work/damaged"
test_that "something else" refuses 'is no recorded tree' $simulate tests/simulate/fig7.model
test_that "nothing" refuses "$work/none: No such file" $simulate "$work/none"
test_that "no model" refuses "$work/none: No such file" $simulate --live "$work/none"
test_that "a tree is no model" refuses 'a model is needed' $simulate --live "$work/aget.tree"
test_that "no file" refuses 'a TREE is needed; see' $simulate
test_that "no file for --live" refuses 'a MODEL is needed; see' $simulate --live
test_that "two files" refuses 'one file at a time' $simulate "$work/aget.tree" "$work/five.tree"
test_that "no such option" refuses '--bogus: no such option; see mz-simulate --help' $simulate --bogus "$work/aget.tree"
test_that "no short options" refuses '-w: no such option' $simulate -w 2 "$work/aget.tree"
test_that "no value" refuses '--workers: needs a value' $simulate "$work/aget.tree" --workers
test_that "a value too many" refuses '--wait=2: takes no value' $simulate --wait=2 "$work/aget.tree"
test_that "a table nowhere" refuses "$work/no/x: No such file" $simulate --tsv="$work/no/x" "$work/aget.tree"
test_that "a table of live nowhere" refuses "$work/no/x: No such file" $simulate --live --tsv="$work/no/x" tests/simulate/fig7.model
test_that "a tree nowhere" refuses "$work/no/x: No such file" $simulate --record="$work/no/x" tests/simulate/fig7.model
# Options without a meaning are refused, not ignored.
test_that "a tree has its algorithm" refuses '--algorithm: only with --record' $simulate --algorithm=bogus "$work/aget.tree"
test_that "no such algorithm" refuses 'bogus: not one of' $simulate --record="$work/x" --algorithm=bogus tests/simulate/fig7.model
test_that "a limit is the paper's" refuses '--limit: only with --protocol=paper' $simulate --limit=5 "$work/aget.tree"
test_that "the paper has no polls" refuses '--poll: not with --protocol=paper' $simulate --protocol=paper --poll=1us "$work/lazy.tree"
test_that "live has its own batches" refuses '--single: not with --live' $simulate --live --single tests/simulate/fig7.model
test_that "live or recorded" refuses '--live: not with --record' $simulate --live --record="$work/x" tests/simulate/fig7.model
test_that "the paper's protocol on optimal" refuses 'backtrack sets' $simulate --protocol=paper "$work/aget.tree"
test_that "no time" refuses 'not a time' $simulate --latency=5 "$work/aget.tree"
test_that "no workers" refuses '--workers=0: "0" is not a number from 1 to 65536' $simulate --workers=0 "$work/aget.tree"
test_that "two, and no workers" refuses '"x" is not a number from 1 to 65536' $simulate --workers=2,x "$work/aget.tree"
test_that "two, and nothing" refuses '"" is not a number' $simulate --workers=2, "$work/aget.tree"
test_that "too many for live" refuses '"300" is not a number from 1 to 256' $simulate --live --workers=2,300 tests/simulate/fig7.model
test_that "no number" refuses '--few=x: not a number from 0 to' $simulate --few=x "$work/aget.tree"
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
