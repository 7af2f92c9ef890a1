#!/bin/sh
# --preemptions and --delays: what is explored, what the report says.
#   sh tests/cli/bounds.sh [TEST...]
# shellcheck disable=SC2154
. "$(dirname "$0")/common.sh"

# Two threads of three stores each to one variable. A thread that starts runs to its end with 0 preemptions: 2 classes. With
# 1 preemption: the first thread stops after 1 or 2 of its 3 stores: 4 more. In general, the last switch is free, and each
# one before it is a preemption: 8 orders with 2, 4 with 3 and 2 with 4 preemptions, which makes 20.
stores() { sed 's/STORES/3/' "$programs/stores.c" > stores.c; }

test_bound_counts_by_hand() {
    stores
    for k in 0:2 1:6 2:14 3:18; do
        run 3 mazurka check --preemptions=${k%:*} --json=j stores.c &&
            first_line out "incomplete: no error with at most ${k%:*} preemption" && has out "all of these explored" &&
            has out "Search: complete within the bound" &&
            json_is j "d['executions'] == ${k#*:} and d['verdict'] == 'incomplete' and not d['complete']" &&
            json_is j "d['bound']['kind'] == 'preemptions' and d['bound']['limit'] == d['bound']['explored'] == ${k%:*}" &&
            json_is j "d['bound']['beyond'] > 0" || return 1
    done
    # Nothing is left out: that is a proof.
    run 0 mazurka check --preemptions=4 --json=j stores.c && first_line out "verified: " &&
        json_is j "d['executions'] == 20 and d['bound']['beyond'] == 0" &&
        run 0 mazurka check --preemptions=auto --json=j stores.c && json_is j "d['bound']['limit'] == 4" &&
        run 0 mazurka check --delays=auto --json=j stores.c && json_is j "d['executions'] == 20" &&
        run 3 mazurka check --delays=0 --json=j stores.c && json_is j "d['executions'] == 1"
}

# The same with workers, and after a checkpoint.
test_bound_workers() {
    stores
    MAZURKA_SHARE_AT_ONCE=1 run 3 mazurka check -j 3 --preemptions=2 --json=j stores.c &&
        json_is j "d['executions'] >= 14 and d['bound']['beyond'] > 0 and d['bound']['explored'] == 2" &&
        MAZURKA_SHARE_AT_ONCE=1 run 0 mazurka check -j 2 --preemptions=9 --json=j stores.c &&
        MAZURKA_SHARE_AT_ONCE=1 run 3 mazurka check --preemptions=3 --max-executions=5 --checkpoint=c stores.c &&
        run 3 mazurka check --preemptions=3 --resume=c --json=j stores.c && json_is j "d['bound']['explored'] == 3" &&
        refuses "--preemptions (then 3, now 2)" mazurka check --preemptions=2 --resume=c stores.c
}

test_bound_finds() {
    programs
    run 3 mazurka check --preemptions=0 lost.c && run 1 mazurka check --preemptions=1 --json=j lost.c &&
        json_is j "d['bound']['limit'] == 1" && run 1 mazurka replay mazurka-lost-1.trace &&
        run 1 mazurka check --preemptions=auto --json=j abba.c && json_is j "d['bound']['limit'] == 1" &&
        run 1 mazurka check --preemptions=0 race.c && has out "data race" &&
        run 1 mazurka check --delays=auto crash.c
}

test_bound_limits() {
    programs
    run 3 mazurka check --preemptions=auto --time-limit=1 --json=j long.c &&
        first_line out "incomplete: no error with at most " && has out "the time limit of 1 s was reached" &&
        json_is j "d['bound']['explored'] == d['bound']['limit'] - 1" &&
        run 3 mazurka check --preemptions=3 --max-executions=7 long.c && has out "limit of 7 executions" &&
        run 4 mazurka check --preemptions=auto single.c
}

test_bound_refused() {
    programs
    refuses "give a number from 0 to" mazurka check --preemptions=x ok.c &&
        refuses "give a number from 0 to" mazurka check --delays=-1 ok.c &&
        refuses "exclude each other" mazurka check --delays=1 --preemptions=1 ok.c &&
        refuses "--algorithm does not go with --preemptions" mazurka check --preemptions=1 --algorithm=dpor ok.c &&
        refuses "go with --strategy=exhaustive" mazurka check --preemptions=1 --strategy=pos ok.c &&
        refuses "give a number" mazurka check --preemptions=auto --checkpoint=c ok.c
}

run_tests "$@"
