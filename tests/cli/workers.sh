#!/bin/sh
# Searches with several workers.
#   sh tests/cli/workers.sh [TEST...]
# shellcheck disable=SC2154
. "$(dirname "$0")/common.sh"

# Several workers give the same verdict, executions and findings as one. MAZURKA_SHARE_AT_ONCE shares even small searches.
test_jobs() {
    programs
    MAZURKA_SHARE_AT_ONCE=1
    export MAZURKA_SHARE_AT_ONCE
    for n in 12 13 14; do
        for j in 1 2 5; do
            run 0 mazurka check -j $j -DN=$n --json=$n-$j.json "$root/tests/papers/indexer.c" || return 1
        done
        json_is $n-2.json "d['executions'] == $(executions $n-1.json) and d['blocked'] == 0" &&
            json_is $n-5.json "d['executions'] == $(executions $n-1.json) and d['blocked'] == 0" || return 1
    done
    run 1 mazurka check -j 3 -q lost.c && run 1 mazurka check -j 2 --keep-going --json=k2.json lost.c &&
        run 1 mazurka check --keep-going --json=k1.json lost.c &&
        json_is k2.json "len(d['errors']) == $(python3 -c "import json;print(len(json.load(open('k1.json'))['errors']))")" &&
        run 3 mazurka check -j 2 --max-executions=50 -DN=16 "$root/tests/papers/indexer.c" &&
        run 3 mazurka check -j 2 --time-limit=1 long.c && has out "time limit" &&
        refuses "--jobs=0" mazurka check -j 0 ok.c && refuses "--jobs=99999" mazurka check -j 99999 ok.c &&
        run 0 mazurka check -j 2 --algorithm=stateful --sleep-sets ok.c && has err "one worker: -j is not for sleep sets with states" &&
        run 0 mazurka check -j 2 --algorithm=sdpor --state-match=exact ok.c && has err "is not for --state-match=exact" &&
        run 0 mazurka check -j 2 --algorithm=stateful --state-capture=delta ok.c && has err "is not for --state-capture=delta" &&
        run 0 mazurka check -j 2 --algorithm=static --stateful ok.c && has err "is not for persistent sets"
}

# The same for the other algorithms that explore a tree. The number of blocked executions may differ. Without sleep sets the
# number of complete ones may differ, too: additions to a backtrack set depend on what is in it already.
test_jobs_algorithms() {
    MAZURKA_SHARE_AT_ONCE=1
    export MAZURKA_SHARE_AT_ONCE
    file=$root/tests/papers/lastzero.c
    for how in "source 7" "dpor 6" "sleep 3" "none 2"; do
        set -- $how
        run 0 mazurka check --algorithm=$1 -DN=$2 --json=1.json "$file" &&
            run 0 mazurka check -j 3 --algorithm=$1 -DN=$2 --json=3.json "$file" &&
            json_is 3.json " d['redundant'] == 0 and d['lost'] == 0" &&
            json_is 3.json "d['executions'] == $(executions 1.json)" || return 1
    done
    run 0 mazurka check -j 3 --algorithm=dpor --no-sleep-sets -DN=5 --json=3.json "$file" &&
        json_is 3.json "d['executions'] >= 64" || return 1
    for jobs in 1 3; do # the search starts over once
        run 0 mazurka check -j $jobs -DN=16 --json=3.json "$root/tests/papers/filesystem.c" &&
            json_is 3.json "d['restarts'] == 1" || return 1
    done
}

# Stateful searches: the workers share the finished states, so that no state is lost, and few are explored twice.
test_jobs_stateful() {
    programs
    MAZURKA_SHARE_AT_ONCE=1
    export MAZURKA_SHARE_AT_ONCE
    file="-DP=4 $root/tests/papers/state_buffer.c"
    # shellcheck disable=SC2086
    for how in stateful s-por de-s-por dl-s-por sdpor; do
        run 0 mazurka check --algorithm=$how --json=1.json $file && run 0 mazurka check -j 3 --algorithm=$how --json=3.json $file &&
            json_is 3.json "d['workers'] == 3 and d['lost'] == 0" &&
            python3 -c "import json; a, b = (json.load(open(n)) for n in ('1.json', '3.json'))
assert '$how' != 'stateful' or a['states'] <= b['states'] <= 1.01 * a['states'], (a['states'], b['states'])
assert b['transitions'] < 2 * a['transitions'], (a['transitions'], b['transitions'])" || return 1
    done
    # Stack protectors have the same value in all workers.
    run 0 mazurka check --algorithm=stateful -fstack-protector-all --json=1.json $file &&
        run 0 mazurka check -j 2 --algorithm=stateful -fstack-protector-all --json=2.json $file &&
        json_is 2.json "d['transitions'] < 1.5 * $(python3 -c "import json; print(json.load(open('1.json'))['transitions'])")" || return 1
    # A fact that each of two workers has seen one half of makes the search start over.
    run 1 mazurka check -j 2 --algorithm=s-por --keep-going --json=k2.json lost.c && run 1 mazurka check -q -j 3 --algorithm=dl-s-por lost.c
}

# Killed workers lose only what they have not finished.
test_jobs_stateful_killed() {
    file="-DP=4 $root/tests/papers/state_buffer.c"
    # shellcheck disable=SC2086
    run 0 mazurka check -q --algorithm=stateful --json=1.json $file || return 1
    # shellcheck disable=SC2086
    MAZURKA_SHARE_AT_ONCE=1 mazurka check -q -j 2 --algorithm=stateful --json=2.json $file > out 2> err &
    pid=$!
    for _ in 1 2 3 4 5 6; do
        sleep 0.1
        worker=$(ps -o pid= --ppid $pid 2> /dev/null | head -n 1 | tr -d ' ')
        [ -z "$worker" ] || kill -KILL "$worker" 2> /dev/null
    done
    wait $pid || { complain "status $?"; return 1; }
    python3 -c "import json; a, b = (json.load(open(n)) for n in ('1.json', '2.json'))
assert a['states'] <= b['states'] <= 1.01 * a['states'], (a['states'], b['states'])"
}

# A worker that is killed is replaced, and nothing is counted twice or lost.
test_jobs_killed_workers() {
    run 0 mazurka check -q -DN=14 "$root/tests/papers/lastzero.c" && cp out alone || return 1
    # Shared at once: otherwise the search may start over with one worker on a busy machine, and cannot replace that worker.
    MAZURKA_SHARE_AT_ONCE=1 mazurka check -q -j 2 -DN=14 "$root/tests/papers/lastzero.c" > out 2> err &
    pid=$!
    for _ in 1 2 3 4 5 6; do
        sleep 0.2
        worker=$(ps -o pid= --ppid $pid 2> /dev/null | head -n 1 | tr -d ' ')
        [ -z "$worker" ] || kill -KILL "$worker" 2> /dev/null
    done
    wait $pid || { complain "status $?"; return 1; }
    cmp -s out alone || complain "$(cat out) instead of $(cat alone)"
}

# If workers are killed repeatedly, the search ends, and reports what it has found and explored.
test_jobs_killed_again_and_again() {
    mazurka check -j 2 --keep-going --json=1.json $endless > out 2> err &
    pid=$!
    for _ in $(seq 1200); do
        sleep 0.1
        [ -d /proc/$pid ] || break
        for child in $(cat /proc/$pid/task/$pid/children 2> /dev/null); do
            case $(cat "/proc/$child/comm" 2> /dev/null) in program-*) kill -9 "$child" && break ;; esac
        done
    done
    wait $pid
    ended_with 3 $? || return 1
    first_line out "incomplete: " && has err "killed repeatedly" && json_is 1.json "d['verdict'] == 'incomplete'"
}

# If every task is a single short execution, one worker may be faster than two. Then the search starts over with one
# worker, and continues with two after all if the single worker is slower. Both ways explore everything.
test_small_parts() {
    readers=$root/tests/papers/readers.c
    run 0 env MAZURKA_SHARING_TRIAL=alone mazurka check -j 2 --progress=json --json=j -DN=16 "$readers" &&
        json_is j "d['executions'] == 65536 and d['complete'] and 'sharing' not in d" &&
        has out "it started over" || return 1
    [ "$(grep -c '"final": true' err)" = 1 ] || { complain "$(grep -c '"final": true' err) last objects"; return 1; }
    run 0 env MAZURKA_SHARING_TRIAL=together mazurka check -j 2 --json=j -DN=13 "$readers" &&
        json_is j "d['executions'] == 8192 and d['complete'] and d['workers'] == 2 and d['sharing']['parts'] > 1000" &&
        hasnt out "it started over" || return 1
    # Whatever wins when speed decides, everything is explored.
    run 0 mazurka check -j 2 --json=j -DN=16 "$readers" && json_is j "d['executions'] == 65536 and d['complete']" || return 1
    # Executions that are long enough for a message (LONG in pool_end.c, 0.4 ms) on the fastest machine: a slow one makes
    # them longer.
    sed 's/(void)atomic_load((_Atomic int/for (volatile int i = 0; i < 3000000; i = i + 1) ;\n    &/' "$readers" > long.c
    run 0 mazurka check -j 2 --json=j -DN=11 long.c && empty err && hasnt out "it started over" &&
        json_is j "d['executions'] == 2048 and d['workers'] == 2 and d['sharing']['parts'] > 1000" || return 1
    run 3 mazurka check -j 2 --time-limit=0.4 -DN=40 "$readers" && has out "time limit of 0.4 s" &&
        run 3 mazurka check -j 2 --time-limit=1.6 -DN=40 "$readers" && has out "time limit of 1.6 s" || return 1
    # A program that starts slowly, and a search that goes on after an error: both explore all executions.
    program start.c
    run 0 mazurka check -j 2 -DN=16 start.c "$readers" && has out "65536 executions" || return 1
    sed 's/    return 0;/    int seen = 0;\n    for (int i = 0; i < N; i++) seen += own[i];\n    if (seen == 12) abort();\n&/;
         s/(void)atomic_load(&x);/*(_Atomic int *)arg = atomic_load(\&x) == 42;/; s/#include <stdatomic.h>/&\n#include <stdlib.h>/' "$readers" > twelve.c
    run 1 mazurka check -j 2 --keep-going --json=j -DN=16 twelve.c && json_is j "d['complete'] and d['executions'] == 65536"
}

run_tests "$@"
