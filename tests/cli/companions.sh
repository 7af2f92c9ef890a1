#!/bin/sh
# --strategy=auto: searches beside an exhaustive search that takes long. rounds.c has far more executions than any search ends,
# so that these tests do not depend on how fast the machine is.
#   sh tests/cli/companions.sh [TEST...]
# shellcheck disable=SC2154
. "$(dirname "$0")/common.sh"
export MAZURKA_COMPANIONS_AFTER=0

no_processes() {
    [ -z "$(pgrep -f "$PWD/")" ] || complain "processes are left: $(pgrep -af "$PWD/")"
}

# A companion finds the error. Its trace replays, and the report says what the exhaustive search did.
test_companion_finds() {
    program rounds.c
    run 1 mazurka check --algorithm=optimal --json=j -DFAILS rounds.c && hasnt out "algorithm optimal" &&
        has out "Beside it: optimal with" && has out "Replayed: same outcome" &&
        json_is j "d['beside'][0]['search'] == 'optimal'" &&
        run 1 mazurka replay mazurka-rounds-1.trace && no_processes || return 1
    for jobs in 2 4; do # some worker may find it first
        run 1 mazurka check -j $jobs -DFAILS rounds.c && has out "Replayed: same outcome" && no_processes || return 1
    done
}

# Stateful search proves what the exhaustive search cannot end. Not for a search by an algorithm that was asked for.
test_companion_proves() {
    program rounds.c
    run 0 mazurka check --json=j rounds.c && first_line out "verified: no error" && has out "Beside it: optimal with" &&
        json_is j "d['algorithm'] == 's-por' and d['complete'] and not d['unseen']" &&
        run 3 mazurka check --algorithm=optimal --time-limit=4 --json=j rounds.c && first_line out "incomplete: " &&
        has out "Beside it: mix with" && hasnt out "s-por" &&
        json_is j "d['algorithm'] == 'optimal' and [b['search'] for b in d['beside']] == ['mix']" && no_processes
}

test_no_companions() {
    program rounds.c
    run 3 mazurka check --strategy=exhaustive --time-limit=1 --json=j rounds.c && hasnt out "Beside" &&
        json_is j "'beside' not in d" || return 1
    for option in --record-tree=t --classes=c --max-executions=100; do
        run 3 mazurka check --time-limit=1 $option --json=j rounds.c && json_is j "'beside' not in d" || return 1
    done
    run 0 mazurka check --algorithm=stateful --json=j rounds.c && json_is j "'beside' not in d"
}

# With --keep-going, the exhaustive search goes on to its limit. It has found nothing: the companion's error is reported.
test_companion_keep_going() {
    program rounds.c
    run 1 mazurka check --algorithm=optimal --keep-going --time-limit=6 --json=j -DFAILS rounds.c && hasnt out "algorithm optimal" &&
        json_is j "d['seconds'] < 6 and len(d['errors']) == 1" && no_processes
}

# A signal ends all searches.
test_companion_interrupted() {
    program rounds.c
    run 3 mazurka check --max-executions=1 rounds.c || return 1 # from now on the program is in the cache
    for signal in INT TERM; do
        rm -f err
        mazurka check --algorithm=optimal --progress=json rounds.c > out 2> err &
        pid=$!
        wait_until searching err
        sleep 1
        kill -$signal $pid
        wait $pid
        ended_with 3 $? && first_line out "incomplete: " && has out "interrupted" && no_processes || return 1
    done
}

run_tests "$@"
