#!/bin/sh
# Limits: steps, executions, time, memory, and limits of the system.
#   sh tests/cli/limits.sh [TEST...]
# shellcheck disable=SC2154
. "$(dirname "$0")/common.sh"

test_step_limit() {
    programs
    run 3 mazurka check --max-steps=500 spin.c && first_line out "incomplete: " && has out "3 rounds" &&
        has out "thread 0.1, spin.c:6" &&
        run 3 mazurka check --max-steps=20 --algorithm=stateful long.c && has out "20 steps"
}

# Loops that need not end: if the algorithm is ours to choose, a stateful search decides. With an algorithm, the bound is told.
test_retry_loops() {
    scoped=$root/tests/programs/retry_scoped_lock.cpp
    run 0 mazurka check --json=j "$scoped" && has out "s-por, which knows states, has decided" &&
        json_is j "d['algorithm'] == 's-por' and d['verdict'] == 'verified' and d['seconds'] < 20" &&
        run 3 mazurka check --algorithm=optimal --json=j "$scoped" && has out "3 rounds only" &&
        json_is j "d['executions'] < 1000 and d['max_depth'] < 1000" && run 1 mazurka check -DBROKEN "$scoped" &&
        run 0 mazurka check -j 2 "$scoped" && has out "s-por" && run 3 mazurka check --checkpoint=c "$scoped"
}

test_execution_limit() {
    programs
    run 3 mazurka check --max-executions=50 long.c && first_line out "incomplete: " && has out "50 executions" &&
        has out "Search: not complete"
}

test_time_limit() {
    programs
    run 3 mazurka check --time-limit=0.3 long.c && first_line out "incomplete: " && has out "time limit of 0.3 s"
}

# The time limit holds within one long execution, with workers, and for a run that continues from a checkpoint. The delay is
# about a second, times the slowness of the machine: less than the two seconds that an interrupted program gets.
test_time_limit_exact() { one_of_three time_limit_exact; }

time_limit_exact() {
    rm -f c j first
    slow=$(slowness)
    program slow.c
    run 3 mazurka check --time-limit=0.3 --json=j slow.c && json_is j "0.3 <= d['seconds'] < 0.3 + $slow" &&
        run 3 mazurka check -j 2 --time-limit=0.3 --json=j slow.c && json_is j "0.3 <= d['seconds'] < 0.3 + $slow" &&
        run 3 mazurka check --time-limit=0.3 --checkpoint=c --json=j $endless &&
        json_is j "0.3 <= d['seconds'] < 0.3 + 1.2 * $slow and 0 < d['share'] < 1" && cp j first &&
        run 3 mazurka check --time-limit=$slow.4 --resume=c --json=j $endless &&
        json_is j "$slow.4 <= d['seconds'] < 0.4 + 2.2 * $slow and d['executions'] > $(executions first)"
}

# The workers have given back their parts for a checkpoint, but take long to exit (they have very many pages of memory):
# they are killed, and the search is not complete.
test_time_limit_slow_end() {
    program slow_to_leave.c slow.c
    cat "$programs/long_search.c" >> slow.c
    # The time until main starts depends on the machine: the limit is three times that time, plus 3 s.
    run 0 mazurka cc -o slow slow.c && began=$(date +%s) && run 3 mazurka check --max-executions=1 ./slow &&
        limit=$((3 * ($(date +%s) - began) + 3)) &&
        run 3 mazurka check -j 2 --time-limit=$limit --checkpoint=c ./slow && first_line out "incomplete: " && [ -s c ] &&
        run 2 mazurka check --time-limit=0.01 ./slow && has err "time limit of 0.01 s was reached before main"
}

# When memory is short, optimal continues as source with the same executions, stateful searches forget states or stop, and
# a search with workers starts over.
test_memory_limit() {
    programs
    lastzero=$root/tests/papers/lastzero.c
    run 0 mazurka check --memory-limit=25K --json=j -DN=9 "$lastzero" &&
        has out "memory limit made it go on with \`source\` after" &&
        json_is j "d['executions'] == 1536 and d['blocked'] > 0 and 0 < d['fell_back_after'] < 1536" &&
        run 0 mazurka check --memory-limit=50K --json=j -DN=9 "$lastzero" &&
        json_is j "d['executions'] == 1536 and d['blocked'] == 0 and 'fell_back_after' not in d" &&
        run 3 mazurka check --memory-limit=1K -DN=9 "$lastzero" && has out "memory limit" &&
        run 3 mazurka check --memory-limit=1K -j 2 -DN=9 "$lastzero" && has out "memory limit" &&
        run 0 mazurka check --memory-limit=50K -j 3 --json=j -DN=12 "$lastzero" && has out "it started over" &&
        json_is j "d['executions'] == 15360" &&
        run 1 mazurka check --memory-limit=10K -q lost.c &&
        run 0 mazurka check --algorithm=sdpor --memory-limit=90K --json=j -DN=6 "$lastzero" &&
        has out "made it forget states" && json_is j "0 < d['forgot_after'] < d['states']" &&
        run 3 mazurka check --algorithm=dl-s-por --memory-limit=90K -DN=6 "$lastzero" && has out "memory limit" &&
        run 3 mazurka check --algorithm=source --memory-limit=1K -DN=6 "$lastzero" && has out "memory limit" &&
        run 3 mazurka check --memory-limit=32M --checkpoint=c --json=j -DN=20 "$root/tests/papers/readers.c" &&
        has out "To go on from here" && json_is j "d['peak_memory_bytes'] < 40 << 20 and d['executions'] > 4000"
}

# If a worker has not reached main when the time is up, the findings of the other workers are still reported. For a program
# that cannot start there is one line, not one for each worker.
test_before_main() {
    program late.c
    cat "$programs/long_search.c" >> late.c
    run 0 mazurka cc -o late late.c && run 3 mazurka check -j 2 --time-limit=5 ./late &&
        first_line out "incomplete: " && empty err && run 0 mazurka cc -DBROKEN -o broken late.c || return 1
    for j in 1 2 4; do
        refuses "ended before main (exit status 3)" mazurka check -j $j ./broken || return 1
    done
}

# With too few descriptors: fewer workers, or one clear message. Which limit is too low depends on
# the descriptors that the caller of the tests has open, so try all limits from the lowest with which the command starts.
test_few_descriptors() {
    run 0 mazurka cc -DN=12 -o lz "$root/tests/papers/lastzero.c" || return 1
    command -v prlimit > /dev/null 2>&1 || return 0
    for jobs in 1 4; do
        n=3
        until prlimit --nofile=$n "$mazurka" --version > /dev/null 2>&1 < /dev/null; do
            n=$((n + 1))
            [ $n -lt 200 ] || { complain "does not start with 200 descriptors"; return 1; }
        done
        refused=0
        until prlimit --nofile=$n "$mazurka" check -q -j $jobs ./lz > out 2> err < /dev/null; do
            status=$?
            [ $status = 2 ] || { complain "status $status with $n descriptors: $(cat out err)"; return 1; }
            [ "$(grep -c "^mazurka: [^n]" err)" = 1 ] && has err "ulimit -n" || return 1
            [ "$(grep -c "^mazurka: note" err)" -le 1 ] || { complain "notes: $(cat err)"; return 1; }
            refused=$((refused + 1))
            n=$((n + 1))
            [ $n -lt 200 ] || { complain "200 descriptors are not enough"; return 1; }
        done
        [ $refused -gt 0 ] || { complain "was never refused"; return 1; }
        for n in $n $((n + 1)) $((n + 2)) $((n + 4)); do
            run 0 prlimit --nofile=$n "$mazurka" check -q -j $jobs ./lz && has out "15360 executions" || return 1
        done
    done
    no_leftovers
}

# mazurka reserves far more addresses than it uses: under a limit of addresses (ulimit -v) it says which limit to raise.
test_few_addresses() {
    programs
    command -v prlimit > /dev/null 2>&1 || return 0
    run 1 mazurka check -q lost.c || return 1
    for jobs in 1 2; do
        refuses "raise it (ulimit -v" prlimit --as=400000000 "$mazurka" check -j $jobs ok.c &&
            refuses "raise it (ulimit -v" prlimit --as=400000000 "$mazurka" check -j $jobs --resume=/dev/zero ok.c || return 1
    done
    refuses "raise it (ulimit -v" prlimit --as=400000000 "$mazurka" replay mazurka-lost-1.trace
}

test_few_processes() {
    as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups prlimit"
    $as_nobody --nproc=9 true 2> /dev/null || return 0
    run 0 mazurka cc -DN=14 -o lz "$root/tests/papers/lastzero.c" &&
        run 0 mazurka cc -o ts "$root/tests/programs/thread_storage.c" || return 1
    chmod -R a+rwx "$work" && chmod a+rx .
    for n in 2 4; do # a thread with thread-local storage needs a real thread for a moment
        HOME=$TMPDIR $as_nobody --nproc=$n "$mazurka" check -q ./ts > out 2> err < /dev/null
        case "$n $?" in
        "2 2") has err "ulimit -u" || return 1 ;;
        "4 0") has out "2 executions" || return 1 ;;
        *) complain "status $? with $n processes: $(cat out err)"; return 1 ;;
        esac
    done
    for n in 1 2 4 5 80; do
        HOME=$TMPDIR $as_nobody --nproc=$n "$mazurka" check -q -j 3 ./lz > out 2> err < /dev/null
        case "$n $?" in
        "2 0" | "4 0" | "5 0" | "80 0") has out "69632 executions" || return 1 ;;
        "1 2" | "2 2" | "4 2") has err "ulimit -u" || return 1 ;;
        *) complain "status $? with $n processes: $(cat out err)"; return 1 ;;
        esac
    done
    rm -rf "$TMPDIR/.cache"
    chmod -R go-w "$work" # a directory that others can write to is not trusted
}

# If the stack limit is too small, mazurka raises it, or refuses in one line.
test_small_stack() {
    programs
    # shellcheck disable=SC3045 # dash and bash have these options
    (ulimit -S -s 64 && run 1 mazurka check lost.c) || return 1
    # shellcheck disable=SC3045
    (ulimit -s 64 && mazurka check ok.c > out 2> err) || has err "ulimit -s"
}

run_tests "$@"
