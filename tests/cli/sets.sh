#!/bin/sh
# --count-sets: the sizes of wakeup trees and backtrack sets.
#   sh tests/cli/sets.sh [TEST...]
# shellcheck disable=SC2154
. "$(dirname "$0")/common.sh"

# wakeup_stress (2017, Fig. 12). Backtrack sets: N+1 threads, as in Table 2. The largest tree has the empty sequence, the current
# branch, all sequences of different threads among the N, and N! last steps.
test_sets_of_wakeup_stress() {
    while read -r n tree; do
        for algorithm in source dpor none; do
            run 0 mazurka check -q --algorithm=$algorithm --count-sets --json=j -DN="$n" "$root/tests/papers/wakeup_stress.c" &&
                json_is j "d['largest_set'] == $n + 1 and 1 <= d['mean_set'] <= $n + 1" || return 1
        done
        run 0 mazurka check -q --count-sets --json=j -DN="$n" "$root/tests/papers/wakeup_stress.c" &&
            json_is j "d['largest_set'] == 2 + $tree and 2 <= d['mean_set'] < 6" || return 1
    done << END
1 2
2 6
3 21
4 88
END
}

# A search that starts over (lastzero) counts only the second time; what is counted changes nothing else.
test_sets_after_starting_over() {
    run 0 mazurka check -q --json=plain -DN=6 "$root/tests/papers/lastzero.c" && json_is plain "d['restarts'] > 0" &&
        json_is plain "'largest_set' not in d" || return 1
    run 0 mazurka check --count-sets --json=counted -DN=6 "$root/tests/papers/lastzero.c" && has out "largest set" || return 1
    python3 - > why 2>&1 << 'END' || complain "$(cat why)"
import json
plain, counted = (json.load(open(name)) for name in ("plain", "counted"))
for key in ("executions", "blocked", "transitions", "races", "wakeup_nodes_peak", "restarts"):
    assert plain[key] == counted[key], key
# Each transition begins at a node with a tree; a node with several branches has one tree for all of them.
assert counted["largest_set"] <= 2 + counted["wakeup_nodes_peak"]
END
}

test_sets_refused() {
    refuses "goes with stateless algorithms, not with sdpor" mazurka check --count-sets --algorithm=sdpor ok.c &&
        refuses "for a search by one worker" mazurka check --count-sets -j 2 ok.c &&
        refuses "exclude each other" mazurka check --count-sets --classes=c ok.c &&
        refuses "exclude each other" mazurka check --count-sets --record-tree=c ok.c &&
        refuses "--count-sets goes with --strategy=exhaustive" mazurka check --count-sets --strategy=random ok.c &&
        refuses "--classes or --count-sets" mazurka check --count-sets --estimate=only "$root/tests/papers/fig1.c"
}

# No other search runs beside one that is counted.
test_sets_alone() {
    MAZURKA_COMPANIONS_AFTER=0
    export MAZURKA_COMPANIONS_AFTER
    run 0 mazurka check -q --count-sets --json=j -DN=11 "$root/tests/papers/lastzero.c" && json_is j "d['largest_set'] > 2" &&
        json_is j "'beside' not in d"
}

run_tests "$@"
