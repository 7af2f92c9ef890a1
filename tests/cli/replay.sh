#!/bin/sh
# Trace files: replay, show, and traces that are refused.
#   sh tests/cli/replay.sh [TEST...]
# shellcheck disable=SC2154
. "$(dirname "$0")/common.sh"

test_trace_round_trip() {
    programs
    for p in lost race abba exitcode; do
        run 1 mazurka check $p.c && cp out checked && run 1 mazurka replay mazurka-$p-1.trace &&
            first_line out "$(head -n 1 checked)" && has out "Replayed: same outcome" && run 0 mazurka show mazurka-$p-1.trace &&
            first_line out "$(head -n 1 checked)" || return 1
        sed -n '/^Schedule/,/^$/p' checked > a
        sed -n '/^Schedule/,/^$/p' out > b
        cmp -s a b || { complain "$p: show differs from check"; return 1; }
    done
    for _ in 1 2 3 4 5; do run 1 mazurka replay -q mazurka-lost-1.trace || return 1; done
}

test_trace_name() {
    programs
    run 1 mazurka check --trace=here.tr lost.c && has out "mazurka replay here.tr" && [ -f here.tr ] &&
        [ ! -e mazurka-lost-1.trace ] && mkdir sub && cd sub && run 1 mazurka replay ../here.tr && has out "lost.c:20"
}

test_trace_of_a_program() {
    programs
    run 0 mazurka cc -o prog lost.c && run 1 mazurka check ./prog && run 1 mazurka replay mazurka-prog-1.trace &&
        run 0 mazurka cc -O2 -o prog lost.c && refuses "has changed" mazurka replay mazurka-prog-1.trace &&
        rm prog && refuses "No such file" mazurka replay mazurka-prog-1.trace
}

test_trace_refused() {
    programs
    run 1 mazurka check lost.c || return 1
    t=mazurka-lost-1.trace
    sed 's/queue.head/queue.heaD/' $t > damaged.trace && refuses "damaged" mazurka replay damaged.trace &&
        refuses "damaged" mazurka show damaged.trace &&
        head -c 700 $t > short.trace && refuses "short.trace is" mazurka replay short.trace &&
        refuses "not a mazurka trace" mazurka replay lost.c && : > empty.trace &&
        refuses "not a mazurka trace" mazurka show empty.trace && refuses "No such file" mazurka replay gone.trace &&
        refuses "newer" mazurka show "$(printf 'mazurka-trace\t99\n' > new.trace && echo new.trace)" &&
        refuses "one trace file" mazurka replay && refuses "one trace file" mazurka show a b || return 1
    sed 's/v - 1/v - 2/' lost.c > changed.c && cp changed.c lost.c && refuses "has changed" mazurka replay $t
}

test_trace_not_writable() {
    programs
    run 1 mazurka check --trace=no/such/dir/t lost.c && has err "cannot write the trace file" &&
        first_line out "error: " && hasnt out "mazurka replay"
}

# replay writes its report to the current directory, not to the directory that the trace names.
test_replay_writes_here() {
    programs
    mkdir there && cp lost.c there && (cd there && run 1 mazurka check --trace=../t lost.c) && run 1 mazurka replay --json=j t &&
        [ -s j ] && [ ! -e there/j ] && json_valid j
}

# Fences are events only for memory models. As events they add steps, but change neither the verdict nor the executions.
test_fences_as_events() {
    program fences.c
    run 0 mazurka check -DFOUND=1 --json=1.json fences.c && json_is 1.json "d['executions'] == 2 and d['transitions'] == 6" &&
        run 0 env MAZURKA_FENCE_EVENTS=1 mazurka check -DFOUND=1 --json=2.json fences.c &&
        json_is 2.json "d['executions'] == 2 and d['transitions'] == 9" || return 1
    export MAZURKA_FENCE_EVENTS=1
    run 1 mazurka check -DFOUND=0 --trace=t.trace fences.c && has out "Schedule (4 steps)" && run 1 mazurka replay t.trace
    status=$?
    unset MAZURKA_FENCE_EVENTS
    # Without fences as events, replay fails: the schedule has steps that the program does not make.
    [ $status -eq 0 ] && run 2 mazurka replay t.trace
}

run_tests "$@"
