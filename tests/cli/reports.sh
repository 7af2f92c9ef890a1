#!/bin/sh
# Reports: the words, the table, the JSON, the progress line.
#   sh tests/cli/reports.sh [TEST...]
# shellcheck disable=SC2154
. "$(dirname "$0")/common.sh"

test_json() {
    programs
    run 1 mazurka check --json lost.c && json_valid out && empty err || return 1
    json_is out "all(k in d for k in 'version verdict algorithm executions blocked transitions states revisited \
max_depth threads seconds executions_per_second peak_memory_bytes errors'.split())" &&
        json_is out "d['verdict'] == 'error' and d['threads'] == 3 and d['blocked'] == 0" || return 1
    json_is out "d['errors'][0]['kind'] == 'assertion' and d['errors'][0]['file'] == 'lost.c'" &&
        json_is out "d['errors'][0]['line'] == 20 and d['errors'][0]['thread'] == '0'" &&
        json_is out "d['errors'][0]['trace'] == 'mazurka-lost-1.trace'" &&
        json_is out "{'thread', 'op', 'object', 'file', 'line'} <= set(d['errors'][0]['steps'][0])" &&
        json_is out "any(s['op'] == 'store' and s['object'] == 'queue.head' for s in d['errors'][0]['steps'])" || return 1
    run 1 mazurka check --json=r.json race.c && first_line out "error: " && json_is r.json "d['errors'][0]['kind'] == 'data-race'" &&
        run 1 mazurka check --json=r.json abba.c && json_is r.json "d['errors'][0]['kind'] == 'deadlock'" &&
        run 1 mazurka check --json=r.json crash.c && json_is r.json "d['errors'][0]['kind'] == 'crash'" &&
        run 1 mazurka check --json=r.json exitcode.c && json_is r.json "d['errors'][0]['kind'] == 'exit-code'" &&
        run 2 mazurka check --json=no/such/dir.json ok.c
}

test_json_escapes() {
    programs
    name='a "quoted" \ name.c'
    cp lost.c "$name"
    run 1 mazurka check --json "$name" && json_valid out && json_is out "d['errors'][0]['file'] == 'a \"quoted\" \\\\ name.c'"
}

# Every key of the JSON is in the manual.
test_json_is_documented() {
    programs
    lastzero=$root/tests/papers/lastzero.c
    run 3 mazurka check -j 2 --checkpoint=c --max-executions=100 --json=1.json -DN=12 "$lastzero" &&
        run 3 mazurka check --resume=c --max-executions=200 --json=2.json -DN=12 "$lastzero" &&
        run 3 mazurka check --algorithm=sdpor --time-limit=0.3 --json=3.json $endless &&
        run 1 mazurka check --json=4.json lost.c && run 1 mazurka check --json=5.json abba.c &&
        run 1 mazurka check --json=6.json race.c &&
        run 3 mazurka check --estimate=only --max-executions=1000 --json=8.json "$root/bench/estimate_locks.c" || return 1
    run 1 mazurka check --leaks --json=7.json -DLOST "$root/tests/programs/leak_lost_node.c" || return 1
    command -v python3 > /dev/null 2>&1 || return 0
    python3 - "$root/man/mazurka.1" *.json > why 2>&1 << 'END' || complain "$(cat why)"
import json, re, sys
def keys(x):
    if isinstance(x, dict):
        for k, v in x.items(): yield k; yield from keys(v)
    elif isinstance(x, list):
        for v in x: yield from keys(v)
section = open(sys.argv[1]).read().split(".SH REPORT")[1].split(".SH PROGRESS")[0]
known = set(re.findall(r"[a-z_]+", section))
missing = {k for name in sys.argv[2:] for k in keys(json.load(open(name)))} - known
sys.exit("not in the manual: %s" % sorted(missing) if missing else 0)
END
}

# The report besides the verdict: lines of at most 80 columns, sizes with units, the singular for one.
test_report_words() {
    { echo '#include <pthread.h>'; cat "$programs/long_search.c"; } > long.c
    lastzero=$root/tests/papers/lastzero.c
    run 3 mazurka check --time-limit=1 long.c && has out "Hint: " && no_wide_lines out &&
        run 3 mazurka check --max-executions=1 long.c && has out "the limit of 1 execution was reached" &&
        run 3 mazurka check --max-steps=1 long.c && has out "the limit of 1 step " &&
        run 3 mazurka check --memory-limit=1K -DN=9 "$lastzero" && has out "memory limit of 1 KiB was reached" &&
        run 3 mazurka check --algorithm=dl-s-por --memory-limit=90K -DN=6 "$lastzero" &&
        has out "memory limit of 90 KiB was reached" || return 1
    program notes.c
    echo > mapped
    run 0 mazurka check --nondet-range=0..1 --json=j notes.c && first_line out "verified, except: a file is mapped" &&
        [ "$(grep -c 'except' out)" -eq 1 ] && no_wide_lines out && has out "Note: numbers of __VERIFIER_nondet_" &&
        [ "$(grep -c '^                  [^ ]' out)" -eq 1 ] && json_is j "len(d['unseen']) == 2" &&
        run 0 mazurka check -q --nondet-range=0..1 notes.c && first_line out "verified, except: a file is mapped" &&
        run 3 mazurka check -q --strict --nondet-range=0..1 --json=j notes.c && has out "(--strict)" &&
        has out "Not seen: a file is mapped" && json_is j "d['verdict'] == 'incomplete' and len(d['unseen']) == 2" &&
        MAZURKA_SHARE_AT_ONCE=1 run 3 mazurka check -j 2 -q --strict --nondet-range=0..1 notes.c &&
        printf '#include <pthread.h>\nvoid *f(void *a) { return a; }\nint main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); }\n' > none.c &&
        run 0 mazurka check -q --strict --json=j none.c && first_line out "verified: " && json_is j "d['unseen'] == []"
}

# The number of workers, and JSON keys that are the same with one worker and with several.
test_report_of_workers() {
    lastzero=$root/tests/papers/lastzero.c
    run 0 mazurka check -j 3 --json=3.json -DN=12 "$lastzero" && tr '\n' ' ' < out > line && has line "3 workers" &&
        hasnt out "explored again" && run 0 mazurka check --json=1.json -DN=12 "$lastzero" && hasnt out "worker" &&
        json_is 3.json "d['processor_seconds'] > 0 and d['processor_seconds'] == d['sharing']['processor_seconds']" &&
        json_is 1.json "d['processor_seconds'] > 0" && json_is 1.json "d['wakeup_nodes'] == 0" &&
        json_is 3.json "d['wakeup_nodes'] == 0"
}

test_wide_table() {
    programs
    run 1 mazurka check -DN=5 many.c && no_wide_lines out && has out "0.5" || return 1
    run 1 mazurka check -DN=12 many.c && no_wide_lines out && has out "thread"
}

test_long_schedule_is_cut() {
    program deep.c
    run 1 mazurka check deep.c && has out "operations left out" && [ "$(wc -l < out)" -lt 130 ] &&
        run 0 mazurka show mazurka-deep-1.trace && hasnt out "left out" && [ "$(wc -l < out)" -gt 300 ] &&
        run 1 mazurka check --verbose deep.c && hasnt out "left out"
}

lines_fit() { # FILE COLUMNS
    awk -v most="$2" 'length > most { print; exit 1 }' "$1" > wide || complain "too wide: $(cat wide)"
}

# Progress as lines for a log, and as JSON objects; with workers and after --resume.
test_progress() {
    lastzero=$root/tests/papers/lastzero.c
    run 3 mazurka check --progress=always --time-limit=5 $endless && grep -qE "^[0-9]+ executions in [2-5] s, " err &&
        has err " %" && has err "/s, depth" && lines_fit err 80 && run 3 mazurka check --time-limit=0.7 $endless &&
        empty err || return 1
    run 3 mazurka check --progress=json --time-limit=4 -j 2 --checkpoint=c $endless || return 1
    ! grep -q '"share": 1,' err || { complain "all is done, and there is more: $(cat err)"; return 1; }
    tail -n 1 err > last && head -n 2 err | tail -n 1 > early && json_valid last && json_is last \
        "d['final'] and d['workers'] == 2 and d['executions'] > 0 and 0 < d['share'] < 1 and d['errors'] == 0" &&
        json_is early "not d['final'] and {'rate', 'depth', 'blocked', 'cut', 'states', 'seconds_left'} < set(d)" ||
        return 1
    run 3 mazurka check --progress=json --time-limit=0.7 --resume=c $endless && tail -n 1 err > again &&
        json_is again "d['executions'] >= $(executions last) and d['share'] > 0" &&
        run 0 mazurka check --progress=json -DN=9 "$lastzero" && tail -n 1 err > last &&
        json_is last "d['final'] and d['share'] == 1 and d['executions'] == 1536" &&
        run 0 mazurka check --progress=json --algorithm=stateful -DN=7 "$lastzero" && tail -n 1 err > last &&
        json_is last "d['states'] > 0 and d['share'] == 1" &&
        run 0 mazurka check --progress=json --algorithm=portfolio -DN=8 "$lastzero" && tail -n 1 err > last &&
        json_is last "d['final'] and d['algorithm'] == 'portfolio'" &&
        refuses "--progress=xml" mazurka check --progress=xml "$lastzero"
}

# The estimates of a search of 235,584 executions whose first branches are its smallest, when a quarter and when half of it is
# explored. The estimate may be a tenth of a second old. With workers it also depends on which parts they explored.
test_progress_estimate() {
    estimate() { # EXECUTIONS PYTHON OPTION...
        most=$1
        what=$2
        shift 2
        run 3 mazurka check -q --max-executions="$most" --json=j "$@" -DP=4 -DC=3 "$root/tests/papers/bbuf.c" && json_is j "$what"
    }
    estimate 58896 "0.1 < d['share'] < 0.4" && estimate 117792 "0.3 < d['share'] < 0.68" &&
        estimate 117792 "0.3 < d['share'] < 0.68" -j 2
}

# Estimates of a survey: of searches whose size is known, and of one that no search would end. A survey with a
# fixed seed and number of executions always says the same. A small search has none.
test_survey() {
    programs
    locks=$root/bench/estimate_locks.c
    only="mazurka check -q --json=j --estimate=only"
    run 3 $only --max-executions=3000 "$locks" && json_is j "d['estimate']['low'] <= 1330 <= d['estimate']['high'] and 'share' not in d" &&
        json_is j "d['estimate']['high'] < 1.5 * d['estimate']['low'] and d['estimate']['confidence'] == 0.9" &&
        run 3 $only --max-executions=3000 -DR=7 "$locks" && json_is j "1e6 / 1.5 < d['estimate']['executions'] < 1.5e6" &&
        run 3 $only --max-executions=20000 -DN=5 -DR=20 "$locks" && json_is j "1e28 < d['estimate']['executions'] < 1e32" &&
        run 3 $only --max-executions=1000 -DN=2 "$locks" && json_is j "d['estimate']['low'] <= 1 <= d['estimate']['high']" &&
        run 0 mazurka check --json=j "$locks" && json_is j "'estimate' not in d" || return 1
    run 3 mazurka check --json=j --time-limit=6 -DN=5 -DR=20 "$locks" && has out "Estimate: " && has out " 90 % interval" &&
        has out "less than 1 % done" && json_is j "1e27 < d['estimate']['low'] and 0 < d['share'] < 1e-20" &&
        run 3 mazurka check --json=j --time-limit=6 -j 2 -DN=5 -DR=20 "$locks" && json_is j "1e27 < d['estimate']['low']" &&
        run 3 mazurka check --json=j --time-limit=2 --estimate=never -DN=5 -DR=20 "$locks" && json_is j "'estimate' not in d" || return 1
    refuses "each class of executions once" mazurka check --estimate=only --algorithm=stateful "$locks" &&
        refuses "each class of executions once" mazurka check --estimate=only --algorithm=none "$locks" &&
        refuses "leave out --strategy" mazurka check --estimate=only --strategy=pos "$locks" &&
        refuses "does not search" mazurka check --estimate=only --checkpoint=c "$locks" &&
        refuses "--estimate=maybe" mazurka check --estimate=maybe "$locks" && run 1 mazurka check --estimate=only lost.c &&
        has out "assertion"
}

# Assertions that no execution reaches, with both compilers, at all levels of optimization, and with workers.
test_unreached() {
    program=$root/tests/programs/assertions_reached.c
    never='[u.split("/")[-1].split(":")[1] for u in d["unreached_assertions"]] == ["17", "25", "40"]'
    for cc in gcc clang; do
        command -v $cc > /dev/null 2>&1 || continue
        for level in -O0 -O1 -O2 -O3; do
            MAZURKA_CC=$cc run 0 mazurka check --json=j $level "$program" && json_is j "$never" && hasnt out "Never reached" || return 1
        done
        MAZURKA_CC=$cc run 3 mazurka check --max-executions=1000 --json=j -DROUNDS=9 "$program" &&
            has out "Never reached in any execution: 3 of 6 assertions" && has out "assertions_reached.c:25: atomic_load(&y) == 7" &&
            json_is j "$never" && no_wide_lines out || return 1
    done
    MAZURKA_SHARE_AT_ONCE=1 run 0 mazurka check -j 2 --json=j -DROUNDS=2 "$program" && json_is j "$never"
}

# On a terminal of any width, progress is one line. It is erased before the report.
test_progress_terminal() {
    command -v script > /dev/null 2>&1 || return 0
    for columns in 80 40; do
        script -qec "stty cols $columns; TERM=xterm mazurka check -j 2 --color=never --time-limit=4 $endless" \
            typescript < /dev/null > /dev/null
        tr '\r' '\n' < typescript | sed 's/\x1b\[K//g' | grep '^[0-9]* executions' > lines
        [ -s lines ] || { complain "nothing was shown"; return 1; }
        lines_fit lines $((columns - 1)) || return 1
        grep -qE "^[0-9]+ executions in [0-9]+ s, .*[~<][0-9]+ %" lines || { complain "no share: $(head -n 1 lines)"; return 1; }
        [ $columns = 40 ] || grep -qE "[0-9]k?/s, depth [0-9]+, 2 workers, " lines ||
            { complain "something is left out: $(head -n 1 lines)"; return 1; }
        # right before the report, the line is erased
        printf '\r\033[K' > erased
        tr -d '\n' < typescript | grep -qF "$(cat erased)incomplete" ||
            { complain "the line is not erased"; return 1; }
    done
}

# A search that did not end says which operations it reordered most often, and what would make the test smaller.
test_hot_spots() {
    cat > hot.c << 'END'
#include <mazurka.h>
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int flags[3], seen;
static void *work(void *arg)
{
    atomic_fetch_or(&flags[mz_choose(3)], 1);
    for (int i = 0; i < 8; i++) {
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
    }
    return arg;
}
int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
}
END
    for jobs in 1 2; do
        run 3 mazurka check -j $jobs --max-executions=30000 --json=j hot.c && run 3 mazurka check -j $jobs --max-executions=30000 hot.c &&
            has out "Where the executions come from" && has out "lock m, hot.c:10, in 4 threads, up to 8 times in a thread" &&
            has out "fewer rounds" && has out "fewer threads" || return 1
        json_is j "[(s['op'], s['object'], s['line'], s['threads'], s['times']) for s in d['hot_spots']][0] == ('lock', 'm', 10, 4, 8)" &&
            json_is j "0.9 < sum(s['share'] for s in d['hot_spots']) < 1.001" || return 1
    done
    run 3 mazurka check --algorithm=none --max-executions=2000 hot.c && has out "Where the executions come from" || return 1
    # A search that ended does not need it; with --verbose it shows the rows.
    run 0 mazurka check -DN=2 "$root/tests/papers/readers.c" && hasnt out "Where the executions" &&
        run 0 mazurka check --verbose -DN=2 "$root/tests/papers/readers.c" && has out "Where the executions"
}

run_tests "$@"
