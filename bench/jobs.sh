#!/bin/sh
# Speed-up of `-j N` and of as many ranks of MPI: the benchmarks of the papers with one worker and with several, in one
# run, in turn.
#
#   sh bench/jobs.sh [JOBS]           default: 2
#
# Of each the fastest of REPEAT runs counts (default 3; 1 if it takes longer than 20 s); seconds are those of the search.
# "processor" is the processor time of all processes with several workers, in that of one; "idle" the share of their time in
# which workers had nothing to do. "at once" is what the machine itself gives in the same run: how much N searches with one
# worker each, that have nothing to do with each other, do at the same time, in what one does alone. Processors that share
# caches or a core, or that a hypervisor gives to others, too, do not reach N. With MPI only the speed-up is shown, for each
# implementation that is there.
# LONG=1: also bbuf with condition variables (10,020,672 executions). ONLY=filesystem: only that one.
cd "$(dirname "$0")/.." || exit 2
jobs=${1:-2}
json=build/bench-jobs.json
mkdir -p build
rows='-DN=16 indexer
-DN=26 filesystem
-DN=15 lastzero
-DFIFO bbuf'
[ -z "$LONG" ] || rows="$rows
-DSIZE=2 bbuf"
[ -z "$ONLY" ] || rows=$(echo "$rows" | grep "$ONLY")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpis=
for mpi in mpich openmpi; do
    if command -v mpirun.$mpi >/dev/null && [ -f build/libmazurka-$mpi.so ]; then mpis="$mpis $mpi"; fi
done

value() { grep -o "\"$1\" *: *[0-9.eE+-]*" "${2:-$json}" | head -n 1 | sed 's/^[^:]*: *//'; }

# One run; sets now (seconds), cpu (of all processes), executions, idle, tasks, redundant.
run() { # jobs|MPI, flags, program
    before=$(awk '{ print $16 + $17 }' /proc/$$/stat)
    case $1 in
    mpich) how="mpirun.mpich -n $jobs" ;;
    openmpi) how="mpirun.openmpi -q --oversubscribe -n $jobs" ;;
    *) how="env MAZURKA_OPTIONS=--jobs=$1" ;;
    esac
    # shellcheck disable=SC2086
    $how "${MAZURKA:-./mazurka}" check -q --progress=never --json="$json" $2 "tests/papers/$3.c" </dev/null >build/bench.out 2>&1 ||
        { echo "bench: $3 $2 $how: $(head -n 1 build/bench.out)" >&2; exit 1; }
    cpu=$(awk -v b="$before" '{ print ($16 + $17 - b) / 100 }' /proc/$$/stat)
    now=$(value seconds) executions=$(value executions) idle=$(value idle) tasks=$(value tasks) redundant=$(value redundant)
    [ "$executions" = "${alone:=$executions}" ] || { echo "bench: $3: $executions executions instead of $alone" >&2; exit 1; }
}

# As many searches as jobs at once, with one worker each; sets now, the seconds of the slowest.
run_at_once() { # flags, program
    running=''
    for n in $(seq "$jobs"); do
        # shellcheck disable=SC2086
        "${MAZURKA:-./mazurka}" check -q --progress=never --jobs=1 --json="$json.$n" $1 "tests/papers/$2.c" </dev/null >/dev/null 2>&1 &
        running="$running $!"
    done
    for pid in $running; do wait "$pid" || { echo "bench: $2 $1 at once: failed" >&2; exit 1; }; done
    now=0
    for n in $(seq "$jobs"); do
        one_of=$(value seconds "$json.$n")
        if smaller "$now" "$one_of"; then now=$one_of; fi
        rm -f "$json.$n"
    done
}

smaller() { awk "BEGIN { exit !(\"$2\" == \"\" || $1 < ${2:-0}) }"; }

printf '%-18s %10s %8s %8s %8s %9s %6s %5s %9s %9s' program executions '-j 1 s' "-j $jobs s" speed-up processor idle tasks redundant 'at once'
# shellcheck disable=SC2086
[ -z "$mpis" ] || printf ' %8s' $mpis
echo
while read -r flags program; do
    one='' many='' together='' one_cpu='' many_cpu='' with_mpich='' with_openmpi='' alone='' i=0
    while [ $i -lt "${REPEAT:-3}" ]; do
        i=$((i + 1))
        run 1 "$flags" "$program"
        if smaller "$now" "$one"; then one=$now; fi
        if smaller "$cpu" "$one_cpu"; then one_cpu=$cpu; fi
        if awk "BEGIN { exit !($now > 20) }"; then i=1000000; fi
        run_at_once "$flags" "$program"
        if smaller "$now" "$together"; then together=$now; fi
        run "$jobs" "$flags" "$program"
        if smaller "$now" "$many"; then many=$now many_idle=$idle many_tasks=$tasks many_redundant=$redundant; fi
        if smaller "$cpu" "$many_cpu"; then many_cpu=$cpu; fi
        for mpi in $mpis; do
            run $mpi "$flags" "$program"
            eval "if smaller $now \"\$with_$mpi\"; then with_$mpi=$now; fi"
        done
    done
    awk -v p="$program $flags" -v e="$alone" -v a="$one" -v b="$many" -v ca="$one_cpu" -v cb="$many_cpu" -v idle="$many_idle" \
        -v t="$many_tasks" -v r="$many_redundant" -v j="$jobs" -v s="$together" -v m="$with_mpich" -v o="$with_openmpi" 'BEGIN {
        printf "%-18s %10d %8.3f %8.3f %8.2f %9.2f %5.1f%% %5d %9d %9.2f", p, e, a, b, a / b, cb / ca, 100 * idle, t, r,
            j * a / s
        if (m) printf " %8.2f", a / m
        if (o) printf " %8.2f", a / o
        print "" }'
done <<END
$rows
END
