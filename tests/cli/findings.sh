#!/bin/sh
# Verdicts and findings of small programs.
#   sh tests/cli/findings.sh [TEST...]
# shellcheck disable=SC2154
. "$(dirname "$0")/common.sh"

test_verified() {
    programs
    run 0 mazurka check ok.c && first_line out "verified: " && has out "2 executions" && has out "Search: complete" &&
        empty err && no_wide_lines out
}

test_algorithms() {
    programs
    for a in optimal source dpor sleep none; do
        run 0 mazurka check --algorithm=$a --json=$a.json ok.c && json_is $a.json "d['algorithm'] == '$a'" &&
            json_is $a.json "d['verdict'] == 'verified' and d['executions'] >= 2" &&
            run 1 mazurka check --algorithm=$a -q lost.c || return 1
    done
    run 0 mazurka check --algorithm=none --no-sleep-sets ok.c && run 0 mazurka check --algorithm=dpor --no-sleep-sets ok.c
}

test_assertion() {
    programs
    run 1 mazurka check lost.c && first_line out "error: assertion failed: queue.head == -2, at lost.c:20 in thread 0 (main)" &&
        has out "assert(queue.head == -2);" && has out "load queue.head: 0" && has out "store queue.head: -1" &&
        has out "store queue.tail[1]: 4000000000" && has out "lost.c:8" && has out "Replayed: same outcome" &&
        has out "mazurka replay mazurka-lost-1.trace" && has out "stopped at the first error" &&
        has out "0.1 (worker)  finished" && no_wide_lines out && [ -f mazurka-lost-1.trace ] && empty err
}

test_race() {
    programs
    run 1 mazurka check race.c && first_line out "error: data race on counter, at race.c:3 in thread 0." &&
        has out "before that, thread 0." && has out "bump, race.c:3" && has out "worker, race.c:6" &&
        has out "<- race" && has out "Replayed: same outcome" && no_wide_lines out &&
        [ "$(grep -c '<- race' out)" -eq 2 ] || complain "not two accesses marked"
}

test_deadlock() {
    programs
    run 1 mazurka check abba.c && first_line out "error: deadlock: threads 0.1 and 0.2 wait for each other, at abba.c:" &&
        has out "waits for mutex b, held by 0.2, abba.c:6" && has out "waits for mutex a, held by 0.1, abba.c:14" &&
        has out "waits for thread 0.1 to end" && has out "lock b: waits" && no_wide_lines out
}

test_crash() {
    programs
    run 1 mazurka check crash.c && first_line out "error: crash: " && has out "SIGSEGV" && has out "crash.c:" &&
        has out "load shared: NULL" && has out "Replayed: same outcome" && run 1 mazurka replay mazurka-crash-1.trace
}

test_process_ends_itself() {
    program end.c
    run 1 mazurka check end.c && first_line out "error: the program ended with exit status 7" &&
        has out "rmw n: 1 -> 2" &&
        has out "Replayed: same outcome" && run 1 mazurka replay mazurka-end-1.trace
}

test_exit_code() {
    programs
    run 1 mazurka check exitcode.c && first_line out "error: the program ended with exit status 3" && has out "exit 3"
}

test_vacuous() {
    programs
    run 4 mazurka check single.c && first_line out "vacuous: NOTHING WAS CHECKED" && has out "second thread" || return 1
    # linked with the library, but no file is compiled for checking
    cc -c -o plain.o ok.c && run 0 mazurka cc -o plain plain.o && run 4 mazurka check ./plain &&
        first_line out "vacuous: " && has out "mazurka cc" && run 4 mazurka check --json ./plain && json_valid out &&
        json_is out "d['verdict'] == 'vacuous'"
}

test_unsupported_call() {
    program fork.c
    refuses "fork" mazurka check fork.c && has err "fork.c:8" && run 2 mazurka check --json fork.c && json_valid out &&
        json_is out "d['verdict'] == 'failed'"
}

# A constructor that fails: one line with the place, not an error of an interleaving.
test_before_main() {
    programs
    cat > early.c << 'END'
#include <assert.h>
#include <stdlib.h>
static int x;
__attribute__((constructor)) static void early(void) { FAIL; }
int main(void) { return x; }
END
    run 2 mazurka check '-DFAIL=assert(x==1)' early.c && has err "early cannot start: assertion failed: x==1, before main, at early.c:4" &&
        mazurka cc '-DFAIL=assert(x==1)' early.c -o early && run 2 ./early && has err "assertion failed: x==1, before main" &&
        run 2 mazurka check '-DFAIL=abort()' early.c && has err "abort() was called, before main" &&
        run 2 mazurka check '-DFAIL=exit(3)' early.c && has err "early ended before main (exit status 3)"
}

test_keep_going() {
    program two.c
    run 1 mazurka check --json=one.json two.c && run 1 mazurka check --keep-going --json=all.json two.c &&
        json_is one.json "len(d['errors']) == 1" && json_is all.json "len(d['errors']) >= 2" && json_is all.json "d['complete']" &&
        json_is all.json "len({e['trace'] for e in d['errors']}) == len(d['errors'])" && no_wide_lines out
}

# Deadlocks differ by the threads that hold the locks: one worker and four workers find the same set. If there are more
# errors than there is room for, the report says so.
test_different_errors() {
    program circle.c
    for jobs in 1 4; do
        MAZURKA_SHARE_AT_ONCE=1 run 1 mazurka check -q --keep-going -j $jobs --json=$jobs.json circle.c || return 1
    done
    python3 - << 'END' || { complain "other deadlocks with workers"; return 1; }
import json
def of(name):
    return sorted([(t["thread"], t["state"], t["object"], t["holder"]) for t in e["threads"]].__str__()
                  for e in json.load(open(name))["errors"])
raise SystemExit(of("1.json") != of("4.json") or len(of("1.json")) < 2)
END
    {
        echo '#include <assert.h>'
        echo '#include <pthread.h>'
        echo '#include <stdatomic.h>'
        echo 'static atomic_int x;'
        echo 'static void *t(void *a) { for (int i = 0; i < 260; i++) x++; return a; }'
        echo 'int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); int v = x; switch (v) {'
        for i in $(seq 0 259); do echo "case $i: assert(v != $i); break;"; done
        echo '} pthread_join(a, 0); return 0; }'
    } > many.c
    run 1 mazurka check --keep-going --json=j many.c && has out "more than 256 different errors" && hasnt out "NOT reproduced" &&
        json_is j "len(d['errors']) == 256 and d['more_errors']"
}

test_input_again() {
    program input.c
    echo 42 > numbers
    run 0 sh -c "mazurka check input.c < numbers" && first_line out "verified: " && has out "2 executions"
}

# Each process that runs the program reads standard input from the offset that it had when mazurka started.
test_input() {
    program in.c
    printf 'first\nsecond\n' > text
    for jobs in 1 2; do
        { read -r _; mazurka check -q -j $jobs -DSUM=9 in.c; } < text > out 2> err
        first_line out "verified" || return 1
        { read -r _; mazurka check -j $jobs -DSUM=8 in.c; } < text > out 2> err
        first_line out "error: assertion failed: n == SUM" && has out "same outcome" || return 1
    done
}

test_library_with_thread_local() {
    program plug.c
    program load.c
    run 0 mazurka cc -shared -fPIC -o plug.so plug.c && run 0 mazurka check load.c &&
        first_line out "verified: " && has out "2 executions"
}

# Both ways to compare states find the same number of states.
test_state_match() {
    for how in hash exact; do
        run 0 mazurka check -q -O0 --algorithm=stateful --state-match=$how --json=$how "$root/tests/programs/state_below_stack.c" || return 1
    done
    json_is hash "d['states'] == $(sed -n 's/^ *"states": \([0-9]*\),$/\1/p' exact) and d['states'] > 100"
}

# MAZURKA_CHECK_FORESEEN checks that each event has the access that the wakeup tree foresaw. Here it has not: the program
# depends on the processor's counter.
test_foreseen_access_is_checked() {
    program ticks.c
    for i in 1 2 3 4 5 6 7 8; do # by chance the program may do the same twice
        MAZURKA_CHECK_FORESEEN=1 mazurka check ticks.c > out 2> err < /dev/null
        ! grep -q "internal error: .*access that the wakeup tree foresaw" err || return 0
    done
    complain "nothing was noticed: $(head -n 1 out) $(head -n 1 err)"
}

test_endless_local_loop() {
    program loop.c
    # An endless loop is an error, however long it takes to find out. A loop that ends some day reaches the time limit.
    run 1 mazurka check --time-limit=300 loop.c && first_line out "error: livelock" || return 1
    sed 's/while (k)/while (k += 2)/; s/int k/long k/' loop.c > count.c
    run 3 mazurka check --time-limit=0.5 count.c && first_line out "incomplete: " && has out "time limit"
}

run_tests "$@"
