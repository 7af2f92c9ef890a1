#!/bin/sh
# Signals and killed processes.
#   sh tests/cli/signals.sh [TEST...]
# shellcheck disable=SC2154
. "$(dirname "$0")/common.sh"

test_interrupt() {
    programs
    run 3 mazurka check --max-executions=1 long.c || return 1 # from now on the program is in the cache
    for signal in INT TERM; do
        rm -f err
        mazurka check --progress=json long.c > out 2> err &
        pid=$!
        wait_until searching err
        kill -$signal $pid
        wait $pid
        status=$?
        [ $status -eq 3 ] || { complain "status $status after SIG$signal"; return 1; }
        first_line out "incomplete: " && has out "interrupted" || return 1
    done
}

interrupts() { # SIGNAL PID STATUS: send the signal when the compiler has begun; no process and no file of it is left
    wait_until [ -e begun ]
    kill "-$1" "$2"
    wait "$2" 2> /dev/null
    status=$?
    [ $status -eq "$3" ] || { complain "$how: status $status"; return 1; }
    [ -z "$(pgrep -f 'sleep 623\.5177')" ] || { complain "$how: the compiler still runs"; return 1; }
    left=$(ls "$TMPDIR")
    [ -z "$left" ] || complain "$how: left behind: $left"
    rm -f begun
}

# A signal also ends the compiler: when it prints its version, preprocesses, compiles, or ignores signals.
test_interrupt_compiling() {
    programs
    cat > slow-cc << 'END'
#!/bin/sh
case " $* " in
*" $SLOW_AT "*)
    [ -z "$STUBBORN" ] || trap '' INT TERM
    : > begun
    sleep 623.5177
    ;;
esac
exec cc "$@"
END
    chmod +x slow-cc
    export MAZURKA_CC="$PWD/slow-cc" SLOW_AT STUBBORN
    for how in 'TERM --version' 'TERM -dM' 'TERM -Werror' 'none none' 'INT -E' 'TERM -o' 'TERM -E stubborn' 'cc -o'; do
        # shellcheck disable=SC2086
        set -- $how
        SLOW_AT=$2 STUBBORN=$3 began=$(date +%s)
        case $1 in
        none) run 3 mazurka check --max-executions=1 -DX long.c || return 1; continue ;; # from now on mazurka knows the compiler
        cc) mazurka cc -o long long.c > out 2> err < /dev/null & interrupts TERM $! 143 && empty err || return 1 ;;
        *)
            mazurka check --json=j long.c > out 2> err < /dev/null &
            interrupts "$1" $! 2 || return 1
            printf 'mazurka: interrupted while compiling\n' | cmp -s - err || { complain "$how: $(cat err)"; return 1; }
            empty out && has j '"verdict": "failed"' && has j 'interrupted while compiling' || return 1
            ;;
        esac
        [ $(($(date +%s) - began)) -lt 120 ] || complain "$how: it took $(($(date +%s) - began)) s"
    done
    unset MAZURKA_CC SLOW_AT STUBBORN
}

test_jobs_interrupted() {
    programs
    run 3 mazurka check --max-executions=1 long.c || return 1
    rm -f err
    mazurka check -j 2 --progress=json long.c > out 2> err &
    pid=$!
    wait_until searching err
    kill -INT $pid
    wait $pid
    status=$?
    [ $status -eq 3 ] || { complain "status $status"; return 1; }
    first_line out "incomplete: " && has out "interrupted" || return 1
    [ -z "$(ps -o pid= --ppid $pid 2> /dev/null)" ] || complain "workers still run"
}

# Under nohup, the command ignores SIGHUP.
test_hangup() {
    programs
    for how in nohup env; do
        rm -f err
        $how mazurka check --progress=json --time-limit=5 long.c > out 2> err < /dev/null &
        pid=$!
        wait_until searching err || return 1
        kill -HUP $pid
        wait $pid
        ended_with 3 $? || return 1
        case $how in nohup) has out "time limit" ;; *) has out "interrupted" ;; esac || return 1
    done
}

# Every signal that would end the command ends the search and its processes, and there is a report.
test_every_signal() {
    { echo '#include <pthread.h>' && cat "$programs/long_search.c"; } > long.c
    run 3 mazurka check -q --max-executions=1 long.c || return 1
    for signal in USR1 USR2 ALRM VTALRM PROF XCPU IO PWR 40; do
        for jobs in 1 2; do
            rm -f err
            mazurka check -j$jobs -q --verbose --progress=json long.c > out 2> err &
            wait_until searching err
            kill -$signal $!
            wait $!
            [ $? -eq 3 ] && first_line out "incomplete: " || { complain "signal $signal, -j$jobs: $(head -n 1 out err)"; return 1; }
        done
    done
    printf '#!/bin/sh\ntouch begun\nexec sleep 600\n' > slow.sh && chmod +x slow.sh
    MAZURKA_CC=./slow.sh mazurka check -q long.c > out 2> err &
    wait_until [ -e begun ]
    kill -USR1 $!
    wait $!
    [ $? -eq 2 ] && has err "interrupted" && no_leftovers
}

# A signal to the whole process group, as from a terminal, also reaches a target that is just being started.
test_signal_at_the_start() {
    command -v setsid > /dev/null 2>&1 || return 0
    run 0 mazurka cc -o lz $endless || return 1
    for i in 0 1 2 3 4 5 6 7 8 9; do
        for j in 1 2 2 8; do
            setsid mazurka check -q -j $j ./lz > out 2> err < /dev/null &
            sleep 0.00$i
            until kill -TERM -$! 2> /dev/null; do :; done # fails as long as the group does not exist
            wait $! 2> /dev/null
            case $? in
            2) has err "interrupted before it started" || return 1 ;;
            3) empty err || return 1 ;;
            143) ;;
            *) complain "status $?: $(cat out err)"; return 1 ;;
            esac
        done
    done
}

test_killed_command_takes_target_along() {
    programs
    run 3 mazurka check --max-executions=1 long.c || return 1
    rm -f err
    mazurka check -q --progress=json long.c > out 2> err &
    pid=$!
    wait_until searching err
    child=$(ps -o pid= --ppid $pid 2> /dev/null | tr -d ' ')
    kill -KILL $pid
    wait $pid 2> /dev/null
    [ -z "$child" ] || wait_until is_gone "$child"
}

# If the only worker is killed from outside, no error is reported.
test_killed_from_outside() {
    mazurka check --json=1.json $endless > out 2> err &
    pid=$!
    for _ in $(seq 600); do
        for child in $(cat /proc/$pid/task/$pid/children); do # before the target starts, a child may be the compiler
            case $(cat "/proc/$child/comm" 2> /dev/null) in program-*) kill -9 "$child" && break 2 ;; esac
        done
        sleep 0.2
    done
    wait $pid
    ended_with 3 $? || return 1
    first_line out "incomplete: " && has out "killed from outside" && json_is 1.json "d['errors'] == []"
}

run_tests "$@"
