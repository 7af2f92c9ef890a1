#!/bin/sh
# Speed-up of `-j N`: the benchmarks of the papers with one worker and with several, in one run, in turn.
#
#   sh bench/jobs.sh [JOBS]           default: 2
#
# Of each the fastest of REPEAT runs counts (default 3; 1 if it takes longer than 20 s). "processor" is the
# processor time of all processes with several workers, in that of one; "idle" the share of their time in which
# workers had nothing to do: on a machine that has other things to do, too, these predict the speed-up,
# jobs * (1 - idle) / processor. LONG=1: also bbuf with condition variables (10,020,672 executions).
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

value() { grep -o "\"$1\" *: *[0-9.eE+-]*" "$json" | head -n 1 | sed 's/^[^:]*: *//'; }

# One run; sets now (seconds), cpu (of all processes), executions, idle, tasks, redundant.
run() { # jobs, flags, program
    before=$(awk '{ print $16 + $17 }' /proc/$$/stat)
    # shellcheck disable=SC2086
    "${MAZURKA:-./mazurka}" check -j "$1" -q --progress=never --json="$json" $2 "tests/papers/$3.c" >build/bench.out 2>&1 ||
        { echo "bench: $3 $2 -j $1: $(head -n 1 build/bench.out)" >&2; exit 1; }
    cpu=$(awk -v b="$before" '{ print ($16 + $17 - b) / 100 }' /proc/$$/stat)
    now=$(value seconds) executions=$(value executions) idle=$(value idle) tasks=$(value tasks) redundant=$(value redundant)
}

smaller() { awk "BEGIN { exit !(\"$2\" == \"\" || $1 < ${2:-0}) }"; }

printf '%-20s %10s %9s %9s %9s %10s %7s %6s %10s %10s\n' program executions '-j 1 s' "-j $jobs s" speed-up processor idle tasks redundant predicted
while read -r flags program; do
    one='' many='' one_cpu='' many_cpu='' i=0
    while [ $i -lt "${REPEAT:-3}" ]; do
        i=$((i + 1))
        run 1 "$flags" "$program"
        alone=$executions
        if smaller "$now" "$one"; then one=$now; fi
        if smaller "$cpu" "$one_cpu"; then one_cpu=$cpu; fi
        if awk "BEGIN { exit !($now > 20) }"; then i=100; fi
        run "$jobs" "$flags" "$program"
        [ "$executions" = "$alone" ] || { echo "bench: $program: $executions executions instead of $alone" >&2; exit 1; }
        if smaller "$now" "$many"; then many=$now many_idle=$idle many_tasks=$tasks many_redundant=$redundant; fi
        if smaller "$cpu" "$many_cpu"; then many_cpu=$cpu; fi
    done
    awk -v p="$program $flags" -v e="$alone" -v a="$one" -v b="$many" -v ca="$one_cpu" -v cb="$many_cpu" -v idle="$many_idle" \
        -v t="$many_tasks" -v r="$many_redundant" -v j="$jobs" 'BEGIN {
        printf "%-20s %10d %9.3f %9.3f %9.2f %10.2f %6.1f%% %6d %10d %10.2f\n", p, e, a, b, a / b, cb / ca, 100 * idle, t, r,
            j * (1 - idle) / (cb / ca) }'
done <<END
$rows
END
